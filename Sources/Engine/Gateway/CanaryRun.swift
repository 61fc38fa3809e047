import Wire

/// One run of the canary: a session of the relay's own that joins the room, sends an entry, and
/// waits for its ack and for the entry itself. Confined to its loop's thread.
final class CanaryRun {
  /// Unique, because it is used as the id of the entry.
  let id: String
  /// In milliseconds of the loop's clock.
  var deadline: Int64
  private(set) var hasJoined = false
  private(set) var failure: String?
  var hasSent = false
  private var isAcknowledged = false
  private var cameBack = false

  init(id: String, deadline: Int64) {
    self.id = id
    self.deadline = deadline
  }

  var isBack: Bool { isAcknowledged && cameBack }

  var join: [UInt8] { ClientMessage.join(.init(room: Canary.room)).json }
  var send: [UInt8] { ClientMessage.send(.init(room: Canary.room, id: id, text: "canary")).json }

  /// What the run still waits for, as the end of a sentence.
  var missing: String {
    if !hasJoined { return "the log did not answer" }
    return isAcknowledged
      ? "the test entry was not delivered" : "the test entry was not acknowledged"
  }

  func take(_ messages: [InternalMessage]) {
    for message in messages {
      switch message.value {
      case .joined: hasJoined = true
      case .ack(let ack) where ack.id == id: isAcknowledged = true
      case .message(let entry) where entry.id == id: cameBack = true
      case .error(let error): failure = error.message
      default: break
      }
    }
  }
}
