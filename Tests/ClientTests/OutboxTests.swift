import Client
import Mixing
import Platform
import Testing
import Wire

@Suite struct `Outbox, room by room` {
  private let start = Instant(nanoseconds: 1_000_000_000_000)

  private func outbox(_ ids: String..., room: String = "r") -> Outbox {
    var outbox = Outbox()
    for id in ids { outbox.append(.init(room: room, id: id, text: id)) }
    return outbox
  }

  private func leaving(_ outbox: inout Outbox, at now: Instant, window: Int = 100) -> [String] {
    var ids: [String] = []
    while let send = outbox.next(at: now, window: window) { ids.append(send.id) }
    return ids
  }

  @Test func `lines leave once, in order, and are kept until acknowledged`() {
    var box = outbox("1", "2", "3")
    #expect(leaving(&box, at: start) == ["1", "2", "3"])
    #expect(leaving(&box, at: start) == [])
    #expect(box.count == 3)
    #expect(box.remove(room: "r", id: "2")?.id == "2")
    #expect(box.remove(room: "r", id: "2") == nil)
    #expect(box.remove(room: "r", id: "1") != nil)
    #expect(box.remove(room: "r", id: "3") != nil)
    #expect(box.isEmpty)
    #expect(box.inFlight == 0)
  }

  @Test func `a line that was never sent can be taken back, others cannot`() {
    var box = outbox("1", "2", "3")
    #expect(leaving(&box, at: start, window: 1) == ["1"])
    box.connectionLost()
    let withdrawn = [("r", "1"), ("r", "2"), ("r", "2"), ("other", "3")].map { room, id in
      box.withdraw(room: room, id: id)
    }
    #expect(withdrawn == [false, true, false, false])
    #expect(box.count == 2)
    #expect(leaving(&box, at: start) == ["1", "3"])
  }

  @Test func `unacknowledged lines are sent again after a break, in order`() {
    var box = outbox("1", "2", "3")
    _ = leaving(&box, at: start)
    _ = box.remove(room: "r", id: "1")
    box.append(.init(room: "r", id: "4", text: "4"))
    box.connectionLost()
    #expect(box.inFlight == 0)
    #expect(leaving(&box, at: start) == ["2", "3", "4"])
  }

  @Test func `an answer from before the break counts after it`() {
    var box = outbox("1", "2")
    _ = leaving(&box, at: start)
    box.connectionLost()
    #expect(box.remove(room: "r", id: "1") != nil)
    #expect(leaving(&box, at: start) == ["2"])
  }

  @Test func `a line waits while an earlier one of its room remains unanswered for long`() {
    var box = outbox("1")
    #expect(leaving(&box, at: start) == ["1"])
    box.append(.init(room: "r", id: "2", text: "2"))
    box.append(.init(room: "q", id: "3", text: "3"))
    let late = start.adding(milliseconds: 501)
    #expect(leaving(&box, at: late) == ["3"])
    // There is no time to wait for: an answer, or another connection, lets it leave.
    #expect(box.nextLine == nil)
    var refused = box
    refused.postpone(room: "r", id: "1", until: late)
    #expect(leaving(&refused, at: late) == ["1", "2"])
    var lost = box
    lost.connectionLost()
    #expect(leaving(&lost, at: late).sorted() == ["1", "2", "3"])
    _ = box.remove(room: "r", id: "1")
    #expect(leaving(&box, at: late) == ["2"])
  }

  @Test func `from the first refused line on the room waits, then continues in order`() {
    var box = outbox("1", "2", "3", "4")
    _ = leaving(&box, at: start)
    let later = start.adding(milliseconds: 100)
    box.postpone(room: "r", id: "2", until: later)
    // The relay refuses the following ones as well, and has accepted the one before it.
    box.postpone(room: "r", id: "3", until: later)
    box.postpone(room: "r", id: "4", until: later)
    _ = box.remove(room: "r", id: "1")
    #expect(box.inFlight == 0)
    #expect(leaving(&box, at: start.adding(milliseconds: 99)) == [])
    #expect(box.nextLine == later)
    #expect(leaving(&box, at: later) == ["2", "3", "4"])
  }

  @Test func `a room that waits delays no other`() {
    var box = outbox("1", "2")
    _ = leaving(&box, at: start)
    box.postpone(room: "r", id: "1", until: start.adding(milliseconds: 100))
    box.append(.init(room: "s", id: "3", text: "3"))
    box.append(.init(room: "r", id: "4", text: "4"))
    #expect(leaving(&box, at: start) == ["3"])
  }

  @Test func `rooms take turns`() {
    var box = outbox("1", "2", "3")
    for id in ["a", "b"] { box.append(.init(room: "s", id: id, text: id)) }
    let ids = leaving(&box, at: start, window: 4)
    #expect(Set(ids) == ["1", "2", "a", "b"])
  }

  @Test func `the window bounds what is in flight`() {
    var box = outbox("1", "2", "3")
    #expect(leaving(&box, at: start, window: 2) == ["1", "2"])
    _ = box.remove(room: "r", id: "1")
    #expect(leaving(&box, at: start, window: 2) == ["3"])
  }

  @Test func `a line that was never sent cannot be answered`() {
    var box = outbox("1", "2")
    _ = leaving(&box, at: start, window: 1)
    #expect(box.remove(room: "r", id: "2") == nil)
    #expect(box.count == 2)
  }

  /// A relay that accepts, refuses for now, answers late or never, and a connection that breaks,
  /// all from a seed.
  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func `whatever happens, a room's lines are accepted in their order, each once`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var box = Outbox()
    var now = start
    var accepted: [String: [String]] = [:]
    var refusedUntil: [String: Instant] = [:]
    var answers: [() -> Void] = []
    let rooms = ["r", "s", "t"]
    var appended = 0
    while appended < 60 || !box.isEmpty {
      if appended < 60 {
        let room = rooms[Int.random(in: 0..<3, using: &random)]
        box.append(.init(room: room, id: "\(appended)", text: "x"))
        appended += 1
      }
      while let send = box.next(at: now, window: 8) {
        if let until = refusedUntil[send.room], until > now {
          answers.append { box.postpone(room: send.room, id: send.id, until: until) }
        } else if accepted[send.room]?.contains(send.id) == true {
          answers.append { _ = box.remove(room: send.room, id: send.id) }
        } else if Int.random(in: 0..<6, using: &random) == 0 {
          let until = now.adding(milliseconds: 500)
          refusedUntil[send.room] = until
          answers.append { box.postpone(room: send.room, id: send.id, until: until) }
        } else {
          accepted[send.room, default: []].append(send.id)
          answers.append { _ = box.remove(room: send.room, id: send.id) }
        }
      }
      now = now.adding(milliseconds: 10)
      for _ in 0..<Int.random(in: 0...4, using: &random) where !answers.isEmpty {
        answers.removeFirst()()
      }
      if Int.random(in: 0..<15, using: &random) == 0 {
        // The relay's refusals are promised for the sends of one connection.
        answers = []
        refusedUntil = [:]
        box.connectionLost()
      }
    }
    for (room, ids) in accepted {
      let numbers = ids.compactMap { Int($0) }
      #expect(numbers == numbers.sorted(), "in room \(room)")
    }
    #expect(accepted.values.map(\.count).reduce(0, +) == 60)
  }
}
