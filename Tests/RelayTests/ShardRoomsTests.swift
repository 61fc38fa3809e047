import Mixing
import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `A shard and the rooms of a user` {
  @Test(arguments: [1, 7, 50, 200])
  func `the latest come first, each once, page by page`(_ limit: Int) throws {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 301)
    let ada = relay.connect("ada")
    #expect(try relay.allRooms(ada, limit: limit) == (0..<301).reversed().map { "r-\($0)" })
    // At its end a paging leaves nothing behind.
    #expect(relay.shard { $0.pagings.allSatisfy { $0 == 0 } })
  }

  @Test(arguments: 1...20)
  func `each comes once over all pages, whatever happens between them`(_ seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 200)
    let (ada, phone, eve) = (relay.connect("ada"), relay.connect("ada"), relay.connect("eve"))
    // Another connection of the same user is on its way as well.
    var others = try relay.page(phone, limit: 3)
    var names: [String] = []
    var (gone, came): (Set<String>, Set<String>) = ([], [])
    var cursor: String?
    repeat {
      let (rows, next) = try relay.page(ada, cursor, limit: Int.random(in: 1...20, using: &random))
      names += rows.map(\.room)
      cursor = next
      if next == nil { break }
      for number in 0..<Int.random(in: 0...30, using: &random) {
        let room = "r-\(Int.random(in: 0..<200, using: &random))"
        switch Int.random(in: 0..<12, using: &random) {
        case 0 where !names.contains(room):
          phone.join(room, after: nil)
          phone.send(.leave(room: room, forget: true))
          gone.insert(room)
        case 1:
          let new = "new-\(names.count)-\(number)"
          phone.join(new)
          came.insert(new)
        case 2:
          ada.join(room, after: nil)
          ada.send(.leave(room: room, forget: false))
          if gone.remove(room) != nil { came.insert(room) }
        default: eve.post(room, "\(names.count)-\(number)")
        }
        if Int.random(in: 0..<4, using: &random) == 0 { relay.run() }
      }
      relay.run()
      if let next = others.next { others = try relay.page(phone, next, limit: 9) }
      _ = (phone.take(), eve.take())
    } while cursor != nil
    #expect(Set(names).count == names.count)
    let all = Set((0..<200).map { "r-\($0)" }).union(came)
    #expect(all.subtracting(gone).subtracting(names) == [])
  }

  @Test
  func `a room with an entry before the first page comes first, later activity is reported`()
    throws
  {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 20)
    let (ada, eve) = (relay.connect("ada"), relay.connect("eve"))
    #expect(try relay.page(ada, limit: 1).rows.map(\.room) == ["r-19"])
    eve.post("r-3", "2")
    relay.run()
    let row = try #require(try relay.page(ada, limit: 1).rows.first)
    #expect(row.room == "r-3")
    #expect(row.head == 2)
    #expect(row.unread == 2)
    #expect(row.last?.id == "2")
    #expect(row.read == 0)
    ada.send(.join(.init(room: "r-3", after: 0)))
    ada.send(.read(room: "r-3", seq: 1))
    relay.run()
    let read = try #require(try relay.page(ada, limit: 1).rows.first)
    #expect(read.read == 1)
    #expect(read.unread == 1)
    ada.post("r-3", "mine")
    relay.run()
    let mine = try #require(try relay.page(ada, limit: 1).rows.first)
    // The second is eve's, and still unread.
    #expect(mine.read == 1)
    #expect(mine.unread == 1)
    #expect(mine.head == 3)
    ada.send(.read(room: "r-3", seq: 2))
    ada.post("r-3", "mine too")
    relay.run()
    let all = try #require(try relay.page(ada, limit: 1).rows.first)
    #expect(all.read == 4)
    #expect(all.unread == 0)
  }

  @Test func `listed rooms have their place among them`() throws {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.listed = [("r-2", "Two"), ("general", "General"), ("r-9", "Nine")]
    }
    try relay.give("ada", rooms: 4)
    try relay.give("bo", rooms: 2, from: 8)
    let ada = relay.connect("ada")
    #expect(try relay.allRooms(ada, limit: 2) == ["r-9", "r-3", "r-2", "r-1", "r-0", "general"])
    let rows = try relay.page(ada).rows
    #expect(rows.map(\.listed) == [true, false, true, false, false, true])
    #expect(rows[0].unread == 0)
    #expect(rows[0].head == 1)
    #expect(rows[0].title == "Nine")
    #expect(rows[2].unread == 1)
    // A listed room that is left for good stays in the list.
    ada.join("r-2", after: nil)
    ada.send(.leave(room: "r-2", forget: true))
    relay.run()
    #expect(try relay.allRooms(ada).contains("r-2"))
    relay.connect("eve").post("r-2", "2")
    relay.run()
    #expect(ada.take().activity.isEmpty)
    #expect(try relay.page(ada, limit: 1).rows.map(\.unread) == [0])
  }

  @Test func `the last entry is the newest text, as it reads now`() throws {
    let relay = SimulatedRelay(unlimited)
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    for room in ["edited", "buried"] {
      ada.join(room)
      bo.post(room, "1", text: "first")
    }
    bo.send(.send(.init(room: "edited", id: "2", edit: 1, text: "second")))
    for id in 0..<40 {
      bo.send(.send(.init(room: "buried", id: "e\(id)", edit: 1, text: "\(id)")))
    }
    relay.run()
    let rows = try relay.page(ada).rows
    let edited = try #require(rows.first { $0.room == "edited" })
    #expect(edited.last?.seq == 1)
    #expect(edited.last?.text == "second")
    #expect(edited.head == 2)
    // Any number of changes may follow it.
    let buried = try #require(rows.first { $0.room == "buried" })
    #expect(buried.last?.seq == 1)
    #expect(buried.last?.text == "39")
    #expect(buried.head == 41)
    #expect(buried.unread == 1)
  }

  @Test func `a page that is cut at the size limit of a reply continues with what did not fit`()
    throws
  {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 100, text: String(repeating: "x", count: 4000))
    let ada = relay.connect("ada")
    let first = try relay.page(ada, limit: 200)
    #expect((20..<33).contains(first.rows.count))
    #expect(first.next != nil)
    #expect(try relay.allRooms(ada) == (0..<100).reversed().map { "r-\($0)" })
  }

  // MARK: - Cursors

  @Test(arguments: [
    "", "1", "1@2", "1@2@", "@@", "1@2@R", "1@-2@r", "-1@2@r", "9007199254740992@2@r",
    "1@9007199254740992@r", "1@9223372036854775807@r", "18446744073709551616@2@r", "1@2@r@3",
    "1e3@2@r", "1@2@dm:b:a", "ada@3",
  ])
  func `a cursor that no answer contained is refused`(_ cursor: String) {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    ada.send(.rooms(.init(cursor: cursor)))
    relay.run()
    #expect(ada.take().errors.map(\.field) == ["cursor"])
  }

  @Test(arguments: ["0@0@r", "1@9007199254740991@nowhere", "9007199254740991@1@r-1"])
  func `the cursor of another user leads somewhere into the user's own list`(_ cursor: String)
    throws
  {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 3)
    let (rows, _) = try relay.page(relay.connect("ada"), cursor)
    #expect(Set(rows.map(\.room)).isSubset(of: ["r-0", "r-1", "r-2"]))
  }

  @Test func `the cursor of a closed connection continues by time, and no room is missed`() throws {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 100)
    let before = relay.connect("ada")
    let (rows, next) = try relay.page(before, limit: 40)
    #expect(rows.count == 40)
    relay.disconnect(before)
    let again = relay.connect("ada")
    let rest = try relay.page(again, next, limit: 200)
    #expect(rest.rows.map(\.room) == (0..<60).reversed().map { "r-\($0)" })
    #expect(rest.next == nil)
    // Its last room has moved: the time counts.
    relay.connect("eve").post("r-60", "2")
    relay.run()
    #expect(try relay.page(again, next, limit: 200).rows.map(\.room) == rest.rows.map(\.room))
  }

  @Test func `the longest cursor is accepted`() throws {
    let room = "dm:" + String(repeating: "a", count: 64) + ":" + String(repeating: "b", count: 64)
    let cursor = RoomsCursor(number: 1 << 53 - 1, lastAt: .max, room: room)
    #expect(cursor.text.utf8.count <= ClientMessage.cursorLimitBytes)
    #expect(RoomsCursor(cursor.text) == cursor)
  }

  // MARK: - Cost

  @Test func `a list is requested in slices, and entries of others are stored in between`() throws {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 3000)
    try relay.give("bo", rooms: 600, from: 3000)
    let (ada, bo, cy) = (relay.connect("ada"), relay.connect("bo"), relay.connect("cy"))
    cy.join("talk")
    relay.run()
    relay.logIsHeld = true
    ada.send(.rooms(.init()))
    bo.send(.rooms(.init()))
    relay.run()
    var batches = 0
    var boIsAnswered = 0
    while !ada.input.isEmpty || !relay.shard(0, { $0.roomLists.loads.isEmpty }) {
      let before = relay.log.store.meter.total(.rooms)
      cy.post("talk", "\(batches)")
      relay.process()
      batches += 1
      #expect(relay.log.store.meter.total(.rooms) - before <= RoomLists.sliceLimit + 1)
      relay.run()
      if boIsAnswered == 0,
        bo.take().contains(where: { if case .rooms = $0 { true } else { false } })
      {
        boIsAnswered = batches
      }
      try #require(batches < 100)
    }
    // 12 slices and 3, in turn; the sends of each turn go with the slice that follows it.
    #expect((15...18).contains(batches))
    #expect((1...8).contains(boIsAnswered), "\(boIsAnswered)")
    relay.logIsHeld = false
    relay.run()
    #expect(cy.take().acks.count == batches)
    // From then on the log gets no request.
    let read = relay.log.store.meter.total(.rooms)
    #expect(try relay.allRooms(ada).count == 3000)
    #expect(relay.log.store.meter.total(.rooms) == read)
  }

  @Test func `fifty connections of a user share one list, which ends with the last of them`() throws
  {
    let count = 10_000
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: count)
    let before = relay.shard { $0.rooms.count }
    let sockets = (0..<50).map { _ in relay.connect("ada") }
    for socket in sockets { _ = try relay.page(socket, limit: 200) }
    #expect(relay.nodes == count)
    #expect(MemoryLayout<WatchedRoom>.stride <= 96)
    #expect(relay.shard { $0.rooms.count } - before <= count)
    #expect(relay.shard { $0.watcherCounts.allSatisfy { $0 <= 1 } })
    // Every one of them is on its way; what has an entry is noted for each, once.
    let eve = relay.connect("eve")
    for _ in 0..<3 {
      for room in 0..<100 { eve.post("r-\(room)", "\(eve.received.count)-\(room)") }
      relay.run()
    }
    let missed = relay.shard { $0.missedCounts }
    #expect(missed == Array(repeating: 100, count: 50))
    for socket in sockets.dropFirst() { relay.disconnect(socket) }
    #expect(relay.nodes == count)
    #expect(relay.shard { $0.pagings } == [1])
    relay.disconnect(sockets[0])
    #expect(relay.nodes == 0)
    #expect(relay.shard { $0.roomLists.table.find("ada") } == nil)
    relay.run()
    relay.shard { $0.shrink() }
    #expect(relay.shard { $0.roomLists.table.rooms.capacity } == 0)
    // Those that had entries are in the tail.
    #expect(relay.shard { $0.rooms.count } <= 101)
  }

  @Test func `a user who leaves while the list is loading leaves nothing behind`()
    throws
  {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 1000)
    try relay.give("bo", rooms: 10, from: 2000)
    let (ada, bo) = (relay.connect("ada"), relay.connect("bo"))
    relay.logIsHeld = true
    ada.send(.rooms(.init()))
    relay.run()
    bo.send(.rooms(.init()))
    relay.run()
    relay.disconnect(ada)
    let back = relay.connect("ada")
    back.send(.rooms(.init()))
    relay.run()
    relay.logIsHeld = false
    relay.run()
    #expect(relay.nodes == 1010)
    for (socket, count) in [(bo, 10), (back, 50)] {
      let rows = socket.take().compactMap { if case .rooms(let rows, _) = $0 { rows } else { nil } }
      #expect(rows.map(\.count) == [count])
    }
  }

  @Test func `if the store cannot be read, the client is told to retry`() throws {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 10)
    let ada = relay.connect("ada")
    relay.log.store.failsReads = true
    ada.send(.rooms(.init()))
    relay.run()
    let error = try #require(ada.take().errors.first)
    #expect(error.code == .unavailable)
    #expect(error.re == .rooms)
    #expect(error.retryAfterMilliseconds == 1000)
    relay.log.store.failsReads = false
    #expect(try relay.allRooms(ada).count == 10)
  }

  @Test func `a first list counts as one request per two hundred rooms`() throws {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.limits.budget.requestsPerSecond = 20
    }
    try relay.give("ada", rooms: 4000)
    let ada = relay.connect("ada")
    _ = try relay.page(ada)
    ada.send(.history(.init(room: "r-1")))
    relay.run()
    #expect(ada.take().pages.isEmpty)
    // One for the page and twenty for the list, of twenty.
    relay.run(forMilliseconds: 50)
    #expect(ada.take().pages.isEmpty)
    relay.run(forMilliseconds: 100)
    #expect(ada.take().pages.count == 1)
  }

  // MARK: - Activity

  @Test func `activity goes to those connections of a user that have not joined`() throws {
    let relay = SimulatedRelay(unlimited)
    try relay.give("ada", rooms: 2)
    let sockets = (0..<3).map { _ in relay.connect("ada") }
    sockets[0].join("r-0")
    relay.run()
    for socket in sockets.prefix(2) { _ = try relay.page(socket) }
    _ = sockets.map { $0.take() }
    let eve = relay.connect("eve")
    func told(_ id: String) -> [Bool] {
      relay.run(forMilliseconds: 1001)
      eve.post("r-0", id)
      relay.run()
      return sockets.map { !$0.take().activity.isEmpty }
    }
    // The third did not ask for activity.
    #expect(told("2") == [false, true, false])
    sockets[1].join("r-0", after: nil)
    #expect(told("3") == [false, false, false])
    sockets[0].send(.leave(room: "r-0", forget: false))
    #expect(told("4") == [true, false, false])
    sockets[0].join("r-0", after: nil)
    sockets[0].join("r-0", after: 0)
    #expect(told("5") == [false, false, false])
    relay.disconnect(sockets[0])
    sockets[1].send(.leave(room: "r-0", forget: false))
    relay.run()
    #expect(told("6") == [false, true, false])
    #expect(relay.shard { $0.joinedCounts.allSatisfy { $0 == 0 } })
  }
}

extension Shard {
  fileprivate var pagings: [Int] {
    roomLists.table.users.slots.map { Int(roomLists.table.users[$0].pagings) }
  }
  fileprivate var watcherCounts: [Int] {
    rooms.slots.map { roomLists.table.watchers(of: $0).count }
  }
  fileprivate var joinedCounts: [Int] {
    roomLists.table.rooms.slots.map { Int(roomLists.table.rooms[$0].joined) }
  }
  fileprivate var missedCounts: [Int] {
    roomLists.pages.askers.values.compactMap { $0.paging?.missed.count }
  }
}
