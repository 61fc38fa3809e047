public import Wire

/// A command about another person: a block, a request, a report. The screen and the line mode share it.
public enum PersonCommand: Equatable, Sendable {
  case block, unblock, accept, report

  /// What it asks the relay for.
  public struct Request: Equatable, Sendable {
    public var message: ClientMessage
    /// What is said once it has taken effect: a sentence.
    public var effect: String
    /// What may be refused: "Blocking bo".
    public var attempt: String
  }

  /// Reads the argument.
  /// - Parameters:
  ///   - peer: The other user of the room, if it is a direct one.
  ///   - seq: The message that is reported, unless the argument names another.
  ///   - name: Returns the display name of a user.
  public func request(
    _ argument: String, in room: String, with peer: String?, reporting seq: Int64?,
    name: (String) -> String = { $0 }
  ) throws(RoomCommand.Problem) -> Request {
    var rest = argument[...]
    switch self {
    case .block, .unblock:
      let user: String
      if rest.isEmpty, let peer {
        user = peer
      } else {
        user = try RoomCommand.user(&rest, for: "\(self)")
      }
      guard rest.isEmpty else { throw .init(text: "Write one name: /\(self) \(user).") }
      let isOn = self == .block
      return Request(
        message: .block(user: user, on: isOn),
        effect: "\(name(user)) is \(isOn ? "" : "no longer ")blocked.",
        attempt: "\(isOn ? "Blocking" : "Unblocking") \(name(user))")
    case .accept:
      guard let peer else { throw .init(text: "Only direct conversations are requests.") }
      return Request(
        message: .accept(room: room), effect: "\(name(peer))'s request is accepted.",
        attempt: "Accepting the request")
    case .report:
      var seq = seq
      var words = rest
      if let written = Int64(RoomCommand.word(&words)) { (seq, rest) = (written, words) }
      guard !rest.isEmpty else { throw .init(text: "A reason is missing: write /report spam.") }
      guard let seq else { throw .init(text: "There is no message of another person here.") }
      let readers = peer == nil ? "the moderators of this room" : "the operators of the relay"
      return Request(
        message: .report(room: room, seq: seq, reason: String(rest)),
        effect: "The message was reported to \(readers).", attempt: "The report")
    }
  }
}
