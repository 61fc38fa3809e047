import ShardWorld
import Testing
import Wire

@testable import Relay

/// Numbers that a client may write: some that the protocol accepts, and some that it does not.
private let extremes = [
  "0", "1", "2", "9007199254740990", "9007199254740991", "9007199254740992", "4294967295",
  "2147483647", "2147483648", "9223372036854775807", "9223372036854775808",
  "18446744073709551616", "-1", "-0", "-9223372036854775808", "1e308", "1E400", "0.5", "1e0",
  "99999999999999999999999999999999", "\"7\"", "null", "true", "[]", "{}",
]

/// Every message with a numeric field, with a placeholder for the number.
private let templates = [
  #"{"type":"join","room":"r","after":#}"#,
  #"{"type":"join","room":"r","after":#,"epoch":"second"}"#,
  #"{"type":"join","room":"r","after":#,"epoch":"first"}"#,
  #"{"type":"join","room":"new","after":#}"#,
  #"{"type":"received","room":"r","seq":#}"#,
  #"{"type":"read","room":"r","seq":#}"#,
  #"{"type":"history","room":"r","before":#}"#,
  #"{"type":"history","room":"r","after":#}"#,
  #"{"type":"history","room":"r","before":#,"limit":500,"fold":true}"#,
  #"{"type":"history","room":"r","after":#,"limit":500,"fold":true}"#,
  #"{"type":"history","room":"r","limit":#}"#,
  #"{"type":"history","room":"nowhere","after":#}"#,
  #"{"type":"people","limit":#}"#,
  #"{"type":"people","cursor":"user-1@#"}"#,
  #"{"type":"people","cursor":"nobody@#"}"#,
  #"{"type":"send","room":"r","id":"i","text":"x","reply_to":#}"#,
  #"{"type":"send","room":"r","id":"i","forward":{"room":"r","seq":#}}"#,
  #"{"type":"send","room":"r","id":"i","kind":"edit","text":"x","target":#}"#,
  #"{"type":"send","room":"r","id":"i","kind":"delete","target":#}"#,
  #"{"type":"send","room":"r","id":"i","kind":"react","emoji":"x","on":true,"target":#}"#,
  #"{"type":"send","room":"r","id":"i","kind":"data","data":#}"#,
  #"{"type":"ping","t":#}"#,
]

@Suite struct `Numbers from outside` {
  /// Accepted marks are not answered.
  @Test(arguments: templates)
  func `the relay answers any number and continues`(_ template: String) throws {
    for keep: Int64 in [0, 3] {
      let relay = SimulatedRelay(keepEntriesPerRoom: keep) {
        unlimited(&$0)
        $0.bots = [("echo", "Echo")]
      }
      relay.shard {
        $0.update(
          people: DirectoryUpdate(
            people: PeopleList(
              (0..<3).map { Person(user: "user-\($0)", name: "\($0)") }, source: "s", asOf: 1)))
      }
      let bo = relay.connect("bo")
      for number in 0..<9 {
        relay.log.store.base.epoch = number < 4 ? 1 : 2
        bo.post("r", "\(number)")
        relay.run()
      }
      bo.send(.send(.init(room: "r", id: "e", edit: 9, text: "y")))
      relay.run()
      let ada = relay.connect("ada")
      ada.join("r")
      relay.run()
      for (number, extreme) in extremes.enumerated() {
        _ = ada.take()
        let json = template.split(separator: "#", omittingEmptySubsequences: false)
          .joined(separator: extreme.filter { $0 != "\"" || !template.contains("@#") })
          .replacing(#""id":"i""#, with: #""id":"i\#(number)""#)
        ada.send(json)
        ada.send(#"{"type":"ping","t":"\#(number) is over"}"#)
        relay.run()
        let answers = ada.take()
        #expect(ada.garbage.isEmpty, "\(json): \(ada.garbage)")
        let isOver = answers.contains { message in
          if case .pong(let t, _) = message {
            t == Array("\"\(number) is over\"".utf8)
          } else {
            false
          }
        }
        #expect(isOver, "\(json)")
        let isMark = template.contains("received") || template.contains("read")
        #expect(answers.count > 1 || isMark, "\(json) was not answered")
      }
      #expect(ada.closeCode == nil)
    }
  }

  @Test(arguments: [
    "nobody@9223372036854775807", "nobody@9223372036854755807", "nobody@2147483648",
    "nobody@-1", "nobody@0", "user-1@0", "nobody@99999999999999999999", "@1", "@", "", "user-1",
    "user-1@", "user-1@1@1",
    "user-1@+1", "user-1@ 1", "USER@1", "\u{FF11}@\u{FF11}", "user-1@\u{661}",
  ])
  func `a cursor that no answer contained is refused`(_ cursor: String) {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    ada.send(.people(.init(cursor: cursor)))
    relay.run()
    let errors = ada.take().errors
    #expect(errors.map(\.code) == [.badField], "\(cursor)")
    #expect(errors.first?.field == "cursor", "\(cursor)")
    #expect(errors.first?.re == .people)
  }

  @Test func `a cursor beyond the list is its end`() throws {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    ada.send(.people(.init(cursor: "nobody@2147483647")))
    relay.run()
    let answer = ada.take().last
    guard case .people(let page)? = answer else { throw NotPeople() }
    #expect(page.people.isEmpty)
    #expect(page.next == nil)
  }

  private struct NotPeople: Error {}

  @Test func `a cursor is at most as long as the longest one that a relay creates`() {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    ada.send(.people(.init(cursor: String(repeating: "9", count: 257))))
    relay.run()
    #expect(ada.take().errors.map(\.message) == ["\"cursor\" must be at most 256 bytes."])
    let longest = PeopleCursor(
      user: String(repeating: "u", count: 64), place: PeopleCursor.placeLimit)
    #expect(longest.text.utf8.count <= ClientMessage.cursorLimitBytes)
    #expect(PeopleCursor(longest.text) == longest)
  }

  @Test(arguments: [
    (head: Int64.max, first: 1, read: 0), (head: Entry.sequenceLimit + 1, first: 1, read: 0),
    (head: 3, first: 5, read: 0), (head: -1, first: 1, read: 0), (head: 3, first: .min, read: 0),
    (head: 3, first: 1, read: .max), (head: 3, first: 1, read: -1),
  ])
  func `a room with impossible numbers is not used`(head: Int64, first: Int64, read: Int64) {
    let room = StoredRoom(
      number: 1, head: head, first: first, lastAt: 0,
      members: ["ada": MemberMarks(read: read, received: 0)])
    #expect(throws: StoreFailure.self) { try room.checked("r") }
  }

  @Test func `a room whose numbers are exhausted accepts no more entries`() throws {
    let relay = SimulatedRelay(unlimited)
    let ada = relay.connect("ada")
    ada.post("r", "first")
    relay.run()
    _ = ada.take()
    let room = try #require(relay.log.sequencer.indices["r"])
    relay.log.sequencer.rooms[room].head = Entry.sequenceLimit - 1
    ada.post("r", "last")
    ada.post("r", "beyond")
    relay.run()
    let messages = ada.take()
    #expect(messages.acks.map(\.seq) == [Entry.sequenceLimit])
    #expect(messages.errors.map(\.code) == [.limitReached])
    #expect(ada.garbage.isEmpty)
  }
}

@Suite struct `More than fits` {
  @Test func `entries beyond the size of a batch are refused for a while, in order`() {
    let relay = SimulatedRelay(unlimited)
    relay.log.sequencer.batchBytesLimit = 10_000
    let ada = relay.connect("ada")
    ada.post("r", "long", text: String(repeating: "x", count: 4000))
    relay.run()
    _ = ada.take()
    relay.logIsHeld = true
    ada.post("s", "first")
    relay.run()
    for number in 0..<5 {
      ada.send(.send(.init(room: "r", id: "\(number)", forward: Forward(room: "r", seq: 1))))
    }
    ada.post("r", "short")
    ada.post("s", "other")
    relay.logIsHeld = false
    relay.run()
    let messages = ada.take()
    #expect(messages.acks.map(\.id) == ["first", "0", "1", "other"])
    #expect(messages.errors.map(\.id) == ["2", "3", "4", "short"])
    #expect(messages.errors.allSatisfy { $0.code == .unavailable })
    // A second later all are accepted, in sending order.
    relay.run(forMilliseconds: 1001)
    for id in ["2", "3"] {
      ada.send(.send(.init(room: "r", id: id, forward: Forward(room: "r", seq: 1))))
    }
    relay.run()
    #expect(ada.take().acks.map(\.id) == ["2", "3"])
  }

  @Test func `a subscriber of a room that does not fit into a turn catches up`() {
    let relay = SimulatedRelay(unlimited)
    relay.shard { $0.turn.bytesLimit = 3000 }
    let ada = relay.connect("ada")
    let packing = relay.connect("bo", compresses: true)
    for socket in [ada, packing] {
      socket.join("r")
      socket.join("s")
    }
    relay.run()
    _ = (ada.take(), packing.take())
    for number in 0..<20 {
      ada.post("r", "r\(number)", text: String(repeating: "x", count: 300))
      ada.post("s", "s\(number)")
    }
    relay.run()
    for socket in [ada, packing] {
      let entries = socket.take().entries
      for room in ["r", "s"] {
        #expect(entries.filter { $0.room == room }.map(\.seq) == Array(1...20), "\(room)")
      }
    }
  }
}
