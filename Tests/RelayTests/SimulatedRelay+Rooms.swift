import ShardWorld
import Wire

@testable import Relay

private struct NoRooms: Error {}

extension SimulatedRelay {
  /// Makes a user a member of `count` rooms, each with an entry of another user, one per second: `r-0`
  /// is the oldest.
  func give(
    _ user: String, rooms count: Int, from first: Int = 0, text: String = "x"
  ) throws {
    var changes = StoreChanges()
    let number = try log.store.base.nextRoomNumber()
    for index in 0..<count {
      let (name, number) = ("r-\(first + index)", number + Int64(index))
      changes.newRooms.append((number, name))
      changes.entries.append(
        StoreChanges.NewEntry(
          room: number,
          identity: EntryIdentity(
            room: number, sender: "eve", id: "1", key: log.store.base.identityKey),
          entry: Entry(
            room: name, seq: 1, id: "1", from: "eve", at: Int64(first + index) * 1000 + 1,
            kind: .text, body: ClientMessage.Send(room: name, id: "1", text: text).body)))
      for member in [user, "eve"] { changes.members.append((number, member, MemberMarks(), 0)) }
    }
    try log.store.base.commit(changes)
  }

  /// Requests one page of `rooms`.
  func page(
    _ socket: SimulatedSocket, _ cursor: String? = nil, limit: Int = 50
  ) throws -> (rows: [ServerMessage.RoomSummary], next: String?) {
    socket.send(.rooms(.init(cursor: cursor, limit: limit)))
    run()
    for case .rooms(let rows, let next) in socket.take() { return (rows, next) }
    throw NoRooms()
  }

  /// Requests all pages of `rooms`.
  func allRooms(_ socket: SimulatedSocket, limit: Int = 200) throws -> [String] {
    var names: [String] = []
    var cursor: String?
    repeat {
      let (rows, next) = try page(socket, cursor, limit: limit)
      names += rows.map(\.room)
      cursor = next
    } while cursor != nil
    return names
  }

  /// The number of rooms in the lists of all users.
  var nodes: Int { shard { $0.roomLists.table.rooms.count } }
}
