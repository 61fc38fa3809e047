import Client
import Mixing
import Testing
import WebSocket
import Wire

@testable import Swarm

/// An oracle that is given frames as they arrive on a connection: on the short path if it accepts
/// them, otherwise on the long path; and a second oracle that uses only the long path.
private struct Ways {
  static let plan = Plan(
    scenario: "test", seed: 1, rooms: (0..<9).map { .group("a", $0) },
    clients: Array(repeating: .init(persona: .chatter, rooms: Array(0..<9)), count: 3), events: [],
    duration: 0, clientsLeftOut: 0, messagesLeftOut: 0)

  var quick = Oracle(Naming(plan, tag: "0123456789abcdef"))
  var slow = Oracle(Naming(plan, tag: "0123456789abcdef"))
  /// Entries that took the short path.
  var passed = 0
  private var heads: [Int: Int64] = [:]
  private var sends = 0

  init() { for client in 0..<3 { for room in 0..<9 { join(client, room, after: 0) } } }

  mutating func join(_ receiver: Int, _ room: Int, after: Int64) {
    each { oracle in
      oracle.asked(receiver, toJoin: room, after: after)
      oracle.joined(
        .init(
          room: oracle.naming.rooms[room], epoch: "e", head: after, first: 1, after: after,
          resume: .ok, read: 0, received: 0, members: nil), by: receiver)
    }
  }

  private mutating func each(_ body: (inout Oracle) -> Void) {
    body(&quick)
    body(&slow)
  }

  /// The first client sends; the relay stores it under the room's next number.
  mutating func say(in room: Int = 0, bytes: Int = 40) -> Entry {
    sends += 1
    let id = Naming.SendID(client: 0, number: sends)
    let text = "text \(sends) " + String(repeating: "x", count: bytes)
    let intended = UInt64(sends)
    each { oracle in
      oracle.sends(id, room: room, text: text, intended: intended)
      oracle.transmitted(id)
    }
    heads[room, default: 0] += 1
    let send = ClientMessage.Send(
      room: quick.naming.rooms[room], id: quick.naming.id(of: id), text: text)
    return Entry(
      room: send.room, seq: heads[room] ?? 0, id: send.id, from: quick.naming.users[0], at: 1000,
      kind: .text, body: send.body)
  }

  static func frame(_ entry: Entry) -> [UInt8] {
    var payload: [UInt8] = []
    entry.append(to: &payload)
    var frame: [UInt8] = []
    Connection.appendMessage(.text, payload.span, to: &frame)
    return frame
  }

  /// Gives a receiver these frames in one piece, as `Peer` does.
  mutating func give(_ frames: [[UInt8]], to receiver: Int) throws {
    var bytes = frames.flatMap(\.self)
    var connection = Connection(role: .client, limits: Link.limits)
    var offset = 0
    var all: [Entry] = []
    while true {
      while let run = known(bytes, offset, receiver) {
        // Passed entries are those that the long path would have been given.
        var (at, count) = (offset, 0)
        while let entry = try Self.next(&bytes, &at, &connection), count < run.count {
          all.append(entry)
          count += 1
          if count == run.count { break }
        }
        #expect(at == offset + run.bytes)
        #expect(Array(quick.intended(of: run)).count == run.count)
        quick.pass(run)
        passed += run.count
        offset += run.bytes
      }
      guard let entry = try Self.next(&bytes, &offset, &connection) else { break }
      all.append(entry)
      var payload: [UInt8] = []
      entry.append(to: &payload)
      _ = quick.delivered(entry, to: receiver, payload: payload.span)
    }
    for entry in all { _ = slow.delivered(entry, to: receiver) }
    expectSame()
  }

  private func known(_ bytes: [UInt8], _ offset: Int, _ receiver: Int) -> Oracle.KnownRun? {
    quick.known(bytes.span.extracting(offset..<bytes.count), to: receiver)
  }

  private static func next(
    _ bytes: inout [UInt8], _ offset: inout Int, _ connection: inout Connection
  ) throws -> Entry? {
    var output: [UInt8] = []
    var input = bytes.mutableSpan
    let event = try connection.next(in: &input, at: &offset, output: &output, maskKey: { 0 })
    guard case .message(_, .input(let range)) = event else { return nil }
    return try Entry(decoding: input.span.extracting(range))
  }

  func expectSame() {
    #expect(quick.counts == slow.counts)
    #expect(quick.violations == slow.violations)
    #expect(quick.deliveries == slow.deliveries)
    for receiver in 0..<3 { #expect(quick.isAtHead(receiver) == slow.isAtHead(receiver)) }
  }

  /// Ten entries that the first receiver has had: the second and third are given a form of them
  /// that a test changes.
  static func afterTen() throws -> (Ways, [[UInt8]]) {
    var ways = Ways()
    let frames = (0..<10).map { _ in frame(ways.say()) }
    try ways.give(frames, to: 0)
    #expect(ways.passed == 0)
    return (ways, frames)
  }
}

@Suite struct `Entries that were checked before` {
  @Test func `are accepted for all other receivers without another check`() throws {
    var (ways, frames) = try Ways.afterTen()
    try ways.give(frames, to: 1)
    try ways.give(Array(frames[..<4]), to: 2)
    try ways.give(Array(frames[4...]), to: 2)
    #expect(ways.passed == 20)
    #expect(ways.quick.counts == [:])
    #expect(ways.quick.deliveries == 30)
    #expect((0..<3).allSatisfy { ways.quick.cursors[$0][0].next == 11 })
  }

  @Test func `are accepted in any of a receiver's rooms`() throws {
    var ways = Ways()
    var random = SplitMix64(seed: 5)
    let frames = (0..<200).map { _ in Ways.frame(ways.say(in: random.below(9))) }
    try ways.give(frames, to: 0)
    try ways.give(frames, to: 1)
    try ways.give(frames, to: 2)
    #expect(ways.passed == 400)
    #expect(ways.quick.counts == [:])
  }

  @Test func `and altered in any one byte are not passed`() throws {
    let (clean, frames) = try Ways.afterTen()
    for position in frames[4].indices {
      var altered = frames[4]
      altered[position] ^= 1
      let bytes = frames[0...3].flatMap(\.self) + altered
      var ways = clean
      for (offset, frame) in frames[0...3].enumerated() {
        let run = ways.quick.known(frame.span, to: 1)
        #expect(run?.count == 1)
        #expect(run?.first == Int64(offset) + 1)
        if let run { ways.quick.pass(run) }
      }
      #expect(ways.quick.known(altered.span, to: 1) == nil)
      #expect(clean.quick.known(bytes.span, to: 1)?.count == 4, "only what comes before it")
    }
  }

  @Test func `and altered are detected on the long path`() throws {
    var (ways, frames) = try Ways.afterTen()
    frames[4][frames[4].count - 4] ^= 1
    try ways.give(frames, to: 1)
    #expect(ways.quick.counts == [.altered: 1])
    #expect(ways.passed == 9)
  }

  @Test func `that arrive twice are duplicates`() throws {
    var (ways, frames) = try Ways.afterTen()
    frames.insert(frames[6], at: 7)
    try ways.give(frames, to: 1)
    #expect(ways.quick.counts == [.doubled: 1])
  }

  @Test func `and change places are reordered`() throws {
    var (ways, frames) = try Ways.afterTen()
    frames.swapAt(2, 3)
    try ways.give(frames, to: 1)
    #expect(ways.quick.counts == [.reordered: 1])
  }

  @Test func `and are left out are a gap`() throws {
    var (ways, frames) = try Ways.afterTen()
    frames.remove(at: 5)
    try ways.give(frames, to: 1)
    ways.join(1, 0, after: 10)
    #expect(ways.quick.counts == [.gap: 1])
    ways.expectSame()
  }

  @Test func `and have not been joined are invented`() throws {
    var (ways, frames) = try Ways.afterTen()
    ways.quick.disconnected(1)
    ways.slow.disconnected(1)
    try ways.give(frames, to: 1)
    #expect(ways.quick.counts == [.invented: 10])
    #expect(ways.passed == 0)
  }

  @Test func `are checked again if a relay writes them differently for each receiver`() throws {
    var ways = Ways()
    let entries = (0..<10).map { _ in ways.say() }
    for receiver in 0..<3 {
      let frames = entries.map { entry in
        var payload: [UInt8] = []
        entry.append(to: &payload)
        payload.insert(contentsOf: Array("\"n\":\(receiver),".utf8), at: 1)
        var frame: [UInt8] = []
        Connection.appendMessage(.text, payload.span, to: &frame)
        return frame
      }
      try ways.give(frames, to: receiver)
    }
    #expect(ways.passed == 0)
    #expect(ways.quick.counts == [:])
  }

  @Test func `are stored only if nothing is wrong with them`() throws {
    var ways = Ways()
    var entry = ways.say()
    entry.from = ways.quick.naming.users[1]
    for receiver in 0..<3 { try ways.give([Ways.frame(entry)], to: receiver) }
    #expect(ways.passed == 0)
    #expect(ways.quick.counts == [.altered: 3])
  }

  @Test func `at the end of the input wait for the rest of their frame`() throws {
    let (ways, frames) = try Ways.afterTen()
    let bytes = Array(frames.flatMap(\.self).dropLast())
    #expect(ways.quick.known(bytes.span, to: 1)?.count == 9)
    #expect(ways.quick.known(bytes.span.extracting(0..<0), to: 1) == nil)
    for count in 1..<frames[0].count {
      #expect(ways.quick.known(bytes.span.extracting(0..<count), to: 1) == nil)
    }
  }
}

@Suite struct `The newest entries of a room` {
  private func payload(_ seq: Int64, bytes: Int = 30) -> [UInt8] {
    Array("\(seq) ".utf8) + Array(repeating: UInt8(ascii: "x"), count: bytes)
  }

  @Test func `stay within their memory limit by dropping the oldest`() {
    var tape = RoomTape()
    for seq in 1...1000 as ClosedRange<Int64> {
      tape.append(payload(seq).span, seq: seq, intended: UInt64(seq), limitBytes: 2000)
      #expect(tape.end == seq + 1)
      #expect(tape.end - tape.first <= 64)
      #expect(tape.payload(seq).map(Array.init) == payload(seq))
      #expect(Array(tape.intended(from: seq, count: 1)) == [UInt64(seq)])
    }
    #expect(tape.first > 900)
    #expect(tape.payload(1) == nil)
    #expect(tape.run(in: payload(1).span, from: 1).frames == 0)
  }

  @Test func `an entry beyond the memory limit is dropped immediately`() {
    var tape = RoomTape()
    for seq in 1...3 as ClosedRange<Int64> {
      tape.append(payload(seq, bytes: 70_000).span, seq: seq, intended: 0, limitBytes: 1000)
    }
    #expect(tape.end == 4)
    #expect(tape.first == 4)
    tape.append(payload(4).span, seq: 4, intended: 0, limitBytes: 1000)
    #expect(tape.payload(4).map(Array.init) == payload(4))
  }

  @Test func `start again after a gap, and never go back`() {
    var tape = RoomTape()
    for seq in [1, 2, 9, 3, 10] as [Int64] {
      tape.append(payload(seq).span, seq: seq, intended: 0, limitBytes: 1000)
    }
    #expect(tape.first == 9)
    #expect(tape.end == 11)
  }

  @Test func `all rooms together have a limit as well`() {
    #expect(Oracle.tapeLimit(rooms: 1) == 1 << 20)
    #expect(Oracle.tapeLimit(rooms: 1000) * 1000 <= 64 << 20)
    #expect(Oracle.tapeLimit(rooms: 1_000_000) == 4 << 10)
  }
}

@Suite struct `Rooms by the bytes of their names` {
  @Test func `all are found, and nothing else`() {
    let names = (0..<5000).map { "sw-0123abcd-crowd-\($0)" }
    let finder = RoomFinder(names)
    for (index, name) in names.enumerated() { #expect(finder.room(Array(name.utf8).span) == index) }
    for name in ["", "sw-0123abcd-crowd-5000", "sw-0123abcd-crowd-", "x"] {
      #expect(finder.room(Array(name.utf8).span) == nil)
    }
  }

  @Test(arguments: [2, 40, 70_000]) func `a payload is found after a frame header of any length`(
    bytes: Int
  ) {
    let finder = RoomFinder(["a", "b"])
    let entry = Entry(
      room: "b", seq: 1, id: "i", from: "u", at: 1, kind: .text,
      body: Array("\"text\":\"".utf8) + Array(repeating: 97, count: bytes) + [34])
    let frame = Ways.frame(entry)
    #expect(finder.room(ofFrame: frame.span) == 1)
    for count in 0..<30 { #expect(finder.room(ofFrame: frame.span.extracting(0..<count)) == nil) }
  }

  @Test func `an empty list contains no room`() {
    #expect(RoomFinder([]).room(Array("a".utf8).span) == nil)
  }
}
