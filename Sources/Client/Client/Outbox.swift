internal import DequeModule
public import Platform
public import Wire

/// The lines to be sent, kept until the relay has acknowledged them.
///
/// Per room, lines are sent, and sent again, in the order of `append`. Sending a line twice is
/// harmless: its `id` makes the relay store it once.
///
/// A line is not sent while an earlier one of its room has had no answer for
/// `pipeliningMilliseconds`. The earlier one may have been refused, and the relay refuses the
/// following lines for only one second: a client that was paused for longer, with the refusal
/// unread, would have the later line stored first.
public struct Outbox: Sendable {
  private struct Line: Sendable {
    let send: ClientMessage.Send
    /// When it was sent on this connection.
    var leftAt: Instant?
  }

  private struct Room: Sendable {
    let name: String
    var lines: Deque<Line> = []
    /// The number of lines at the front that were sent on this connection and wait for an answer.
    var sent = 0
    /// The number of lines at the front that were ever sent: only these can be answered.
    var reached = 0
    /// The relay refuses everything for this room until then.
    var blockedUntil: Instant?
    /// Nothing is sent before there is an answer.
    var awaitsAnswer = false
  }

  /// Half of the time for which a relay refuses the lines after a refused one; the other half is
  /// for the network.
  static let pipeliningMilliseconds = 500

  /// Rooms with lines to send: few, so that a linear search beats a table.
  private var rooms: [Room] = []
  private var turn = 0

  /// The number of lines that are not acknowledged.
  public private(set) var count = 0
  /// The number of those that were sent on this connection.
  public private(set) var inFlight = 0

  /// Creates an empty outbox.
  public init() {}

  /// Whether every line was acknowledged or refused for good.
  public var isEmpty: Bool { count == 0 }

  /// Adds a line after the others of its room.
  public mutating func append(_ send: ClientMessage.Send) {
    count += 1
    if let index = index(of: send.room) {
      rooms[index].lines.append(Line(send: send))
    } else {
      var room = Room(name: send.room)
      room.lines.append(Line(send: send))
      rooms.append(room)
    }
  }

  /// Returns the next line that may be sent, the rooms taking turns; `nil` if none may be sent now.
  ///
  /// - Parameter window: The maximum number of lines in flight.
  public mutating func next(at now: Instant, window: Int) -> ClientMessage.Send? {
    guard inFlight < min(window, count) else { return nil }
    for _ in rooms.indices {
      turn = turn + 1 < rooms.count ? turn + 1 : 0
      if let until = rooms[turn].blockedUntil {
        if until > now { continue }
        rooms[turn].blockedUntil = nil
      }
      let sent = rooms[turn].sent
      guard sent < rooms[turn].lines.count, !rooms[turn].awaitsAnswer else { continue }
      if sent > 0, let oldest = rooms[turn].lines[0].leftAt,
        now.milliseconds(since: oldest) > Self.pipeliningMilliseconds
      {
        rooms[turn].awaitsAnswer = true
        continue
      }
      rooms[turn].lines[sent].leftAt = now
      rooms[turn].sent = sent + 1
      rooms[turn].reached = max(rooms[turn].reached, sent + 1)
      inFlight += 1
      return rooms[turn].lines[sent].send
    }
    return nil
  }

  /// Handles a temporary refusal: from this line on, the room's lines are sent again after
  /// `instant`.
  public mutating func postpone(room: String?, id: String, until instant: Instant) {
    guard let (index, line) = find(room: room, id: id) else { return }
    let dropped = max(0, rooms[index].sent - line)
    rooms[index].sent -= dropped
    rooms[index].awaitsAnswer = false
    inFlight -= dropped
    // Each of the following lines is refused as well, with the rest of the same wait.
    rooms[index].blockedUntil = max(rooms[index].blockedUntil ?? instant, instant)
  }

  /// Handles the end of the connection: every line that was sent will be sent again.
  public mutating func connectionLost() {
    inFlight = 0
    for index in rooms.indices {
      rooms[index].sent = 0
      rooms[index].blockedUntil = nil
      rooms[index].awaitsAnswer = false
    }
  }

  /// When the next line may be sent according to its room, in the past if it may be sent now; `nil`
  /// if all were sent or wait for an answer.
  public var nextLine: Instant? {
    var earliest: Instant?
    for room in rooms where room.sent < room.lines.count && !room.awaitsAnswer {
      guard let until = room.blockedUntil else { return Instant(nanoseconds: 0) }
      earliest = min(earliest ?? until, until)
    }
    return earliest
  }

  /// Removes a line that was never sent.
  ///
  /// - Returns: Whether it was; a line that was sent may have reached the relay.
  public mutating func withdraw(room name: String, id: String) -> Bool {
    guard let index = index(of: name),
      let line = rooms[index].lines.lastIndex(where: { $0.send.id == id }),
      line >= rooms[index].reached
    else { return false }
    rooms[index].lines.remove(at: line)
    count -= 1
    if rooms[index].lines.isEmpty { rooms.remove(at: index) }
    return true
  }

  private func index(of room: String) -> Int? {
    rooms.firstIndex { $0.name == room }
  }

  private func find(room name: String?, id: String) -> (room: Int, line: Int)? {
    // The name of a new room may be chosen by the relay.
    for index in rooms.indices
    where name == nil || rooms[index].name == name || rooms[index].name.isEmpty {
      let room = rooms[index]
      // Except for refusals, answers come in the order of the lines: usually this is the first.
      if let line = room.lines.prefix(room.reached).firstIndex(where: { $0.send.id == id }) {
        return (index, line)
      }
    }
    return nil
  }

  /// Removes a line that is durable or was refused for good.
  ///
  /// - Parameter name: `nil` searches all rooms.
  /// - Returns: The line; `nil` for a second answer to the same line.
  public mutating func remove(room name: String?, id: String) -> ClientMessage.Send? {
    guard let (index, line) = find(room: name, id: id) else { return nil }
    let send = rooms[index].lines.remove(at: line).send
    rooms[index].awaitsAnswer = false
    count -= 1
    rooms[index].reached -= 1
    if line < rooms[index].sent {
      rooms[index].sent -= 1
      inFlight -= 1
    }
    if rooms[index].lines.isEmpty { rooms.remove(at: index) }
    return send
  }
}
