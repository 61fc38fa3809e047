import Logging
import Wire

/// Sends entries: each until it is acknowledged or refused.
extension Bot {
  enum Outcome: Sendable {
    case sent(ServerMessage.Ack)
    /// Must not be sent again unchanged.
    case refused
    /// The bot is shutting down.
    case ended
  }

  /// Sends an entry, again with the same id after a lost connection or a "later". To keep two
  /// entries in order, await the first.
  func post(_ send: ClientMessage.Send) async -> Outcome {
    let message = ClientMessage.send(send)
    let length = message.json.count
    while await isOnline() {
      guard limits.frameBytes == 0 || length <= limits.frameBytes else {
        // The relay would close the connection each time.
        warn("A message of a bot is too large for the relay.", ["bytes": "\(length)"])
        return .refused
      }
      guard (try? await waitWhileHeld()) != nil else { return .ended }
      switch await reply(to: message, as: .send(room: send.room, id: send.id)) {
      case .ack(let ack): return .sent(ack)
      case .refused(let error) where error.code == .unavailable:
        let delay = Duration.milliseconds(error.retryAfterMilliseconds ?? 1000)
        heldUntil = max(heldUntil, time.now + delay)
      case .refused(let error):
        warn(
          "The relay refused a message of a bot.",
          [
            "room": "\(send.room)", "code": "\(error.code.rawValue)",
            "reason": "\(error.message)",
          ])
        return .refused
      case .joined, .history, .cut: continue
      }
    }
    return .ended
  }

  private func waitWhileHeld() async throws {
    while heldUntil > time.now { try await time.sleep(heldUntil - time.now) }
  }
}
