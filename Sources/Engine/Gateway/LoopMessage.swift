package import Relay

/// A message from another thread to a loop.
package enum LoopMessage: Sendable {
  case log(LogDelivery)
  case connectBot(any BotEnd)
  case fromBot(any BotEnd, [UInt8])
  case botDrained(any BotEnd)
  case botGone(any BotEnd)
  /// The result of a canary, for requests of this loop that wait for it.
  case canary(Canary.Outcome, [ExchangeID])
  /// A picture for a request; `nil` if there is none.
  case avatar(Avatar?, ExchangeID)
  /// Asks the loop to add its metrics.
  case countsWanted(MetricsGathering)
  /// All loops have added theirs.
  case countsGathered(MetricsGathering)
  /// Asks the loop to add its fan-out of an entry.
  case fanOutWanted(TraceGathering)
  /// All loops have added theirs.
  case fanOutsGathered(TraceGathering)
  case people(DirectoryUpdate)
  /// Disconnects these users.
  case ban(Set<String>)
  /// Stop accepting connections, finish what was accepted, and end.
  case shutDown
}
