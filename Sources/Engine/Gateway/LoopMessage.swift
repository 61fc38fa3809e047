package import Relay

/// What other threads tell a loop.
package enum LoopMessage: Sendable {
  case log(LogDelivery)
  case connectBot(any BotEnd)
  case fromBot(any BotEnd, [UInt8])
  case botDrained(any BotEnd)
  case botGone(any BotEnd)
  /// What came of the canary, for those here who wait for it: exchanges by place and serial number.
  case canary(Canary.Outcome, [Canary.Waiter])
  /// A picture, or that there is none, for an exchange by place and serial number.
  case picture(Picture?, connection: Int, exchange: UInt64)
  /// Counts are gathered; this loop is to add its own.
  case countsWanted(MetricsGathering)
  /// All have.
  case countsGathered(MetricsGathering)
  case people(DirectoryUpdate)
  /// These users are not to be here any more.
  case ban(Set<String>)
  /// Serve no one new, finish what was accepted, and end.
  case shutDown
}
