/// Sessions that wait for the next entry of a room: long polls over HTTP.
///
/// A session begins to poll before its room is read, so that no commit falls between the read and
/// the wait.
final class Polls: Feature {
  private struct Poll {
    var room: String
    /// The last entry that was committed since the room was read.
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

  func begin(_ id: SessionID, _ room: String) {
    end(id)
    polls[id] = Poll(room: room)
    rooms[room, default: Room()].sessions.append(id)
    rooms[room, default: Room()].count += 1
  }

  func end(_ session: Slot<Session>, in audience: inout some Audience & ~Copyable) {
    if !polls.isEmpty { end(audience.id(of: session)) }
  }

  func end(_ id: SessionID) {
    guard let poll = polls.removeValue(forKey: id), var room = rooms.removeValue(forKey: poll.room)
    else { return }
    room.count -= 1
    if room.count == 0 { return }
    if room.sessions.count > 2 * room.count + 8 {
      room.sessions.removeAll { polls[$0]?.room != poll.room }
    }
    rooms[poll.room] = room
  }

  /// Lets a session wait for an entry after `head`. It begins again before it reads the room again.
  /// - Returns: `false` if there is one already.
  func wait(_ id: SessionID, after head: Int64) -> Bool {
    guard let poll = polls[id], poll.head <= head else { return false }
    polls[id]?.awaited = head
    return true
  }

  /// Wakes the sessions that wait for entries of a commit.
  func wake(with commit: Commit) {
    if polls.isEmpty { return }
    for span in commit.spans { wake(span.room, head: span.lastSeq) }
  }

  /// The room's last entry is now `head`.
  func wake(_ room: String, head: Int64) {
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

  func takeWoken() -> [SessionID] {
    if woken.isEmpty { return [] }
    defer { woken = [] }
    return woken
  }
}
