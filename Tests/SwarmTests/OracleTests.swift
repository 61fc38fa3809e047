import Testing
import Wire

@testable import Swarm

/// A minimal relay for the oracle to watch, and the faults that a test plants in it.
struct OracleScene {
  static let plan = Plan(
    scenario: "test", seed: 1, rooms: [.group("a", 0), .group("b", 0)],
    clients: Array(repeating: .init(persona: .chatter, rooms: [0, 1]), count: 3), events: [],
    duration: 0, clientsLeftOut: 0, messagesLeftOut: 0)

  var oracle = Oracle(Naming(plan, tag: "0123456789abcdef"))
  /// The content of the log, by room.
  var log: [[Entry]] = [[], []]
  private var counts = [0, 0, 0]

  init(joining: Bool = true, mayFork: Bool = false) {
    oracle = Oracle(oracle.naming, mayFork: mayFork)
    guard joining else { return }
    for client in 0..<3 { for room in 0..<2 { join(client, room) } }
  }

  var naming: Naming { oracle.naming }

  mutating func join(
    _ receiver: Int, _ room: Int, after: Int64? = nil, told: Int64? = nil,
    _ resume: ServerMessage.Resume = .ok
  ) {
    let head = Int64(log[room].count)
    oracle.asked(receiver, toJoin: room, after: after)
    oracle.joined(
      .init(
        room: naming.rooms[room], epoch: "e", head: head, first: 1, after: told ?? after ?? head,
        resume: resume, read: 0, received: 0, members: nil), by: receiver)
  }

  /// Sends as a client; the relay stores it.
  mutating func send(from client: Int, to room: Int, transmitted: Bool = true) -> Entry {
    counts[client] += 1
    let id = Naming.SendID(client: client, number: counts[client])
    let text = "text \(client) \(counts[client])"
    oracle.sends(id, room: room, text: text, intended: UInt64(counts[client]))
    if transmitted { oracle.transmitted(id) }
    let send = ClientMessage.Send(room: naming.rooms[room], id: naming.id(of: id), text: text)
    let entry = Entry(
      room: send.room, seq: Int64(log[room].count) + 1, id: send.id, from: naming.users[client],
      at: 1000, kind: .text, body: send.body)
    log[room].append(entry)
    return entry
  }

  mutating func ack(_ entry: Entry, seq: Int64? = nil) {
    _ = oracle.acknowledged(
      .init(room: entry.room, id: entry.id, seq: seq ?? entry.seq, at: entry.at, duplicate: false),
      to: naming.send(ofID: entry.id)?.client ?? 0)
  }

  mutating func deliver(_ entry: Entry, to receivers: Int...) {
    for receiver in receivers { _ = oracle.delivered(entry, to: receiver) }
  }

  /// The usual way: stored, acknowledged, delivered to every client.
  @discardableResult
  mutating func say(from client: Int, to room: Int = 0) -> Entry {
    let entry = send(from: client, to: room)
    ack(entry)
    deliver(entry, to: 0, 1, 2)
    return entry
  }

  /// Reads the whole log as a fresh reader, and lets the oracle judge.
  mutating func finish() -> Oracle.Verdict {
    for room in log.indices {
      let reader = oracle.addReader()
      join(reader, room, after: 0)
      for entry in log[room] { deliver(entry, to: reader) }
      oracle.readBack(room: room, upTo: Int64(log[room].count))
    }
    return oracle.finish()
  }

  var broken: [Promise: Int] { oracle.counts }
}

@Suite struct `The oracle` {
  @Test func `a relay that keeps its promises breaks none`() {
    var scene = OracleScene()
    for turn in 0..<300 { scene.say(from: turn % 3, to: turn % 2) }
    let verdict = scene.finish()
    #expect(scene.broken == [:])
    #expect(verdict.sends == 300)
    #expect(verdict.acknowledged == 300)
    #expect(verdict.unreadRooms == [])
    #expect(Set(verdict.digests.keys) == Set(scene.naming.rooms))
  }

  @Test func `reconnecting and catching up is no fault`() {
    var scene = OracleScene()
    scene.say(from: 0)
    scene.oracle.disconnected(2)
    let missed = scene.send(from: 0, to: 0)
    scene.ack(missed)
    scene.deliver(missed, to: 0, 1)
    scene.join(2, 0, after: 1)
    scene.deliver(missed, to: 2)
    #expect(scene.oracle.isAtHead(2) == false, "of room b it has no cursor yet")
    scene.join(2, 1, after: 0)
    #expect(scene.oracle.isAtHead(2))
    _ = scene.finish()
    #expect(scene.broken == [:])
  }

  @Test func `an acknowledged message that no client receives is lost`() throws {
    var scene = OracleScene()
    scene.say(from: 0)
    let lost = scene.send(from: 1, to: 0)
    scene.ack(lost)
    scene.log[0].removeLast()
    _ = scene.finish()
    #expect(scene.broken == [.lost: 1])
    let violation = try #require(scene.oracle.violations.first)
    #expect(violation.seqs == [2])
    #expect(violation.detail.contains(lost.id))
    #expect(violation.frames.contains { $0.hasPrefix("seq 1: ") })
  }

  @Test func `a delivered message that disappears is forgotten, also without an ack`() {
    var scene = OracleScene()
    scene.say(from: 0)
    let shown = scene.send(from: 1, to: 0)
    scene.deliver(shown, to: 0, 1, 2)
    scene.log[0].removeLast()
    _ = scene.finish()
    #expect(scene.broken == [.forgotten: 1])
  }

  @Test(arguments: [ServerMessage.Resume.diverged, .reset])
  func `a resume that drops a client's entries is a broken promise`(resume: ServerMessage.Resume) {
    var scene = OracleScene()
    scene.say(from: 0)
    scene.oracle.disconnected(2)
    scene.join(2, 0, after: 1, told: 0, resume)
    #expect(scene.broken == [.forgotten: 1])
  }

  @Test func `an entry given twice to one cursor is duplicated`() {
    var scene = OracleScene()
    let entry = scene.say(from: 0)
    scene.deliver(entry, to: 1)
    #expect(scene.broken == [.doubled: 1])
  }

  @Test func `one message under two numbers is duplicated, and so are its acks`() {
    var scene = OracleScene()
    var twice = scene.say(from: 0)
    twice.seq = 2
    scene.log[0].append(twice)
    scene.deliver(twice, to: 0, 1, 2)
    #expect(scene.broken == [.doubled: 1])
    scene.ack(twice)
    #expect(scene.broken == [.doubled: 2])
  }

  @Test func `an entry left out is a gap, found when the cursor is set again or the run ends`() {
    var scene = OracleScene()
    let missing = scene.send(from: 0, to: 0)
    scene.ack(missing)
    scene.deliver(missing, to: 0, 1)
    scene.say(from: 0)
    #expect(scene.broken == [:], "it may come yet")
    scene.join(2, 0, after: 0)
    #expect(scene.broken == [.gap: 1])
    #expect(scene.oracle.violations[0].seqs == [1])
  }

  @Test func `a client that lacks the last entries has a gap`() {
    var scene = OracleScene()
    let entry = scene.send(from: 0, to: 0)
    scene.ack(entry)
    scene.deliver(entry, to: 0, 1)
    for receiver in 0..<3 { scene.oracle.demandHead(of: receiver) }
    #expect(scene.broken == [.gap: 1])
    #expect(scene.oracle.violations[0].detail.hasPrefix(scene.naming.users[2]))
  }

  @Test func `a cursor that is set elsewhere than requested is a gap`() {
    var scene = OracleScene()
    for _ in 0..<3 { scene.say(from: 0) }
    scene.oracle.disconnected(1)
    scene.join(1, 0, after: 1, told: 3)
    #expect(scene.broken == [.gap: 1])
  }

  @Test func `two entries that change places on one connection are reordered`() {
    var scene = OracleScene()
    let (first, second) = (scene.send(from: 0, to: 0), scene.send(from: 1, to: 0))
    scene.deliver(first, to: 0, 1)
    scene.deliver(second, to: 0, 1)
    scene.deliver(second, to: 2)
    scene.deliver(first, to: 2)
    _ = scene.finish()
    #expect(scene.broken == [.reordered: 1])
    #expect(scene.oracle.violations[0].seqs == [1, 2])
  }

  @Test func `a sender's messages in another order than they were sent are reordered`() {
    var scene = OracleScene()
    var (first, second) = (scene.send(from: 0, to: 0), scene.send(from: 0, to: 0))
    (first.seq, second.seq) = (2, 1)
    scene.log[0] = [second, first]
    for entry in scene.log[0] {
      scene.ack(entry)
      scene.deliver(entry, to: 0, 1, 2)
    }
    _ = scene.finish()
    #expect(scene.broken == [.reordered: 1])
  }

  @Test func `two receivers with different entries under one number have two orders`() {
    var scene = OracleScene()
    var (first, second) = (scene.send(from: 0, to: 0), scene.send(from: 1, to: 0))
    scene.deliver(first, to: 0, 1)
    scene.deliver(second, to: 0, 1)
    (first.seq, second.seq) = (2, 1)
    scene.deliver(second, to: 2)
    scene.deliver(first, to: 2)
    _ = scene.finish()
    #expect(scene.broken == [.twoOrders: 2])
  }

  @Test func `every change to an entry is detected`() {
    let changes: [(inout Entry, OracleScene) -> Void] = [
      { entry, _ in entry.body[entry.body.count - 2] ^= 1 },
      { entry, scene in entry.from = scene.naming.users[2] },
      { entry, _ in entry.kind = .data },
    ]
    for change in changes {
      var scene = OracleScene()
      var entry = scene.send(from: 0, to: 0)
      scene.deliver(entry, to: 0, 1)
      change(&entry, scene)
      scene.deliver(entry, to: 2)
      #expect(scene.broken == [.altered: 1])
    }
    var scene = OracleScene()
    var entry = scene.say(from: 0)
    scene.oracle.disconnected(2)
    scene.join(2, 0, after: 0)
    entry.at += 1
    scene.deliver(entry, to: 2)
    #expect(scene.broken == [.altered: 1])
  }

  @Test func `an entry in another room than it was sent to is altered`() {
    var scene = OracleScene()
    var entry = scene.send(from: 0, to: 0)
    entry.room = scene.naming.rooms[1]
    scene.deliver(entry, to: 1)
    #expect(scene.broken == [.altered: 1])
  }

  @Test func `a message that no client sent is invented`() {
    var scene = OracleScene()
    var entry = scene.send(from: 0, to: 0)
    let id = entry.id
    entry.id = "x1"
    scene.deliver(entry, to: 0)
    entry.id = scene.naming.id(of: .init(client: 0, number: 7))
    entry.seq = 2
    scene.deliver(entry, to: 0)
    #expect(scene.broken == [.invented: 2])
    entry.id = id
    entry.seq = .max
    scene.deliver(entry, to: 0)
    #expect(scene.broken == [.invented: 3])
    // Sent by a client that had no connection, and stored nevertheless.
    let unsent = scene.send(from: 1, to: 1, transmitted: false)
    scene.deliver(unsent, to: 0)
    scene.ack(unsent)
    #expect(scene.broken == [.invented: 5])
  }

  @Test func `entries without a join are invented`() {
    var scene = OracleScene(joining: false)
    scene.deliver(scene.send(from: 0, to: 0), to: 1)
    #expect(scene.broken == [.invented: 1])
  }

  @Test func `an ack with another number than the entry's is detected`() {
    var scene = OracleScene()
    let (first, second) = (scene.send(from: 0, to: 0), scene.send(from: 1, to: 0))
    for entry in [first, second] { scene.deliver(entry, to: 0, 1, 2) }
    scene.ack(first, seq: 2)
    scene.ack(second)
    _ = scene.finish()
    #expect(scene.broken == [.misnumbered: 1])
  }

  @Test func `a clock that goes back within a room is detected`() {
    var scene = OracleScene()
    scene.say(from: 0)
    var early = scene.send(from: 1, to: 0)
    early.at = 999
    scene.log[0][1] = early
    scene.deliver(early, to: 0, 1, 2)
    _ = scene.finish()
    #expect(scene.broken == [.clock: 1])
  }

  @Test func `sends of unknown outcome are counted separately, and are not faults`() {
    var scene = OracleScene()
    let stored = scene.send(from: 0, to: 0)
    scene.deliver(stored, to: 0, 1, 2)
    _ = scene.send(from: 0, to: 0)
    scene.log[0].removeLast()
    _ = scene.send(from: 1, to: 0, transmitted: false)
    scene.log[0].removeLast()
    let refused = scene.send(from: 2, to: 0)
    scene.log[0].removeLast()
    let error = WireError(.forbidden, "no")
    scene.oracle.refused(scene.naming.send(ofID: refused.id) ?? .init(client: 0, number: 1), error)
    #expect(scene.oracle.unanswered.count == 3)
    let verdict = scene.finish()
    #expect(scene.broken == [:])
    #expect(verdict.unknownStored == 1)
    #expect(verdict.unknownAbsent == 1)
    #expect(verdict.missed == 1)
    #expect(verdict.refused == 1)
    #expect(verdict.acknowledged == 0)
  }

  @Test func `a send that is refused as a different one is a fault`() throws {
    var scene = OracleScene()
    let entry = scene.send(from: 0, to: 0)
    var error = WireError(.idConflict, "Entry 1 has this id.")
    error.seq = entry.seq
    scene.oracle.refused(try #require(scene.naming.send(ofID: entry.id)), error)
    #expect(scene.broken == [.conflict: 1])
    #expect(scene.oracle.violations.first?.seqs == [entry.seq])
  }

  @Test func `a room that could not be read proves nothing, and is named`() {
    var scene = OracleScene()
    let entry = scene.send(from: 0, to: 0)
    scene.ack(entry)
    let verdict = scene.oracle.finish()
    #expect(scene.broken == [:])
    #expect(verdict.unreadRooms == scene.naming.rooms)
  }

  @Test func `the digest of a room depends on contents and order`() {
    func digest(_ build: (inout OracleScene) -> Void) -> UInt64? {
      var scene = OracleScene()
      build(&scene)
      return scene.finish().digests[scene.naming.rooms[0]]
    }
    let one = digest {
      $0.say(from: 0); $0.say(from: 1)
    }
    #expect(
      one
        == digest {
          $0.say(from: 0); $0.say(from: 1)
        })
    #expect(
      one
        != digest {
          $0.say(from: 1); $0.say(from: 0)
        })
    #expect(one != digest { $0.say(from: 0) })
  }

  @Test func `a thousand breaches are counted, and the first hundred kept`() {
    var scene = OracleScene()
    let entry = scene.say(from: 0)
    for _ in 0..<1000 { scene.deliver(entry, to: 1) }
    #expect(scene.broken == [.doubled: 1000])
    #expect(scene.oracle.violations.count == 100)
  }
}
