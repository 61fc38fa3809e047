import Wire

/// Traces of entries; see `LogRequest.Trace`.
extension Shard {
  /// Asks the log for a trace; `takeTraced` returns the answer.
  /// - Parameter identity: of the user who asks; `nil` = an operator.
  public mutating func trace(
    _ entry: LogRequest.Trace.Entry, inRoom room: String, as identity: Identity?,
    ticket: LogRequest.Trace.Ticket
  ) {
    let mayRead =
      identity.map { RoomName.isOpen(room, to: $0.user) && $0.rights.mayRead(room) } ?? true
    log.append(
      .trace(
        LogRequest.Trace(
          ticket: ticket, room: room, entry: entry, user: identity?.user, mayRead: mayRead)))
  }

  /// Returns the answers of the log since the last call.
  public mutating func takeTraced() -> [(ticket: LogRequest.Trace.Ticket, result: TraceResult)] {
    guard !traced.isEmpty else { return [] }
    defer { traced = [] }
    return traced
  }

  /// Returns the fan-out of an entry; `nil` if this loop has not had one: it has no session with
  /// the room, or the entry waits for others.
  public func fanOut(of seq: Int64, inRoom room: String) -> FanOut? {
    fanOuts.find(seq, inRoom: room)
  }

  mutating func noteFanOut(_ slice: Turn.Slice, at began: Int64, sessions: Int) {
    let lagging = rooms[slice.room].subscribers.count - sessions
    fanOuts.append(
      FanOut(
        room: rooms[slice.room].name, firstSeq: slice.firstSeq, lastSeq: slice.lastSeq, at: began,
        sessions: Int32(sessions), lagging: Int32(lagging)))
  }
}
