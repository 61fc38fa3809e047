import Relay
import WebSocket
import Wire

/// `DELETE /v1/connections/{connection}`: an operator ends a connection. Its client comes back only when its
/// user signs in again.
final class EndingExchange: OperatorExchange {
  private let name: String

  init(
    of name: String, _ call: HTTPCall, _ id: ExchangeID, _ loop: ConnectionLoop,
    _ connection: ServerConnection
  ) {
    self.name = name
    super.init(call, id, loop, connection)
  }

  override func act(_ content: [UInt8]) {
    loop.survey(for: id) { [name] loop in
      loop.endSession(named: name)
    } answer: { [id] loop, users in
      guard let user = users.compactMap(\.self).first else {
        let text = "There is no such connection: it has ended, or belongs to another relay."
        return HTTPProblem(404, text, code: .noSuchEntry).response
      }
      (loop.exchange(id) as? Self)?.recordEnd(of: user)
      return nil
    }
  }

  private func recordEnd(of user: String) {
    record("end_connection", user: user, then: HTTPResponse(status: 204))
  }
}

extension ConnectionLoop {
  /// Names a session to operators.
  func name(of session: SessionID) -> String {
    "\(name).\(session.slot.place).\(session.generation)"
  }

  /// Ends the session of a client.
  /// - Returns: its user; `nil` if this loop has no such session.
  fileprivate func endSession(named name: String) -> String? {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == self.name, let place = Int32(parts[1]), place >= 0,
      let generation = UInt32(parts[2])
    else { return nil }
    let session = SessionID(index: place, generation: generation)
    guard let (user, stream) = shard.owner(of: session),
      let connection = connections[Int(stream)], connection.bot == nil
    else { return nil }
    shard.reject(
      session,
      WireError(.unauthorized, "An operator of the relay has ended this connection. Sign in again.")
    )
    return user
  }
}
