internal import DequeModule
public import Platform
public import Wire

/// What is to be sent, kept until the relay has acknowledged it.
///
/// Per room the order of `append` is the order in which lines leave, also when they leave again.
/// A line that leaves twice is harmless: its `id` makes the relay keep it once.
///
/// A line does not leave while an earlier one of its room has had no answer for
/// `pipeliningMilliseconds`. The earlier one may have been refused, and the relay refuses what follows for
/// a second only: a client that stood still for longer, with the refusal unread, would have the later line
/// stored first.
public struct Outbox: Sendable {
  private struct Line: Sendable {
    let send: ClientMessage.Send
    /// When it left on this connection.
    var leftAt: Instant?
  }

  private struct Room: Sendable {
    let name: String
    var lines: Deque<Line> = []
    /// So many at the front have left on this connection and wait for an answer.
    var sent = 0
    /// So many at the front have ever left: only these can be answered.
    var reached = 0
    /// The relay refuses everything for this room until then.
    var blockedUntil: Instant?
    /// Nothing leaves before there is an answer.
    var awaitsAnswer = false
  }

  /// Half of how long a relay refuses what follows a refused line; the other half is for the way there.
  static let pipeliningMilliseconds = 500

  /// Rooms with something to send: few, so that a search beats a table.
  private var rooms: [Room] = []
  private var turn = 0

  /// Lines that are not acknowledged.
  public private(set) var count = 0
  /// Those among them that have left on this connection.
  public private(set) var inFlight = 0

  /// Nothing to send.
  public init() {}

  /// Whether everything was acknowledged or refused for good.
  public var isEmpty: Bool { count == 0 }

  /// Adds a line behind the others of its room.
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

  /// The next line that may leave, the rooms taking turns; `nil` if none may at present.
  ///
  /// - Parameter window: how many may be in flight at once.
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

  /// The relay did not take it now: from this line on the room leaves again, after `instant`.
  public mutating func postpone(room: String?, id: String, until instant: Instant) {
    guard let (index, line) = find(room: room, id: id) else { return }
    let dropped = max(0, rooms[index].sent - line)
    rooms[index].sent -= dropped
    rooms[index].awaitsAnswer = false
    inFlight -= dropped
    // Each of those behind it is refused as well, each with what is left of the same wait.
    rooms[index].blockedUntil = max(rooms[index].blockedUntil ?? instant, instant)
  }

  /// Nothing that left will be answered: all of it leaves again.
  public mutating func connectionLost() {
    inFlight = 0
    for index in rooms.indices {
      rooms[index].sent = 0
      rooms[index].blockedUntil = nil
      rooms[index].awaitsAnswer = false
    }
  }

  /// When the next line may leave as far as its room is concerned, in the past if it may now;
  /// `nil` if all have left, or wait for an answer.
  public var nextLine: Instant? {
    var earliest: Instant?
    for room in rooms where room.sent < room.lines.count && !room.awaitsAnswer {
      guard let until = room.blockedUntil else { return Instant(nanoseconds: 0) }
      earliest = min(earliest ?? until, until)
    }
    return earliest
  }

  private func index(of room: String) -> Int? {
    rooms.firstIndex { $0.name == room }
  }

  private func find(room name: String?, id: String) -> (room: Int, line: Int)? {
    for index in rooms.indices where name == nil || rooms[index].name == name {
      let room = rooms[index]
      // Answers come in the order of the lines, but for refusals: mostly this is the first.
      if let line = room.lines.prefix(room.reached).firstIndex(where: { $0.send.id == id }) {
        return (index, line)
      }
    }
    return nil
  }

  /// The relay has it, durably, or will never take it.
  ///
  /// - Parameter name: `nil` looks in all rooms.
  /// - Returns: the line; `nil` for a second answer to the same one.
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
