/// Sessions that wait for the next entry of a room: long polls over HTTP.
///
/// A session begins to poll before its room is read, so that no commit falls between the read and
/// the wait.
struct Polls {
  private struct Poll {
    var room: String
    /// The last entry that was committed since the session began to poll.
    var head: Int64 = 0
    /// The session waits for an entry after this one; `nil` while the room is read.
    var awaited: Int64?
  }

  /// The sessions of one room, with those that have ended until they are the majority.
  private struct Room {
    var sessions: [SessionID] = []
    var count = 0
  }

  private var polls: [SessionID: Poll] = [:]
  private var rooms: [String: Room] = [:]
  /// The sessions whose wait has ended.
  private var woken: [SessionID] = []

  var isEmpty: Bool { polls.isEmpty }
  var count: Int { polls.count }

  mutating func begin(_ id: SessionID, _ room: String) {
    end(id)
    polls[id] = Poll(room: room)
    rooms[room, default: Room()].sessions.append(id)
    rooms[room, default: Room()].count += 1
  }

  mutating func end(_ id: SessionID) {
    guard let poll = polls.removeValue(forKey: id), var room = rooms.removeValue(forKey: poll.room)
    else { return }
    room.count -= 1
    if room.count == 0 { return }
    if room.sessions.count > 2 * room.count + 8 {
      room.sessions.removeAll { polls[$0]?.room != poll.room }
    }
    rooms[poll.room] = room
  }

  /// Lets a session wait for an entry after `head`.
  /// - Returns: `false` if there is one already.
  mutating func wait(_ id: SessionID, after head: Int64) -> Bool {
    guard let poll = polls[id], poll.head <= head else { return false }
    polls[id]?.awaited = head
    return true
  }

  /// Notes that the room's last entry is now `head`.
  mutating func note(_ room: String, head: Int64) {
    guard let sessions = rooms[room]?.sessions else { return }
    for id in sessions {
      guard let poll = polls[id] else { continue }
      polls[id]?.head = head
      if let awaited = poll.awaited, awaited < head {
        polls[id]?.awaited = nil
        woken.append(id)
      }
    }
  }

  mutating func takeWoken() -> [SessionID] {
    if woken.isEmpty { return [] }
    defer { woken = [] }
    return woken
  }
}

extension Shard {
  /// Lets a session poll a room. To be called before it reads the room.
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

  mutating func notePolls(_ commit: Commit) {
    for span in commit.spans { polls.note(span.room, head: span.lastSeq) }
  }
}
