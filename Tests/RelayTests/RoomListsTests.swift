import Testing

@testable import Relay

@Suite final class `The list of a user's rooms` {
  private var lists = WatchedRooms()
  private var rooms = Rooms()

  private func insert(_ room: String, lastAt: Int64 = 0) -> Slot<WatchedRoom> {
    let watch = lists.findOrInsert("ada")
    let slot = rooms.findOrInsert(room)
    let node = lists.insert(slot, on: watch)
    lists.rooms[node].lastAt = lastAt
    return node
  }

  /// The names from the latest to the oldest.
  private var names: [String] { names(from: newest, \.older) }
  /// The names from the oldest to the latest.
  private var namesBackwards: [String] {
    names(from: nodes(from: newest, \.older).last, \.newer)
  }

  private var newest: Slot<WatchedRoom>? {
    lists.find("ada").flatMap { lists.users[$0].newest.slot }
  }

  private func names(
    from start: Slot<WatchedRoom>?, _ next: KeyPath<WatchedRoom, OptionalSlot<WatchedRoom>>
  ) -> [String] {
    nodes(from: start, next).map { rooms[lists.rooms[$0].room].name }
  }

  private func nodes(
    from start: Slot<WatchedRoom>?, _ next: KeyPath<WatchedRoom, OptionalSlot<WatchedRoom>>
  ) -> [Slot<WatchedRoom>] {
    Array(
      sequence(state: start) { node in
        defer { node = node.flatMap { self.lists.rooms[$0][keyPath: next].slot } }
        return node
      })
  }

  @Test func `has the latest activity first, in both directions`() {
    let nodes = ["a", "b", "c"].map { insert($0) }
    #expect(names == ["c", "b", "a"])
    lists.moveToFront(nodes[1])
    #expect(names == ["b", "c", "a"])
    lists.moveToFront(nodes[0])
    #expect(names == ["a", "b", "c"])
    #expect(namesBackwards == ["c", "b", "a"])
  }

  @Test func `has stamps that decrease along the list`() {
    let nodes = ["a", "b", "c"].map { insert($0) }
    lists.moveToFront(nodes[0])
    let stamps = [nodes[0], nodes[2], nodes[1]].map { lists.rooms[$0].stamp }
    #expect(stamps == stamps.sorted(by: >))
  }

  @Test(arguments: 0..<3) func `loses a room at any position`(_ place: Int) {
    let nodes = ["a", "b", "c"].map { insert($0) }
    lists.remove(nodes[place])
    #expect(names == ["c", "b", "a"].filter { $0 != ["a", "b", "c"][place] })
    #expect(namesBackwards == names.reversed())
  }

  @Test func `leaves the watchers of a room that others watch`() {
    let mine = insert("a")
    let room = lists.rooms[mine].room
    let watch = lists.findOrInsert("bo")
    let other = lists.insert(room, on: watch)
    lists.remove(mine)
    #expect(lists.watchers(of: room) == [other])
    #expect(lists.rooms[other].place == 0)
    #expect(lists.find("ada", room) == nil)
    #expect(lists.find("bo", room) == other)
  }

  @Test func `is sorted by time and then by name when it has been loaded`() {
    for (name, at) in [("a", 1), ("d", 5), ("c", 5), ("b", 9)] {
      _ = insert(name, lastAt: Int64(at))
    }
    lists.sort(lists.findOrInsert("ada")) { rooms[$0].name }
    #expect(names == ["b", "c", "d", "a"])
  }

  @Test func `continues after a room that has not moved, otherwise by time`() {
    for at in 1...4 { _ = insert("r\(at)", lastAt: Int64(at)) }
    let watch = lists.findOrInsert("ada")
    func name(_ link: OptionalSlot<WatchedRoom>) -> String? {
      link.slot.map { rooms[lists.rooms[$0].room].name }
    }
    let third = rooms.find("r3")
    #expect(name(lists.place(after: third, lastAt: 3, watch, scanLimit: 10)) == "r2")
    #expect(name(lists.place(after: third, lastAt: 2, watch, scanLimit: 10)) == "r2")
    #expect(name(lists.place(after: nil, lastAt: 1, watch, scanLimit: 10)) == "r1")
    #expect(name(lists.place(after: nil, lastAt: 1, watch, scanLimit: 2)) == "r2")
    #expect(name(lists.place(after: nil, lastAt: 0, watch, scanLimit: 10)) == nil)
  }
}

@Suite final class `Lists that are loaded` {
  private var lists = WatchedRooms()
  private var loads = RoomsLoads()

  private func begin(_ user: String) -> UInt32 {
    let watch = lists.findOrInsert(user)
    let ticket = loads.nextTicket()
    lists.users[watch].state = .loading
    lists.users[watch].ticket = ticket
    loads.append(watch, ticket: ticket)
    return ticket
  }

  @Test func `come one slice at a time, in turn`() {
    let (ada, bo) = (begin("ada"), begin("bo"))
    let started = [loads.start(in: lists)?.ticket, loads.start(in: lists)?.ticket]
    #expect(started == [ada, nil])
    let finished = [bo, ada].map { loads.finish(ticket: $0) }
    #expect(finished == [false, true])
    loads.append(lists.findOrInsert("ada"), ticket: ada)
    for ticket in [bo, ada] {
      let next = loads.start(in: lists)?.ticket
      #expect(next == ticket)
      let isFinished = loads.finish(ticket: ticket)
      #expect(isFinished)
    }
    #expect(loads.isEmpty)
  }

  @Test func `are skipped if their user has gone or has begun again`() {
    let ada = begin("ada")
    lists.remove(lists.findOrInsert("ada"))
    _ = begin("bo")
    let again = begin("bo")
    #expect(ada != again)
    let next = loads.start(in: lists)?.ticket
    #expect(next == again)
  }
}
