import Testing

@testable import Swarm

@Suite struct `Catching up` {
  @Test func `lasts from joined until the head that joined named`() {
    var catchUps = CatchUps()
    #expect(catchUps.isEmpty)
    catchUps.begin(3, room: 1, head: 10, at: 500)
    catchUps.begin(3, room: 2, head: 4, at: 600)
    #expect(catchUps.reached(3, room: 1, seq: 9) == nil)
    #expect(catchUps.reached(4, room: 1, seq: 10) == nil)
    #expect(catchUps.reached(3, room: 1, seq: 12) == 500)
    #expect(catchUps.reached(3, room: 1, seq: 13) == nil)
    #expect(catchUps.unfinished == [600])
    #expect(catchUps.reached(3, room: 2, seq: 4) == 600)
    #expect(catchUps.isEmpty)
  }

  @Test func `continues after the relay breaks the connection, and ends with the plan`() {
    var catchUps = CatchUps()
    catchUps.begin(3, room: 1, head: 10, at: 500)
    catchUps.begin(3, room: 1, head: 20, at: 900)
    #expect(catchUps.reached(3, room: 1, seq: 10) == nil)
    #expect(catchUps.reached(3, room: 1, seq: 20) == 500)
    catchUps.begin(3, room: 1, head: 30, at: 1000)
    catchUps.forget(3)
    #expect(catchUps.isEmpty)
  }
}

@Suite struct `The frames around a violation` {
  private let oracle = Oracle(
    Naming(
      Plan(
        scenario: "t", seed: 1, rooms: [.group("a", 0)], clients: [], events: [], duration: 0,
        clientsLeftOut: 0, messagesLeftOut: 0), tag: "0123456789abcdef"))

  @Test func `are the last four that this receiver was given, the oldest first`() {
    var memory = FrameMemory()
    for number in 0..<20 { memory.add(Array("frame \(number)".utf8).span, to: number % 2) }
    #expect(memory.lines(of: 1, oracle) == ["frame 13", "frame 15", "frame 17", "frame 19"])
    #expect(memory.lines(of: 2, oracle) == [])
  }

  @Test func `are found as long as the ring has them, and never another's instead`() {
    var memory = FrameMemory()
    memory.add(Array("first".utf8).span, to: 7)
    let long = Array(repeating: UInt8(ascii: "x"), count: 1000)
    for _ in 0..<10_000 { memory.add(long.span, to: 1) }
    #expect(memory.lines(of: 7, oracle) == ["first"])
    for number in 0..<60_000 { memory.add(Array("y\(number)".utf8).span, to: 1) }
    #expect(memory.lines(of: 7, oracle) == [])
    #expect(memory.lines(of: 1, oracle).last == "y59999")
  }
}
