import ShardWorld
import Testing
import Wire

@testable import Relay

private let session = SessionID(index: 1, generation: 0)

/// Entries that refer to others, and how many entries the log reads for them.
@Suite struct `The cost of changed entries` {
  private typealias Send = ClientMessage.Send

  private struct Harness {
    var store = countingStore()
    var sequencer = Sequencer(
      lineage: Lineage([.init(number: 1, name: "new")]), retention: Retention(),
      limits: EntryLimits(editsPerEntry: 0, reactionsPerEntry: 0), loops: 1)

    mutating func submit(_ sends: [(Send, from: String)]) -> Sequencer.Outcome {
      let requests = sends.map { send, user in
        LogRequest.append(
          .init(
            session: session, room: send.room, user: user, id: send.id, kind: send.kind,
            body: send.body, reference: send.reference, mayCreate: true))
      }
      return sequencer.process(
        [(0, requests)], store: &store, now: 1000, framing: SimulatedSocket.framing)
    }

    mutating func history(
      before: Int64? = nil, after: Int64? = nil, limit: Int
    ) throws -> ServerMessage.HistoryPage {
      let request = ReadRequest.history(
        session, .init(room: "r", before: before, after: after, limit: limit, isFolded: true),
        by: .init(user: "ada", now: 0), mayCreate: false, limitBytes: 131_072)
      let answer = request.answer(from: &store, sequencer.lineage, SimulatedSocket.framing)
      guard case .reply(_, let json) = answer,
        case .history(let page) = try ServerMessage(decoding: json.span)
      else { throw StoreFailure("no page") }
      return page
    }
  }

  private static func text(_ id: String) -> (Send, from: String) {
    (Send(room: "r", id: id, text: "hi"), "ada")
  }

  private static func reactions(_ count: Int, to target: Int64) -> [(Send, from: String)] {
    (0..<count).map {
      (
        Send(room: "r", id: "\(target)-\($0)", react: target, emoji: "👍", isOn: $0 % 2 == 0),
        from: "bo"
      )
    }
  }

  @Test func `a forward and a deletion read the entry and its last edit, of three thousand`() {
    var harness = Harness()
    _ = harness.submit([Self.text("1"), Self.text("2")])
    for batch in 0..<3 {
      _ = harness.submit(
        (0..<1000).map {
          (Send(room: "r", id: "\(batch)-\($0)", edit: 1, text: "edit \(batch)-\($0)"), from: "ada")
        })
    }
    var before = harness.store.meter.total(.entries)
    let forward = Send(room: "q", id: "f", forward: Forward(room: "r", seq: 1))
    _ = harness.submit([(forward, from: "ada")])
    #expect(harness.store.commits.last?.entries.map(\.entry.text) == ["edit 2-999"])
    #expect(harness.store.meter.total(.entries) - before == 2)
    before = harness.store.meter.total(.entries)
    let deleted = harness.submit([(Send(room: "r", id: "d", delete: 1), from: "ada")])
    #expect(deleted.commit?.redactions.map(\.through) == [3002])
    #expect(harness.store.meter.total(.entries) - before == 2)
    #expect(harness.store.commits.last?.redactions.count == 1)
  }

  @Test func `a folded page reads nothing of the changes between its entries`() throws {
    var harness = Harness()
    var texts: [Int64] = []
    var head: Int64 = 0
    for round in 0..<20 {
      _ = harness.submit([Self.text("t\(round)")])
      texts.append(head + 1)
      let count = round % 4 == 3 ? 1000 : round * 7
      _ = harness.submit(Self.reactions(count, to: head + 1))
      head += Int64(count) + 1
    }
    for isForward in [false, true] {
      let (entries, counts) = (
        harness.store.meter.total(.entries), harness.store.meter.total(.changeCounts)
      )
      let page = try harness.history(after: isForward ? 0 : nil, limit: 50)
      #expect(page.entries.map(\.seq) == texts)
      #expect(!page.more)
      #expect(harness.store.meter.total(.entries) - entries < 20 * 3 * Int(Gathering.shortestRange))
      #expect(harness.store.meter.total(.changeCounts) - counts < 20 * 2 * 32)
      let first = try harness.history(after: isForward ? 0 : nil, limit: 1)
      #expect(first.entries.map(\.seq) == [isForward ? texts[0] : texts[19]])
      #expect(first.more)
    }
    // If only changes are left, the reply says so immediately.
    let (entries, counts) = (
      harness.store.meter.total(.entries), harness.store.meter.total(.changeCounts)
    )
    let rest = try harness.history(after: texts[19], limit: 50)
    #expect(rest.entries.isEmpty)
    #expect(!rest.more)
    #expect(harness.store.meter.total(.entries) == entries)
    #expect(harness.store.meter.total(.changeCounts) - counts < 64)
  }

  @Test func `a page makes a bounded number of lookups, and the next one continues there`() throws {
    var harness = Harness()
    let gap = 64
    for round in 0..<250 {
      let target = Int64(round * (gap + 1) + 1)
      _ = harness.submit([Self.text("t\(round)")] + Self.reactions(gap, to: target))
    }
    var seen: [Int64] = []
    var pages = 0
    var before: Int64?
    repeat {
      let counts = harness.store.meter.total(.changeCounts)
      let page = try harness.history(before: before, limit: 500)
      #expect(harness.store.meter.total(.changeCounts) - counts <= Gathering.countLimit + 128)
      seen = page.entries.map(\.seq) + seen
      before = page.more ? page.entries.first?.seq : nil
      pages += 1
    } while before != nil
    #expect(seen == (0..<250).map { Int64($0 * (gap + 1) + 1) })
    #expect(pages > 1)
  }

  @Test func `folding reads as many users of a reaction as it names`() throws {
    var harness = Harness()
    _ = harness.submit([Self.text("1")])
    _ = harness.submit(
      (0..<4000).map {
        (
          Send(room: "r", id: "x", react: 1, emoji: $0 % 2 == 0 ? "👍" : "🎉", isOn: true),
          from: "user\($0)"
        )
      })
    let (entries, users) = (harness.store.meter.total(.entries), harness.store.meter.total(.users))
    let entry = try #require(try harness.history(limit: 50).entries.first)
    let named = entry.reactions.reduce(0) { $0 + $1.users.count }
    #expect(named < 2000)
    #expect(entry.reactions.map(\.users.count).allSatisfy { $0 > 500 })
    #expect(entry.reactionsMore.values.reduce(0, +) == Int64(4000 - named))
    #expect(harness.store.meter.total(.users) - users <= named + 2)
    #expect(harness.store.meter.total(.entries) - entries <= 20)
  }

  @Test func `a reply has as many last entries of rooms as fit`() {
    var harness = Harness()
    let data = Array("\"data\":\"\(String(repeating: "x", count: 60_000))\"".utf8)
    for room in 0..<50 {
      _ = harness.submit([(Send(room: "r\(room)", id: "1", kind: .data, body: data), from: "ada")])
    }
    let request = ReadRequest.glimpses(
      session, (0..<50).map { (room: "r\($0)", seq: 1) }, by: .init(user: "ada", now: 0))
    guard
      case .glimpses(_, let glimpses) = request.answer(
        from: &harness.store, harness.sequencer.lineage, SimulatedSocket.framing)
    else {
      Issue.record("no answer")
      return
    }
    #expect(glimpses.count == 2)
    #expect(glimpses.allSatisfy { $0.last != nil })
  }

  @Test func `a limit that only a refused batch reached does not refuse later entries`() {
    var harness = Harness()
    harness.sequencer = Sequencer(
      lineage: Lineage([.init(number: 1, name: "new")]), retention: Retention(),
      limits: EntryLimits(editsPerEntry: 1), loops: 1)
    _ = harness.submit([Self.text("1")])
    harness.store.failsCommits = true
    let refused = harness.submit([
      (Send(room: "r", id: "2", edit: 1, text: "a"), from: "ada"),
      (Send(room: "r", id: "3", edit: 1, text: "b"), from: "ada"),
    ])
    #expect(
      refused.answers[0].allSatisfy {
        if case .refused(_, let error) = $0 { error.code == .unavailable } else { false }
      })
  }
}
