import Wire

/// What HTTP requests need of a shard, apart from a session.
extension Shard {
  // MARK: - Long polls

  /// Lets a session poll a room. To be called each time before it reads the room.
  public mutating func beginPolling(_ id: SessionID, _ room: String) {
    if isCurrent(id) { polls.begin(id, room) }
  }

  /// Lets a session that polls wait until `takePolled` names its connection.
  /// - Parameter head: the last entry of the room that the session knows.
  /// - Returns: `false` if there is a later one.
  public mutating func awaitEntry(_ id: SessionID, after head: Int64) -> Bool {
    isCurrent(id) && polls.wait(id, after: head)
  }

  /// Returns the connections whose rooms have new entries.
  public mutating func takePolled() -> [Int32] {
    polls.takeWoken().filter { isCurrent($0) }.map { sessions[$0.slot].connection }
  }

  // MARK: - Traces

  /// Asks the log for a trace; `takeTraced` returns the answer.
  /// - Parameter identity: of the user who asks; `nil` = an operator.
  public mutating func trace(
    _ entry: LogRequest.Trace.Entry, inRoom room: String, as identity: Identity?,
    ticket: LogRequest.Ticket
  ) {
    let mayRead =
      identity.map { RoomName.isOpen(room, to: $0.user) && $0.rights.mayRead(room) } ?? true
    log.append(
      .trace(
        LogRequest.Trace(
          ticket: ticket, room: room, entry: entry, user: identity?.user, mayRead: mayRead)))
  }

  /// Returns the answers of the log since the last call.
  public mutating func takeTraced() -> [(ticket: LogRequest.Ticket, result: TraceResult)] {
    traces.takeAnswers()
  }

  /// Returns the fan-out of an entry; `nil` if this loop has not had one: it has no session with
  /// the room, or the entry waits for others.
  public func fanOut(of seq: Int64, inRoom room: String) -> FanOut? {
    traces.fanOut(of: seq, inRoom: room)
  }

  // MARK: - Operators

  /// Records what an operator has changed over HTTP. Their session is answered `ok` once that is stored.
  public mutating func record(_ act: Act, for id: SessionID, now: Moment) {
    guard isActive(id) else { return }
    actAsOperator(.send, ref: "act", id.slot, now) { .act(act, $0) }
  }

  // MARK: - The directory

  /// Takes a publication of the directory.
  public mutating func update(people update: DirectoryUpdate) {
    people.update(update, in: &self)
  }

  /// Returns the URL of a user's picture in the directory.
  public func avatarURL(of user: String) -> String? { people.profile(of: user)?.avatar }
}
