package import Accounts
package import Relay
package import Wire

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
  /// Asks the loop to add its part.
  case surveyed(any LoopSurvey)
  /// All loops have added theirs.
  case surveyEnded(any LoopSurvey)
  case people(DirectoryUpdate)
  /// The result of `LoopWorld.verify`.
  case verified(Result<Identity, WireError>, VerificationAsker)
  /// The answer to a request of `LoopWorld.ask`.
  case account(AccountAnswer, ExchangeID)
  /// The answer to a request of `LoopWorld.keep`.
  case files(FileWorkResult, FileWorker)
  /// A device's session has ended.
  case deviceEnded(DeviceEnding)
  /// Disconnects these users.
  case ban(Set<String>)
  /// Disconnects the sessions whose token is no longer accepted.
  case tokenRule(TokenRule)
  /// Stop accepting connections, finish what was accepted, and end. `isTakenOver`: another process accepts them.
  case shutDown(isTakenOver: Bool)
}

/// What waits for the verification of a token.
package enum VerificationAsker: Sendable {
  /// A WebSocket.
  case session(SessionID, stream: Int)
  /// A request over HTTP.
  case request(ExchangeID)
}

/// The end of the session of one device, or of all devices of a user.
package struct DeviceEnding: Sendable {
  /// `nil` = all devices.
  package var device: String?
  package var user: String
  /// `forbidden` closes connections with 4403, any other code with 4401.
  package var reason: WireError

  package init(device: String?, user: String, reason: WireError) {
    self.device = device
    self.user = user
    self.reason = reason
  }

  func concerns(_ identity: Identity) -> Bool {
    identity.user == user && identity.device != nil && (device == nil || device == identity.device)
  }
}
