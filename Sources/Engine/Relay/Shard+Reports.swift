import Wire

/// What a shard tells the operator's log about sessions.
extension Shard {
  /// Reports that a session is authenticated.
  /// - Parameter name: of the session in `welcome`.
  func reportSignIn(_ session: Slot<Session>, _ name: String, _ now: Moment) {
    let connection = sessions[session].connection
    let user = LogField("user", sessions[session].user)
    guard sessions[session].isPresence else {
      return diagnostics.debug(connection, "A request is authenticated.", [user])
    }
    diagnostics.info(
      .signIn, connection, now: now, "A user signed in.", [user, LogField("session", name)])
  }

  /// Reports what an operator does.
  func report(_ request: LogRequest, _ session: Slot<Session>, _ now: Moment) {
    guard let act = request.act else { return }
    diagnostics.info(
      .act, sessions[session].connection, now: now, "An operator acts.", act.fields)
  }

  /// Reports what a session is sent.
  func report(_ message: ServerMessage, to session: Slot<Session>) {
    let connection = sessions[session].connection
    guard case .error(let error) = message else {
      return diagnostics.trace(
        connection, "A message is sent.",
        [LogField("type", ServerMessage.place(in: message.json.span)?.type ?? "")])
    }
    let subject = [
      error.type.map { LogField("type", $0) }, error.room.map { LogField("room", $0) },
    ]
    diagnostics.debug(
      connection, "A request is refused.",
      subject.compactMap(\.self) + [
        LogField("code", error.code.rawValue), LogField("reason", error.message),
      ])
  }

  /// The user of a session that makes its user online, and the session's name in `welcome`, which is
  /// kept where a token gave it its rights; `nil` until the session is authenticated.
  public func signedIn(_ id: SessionID) -> (user: String, session: String?)? {
    guard isCurrent(id), sessions[id.slot].isPresence else { return nil }
    return (sessions[id.slot].user, sessions[id.slot].grant?.session)
  }
}
