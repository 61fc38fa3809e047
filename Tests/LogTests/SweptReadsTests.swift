import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

@Suite struct `Reading while entries are swept` {
  private final class Calls: @unchecked Sendable {
    var count = 0
    var action: () throws -> Void = {}
  }

  @Test func `is not a reason to discard the index`() throws {
    let folder = try TemporaryFolder()
    let harness = try StoreHarness(folder["data"], keep: 1000)
    harness.send(1...1000)
    try harness.index()
    // Positions are looked up 256 at a time: after the first of each attempt the room is trimmed,
    // so that the next are gone from the index, though not from what the attempt reads.
    let calls = Calls()
    var next = 1001
    calls.action = {
      harness.send(next...next + 399)
      next += 400
      try harness.index()
      try harness.sweep()
    }
    let answer = harness.reader.answer(
      .entries(.test, room: "general", user: "ada", after: 0, through: .max, limitBytes: 1 << 20),
      Framing { _, frames in
        if calls.count % 256 == 0 { try? calls.action() }
        calls.count += 1
        frames += [0, 0, 0, 0]
      })
    guard case .entries(_, let page) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(page.failed)
    #expect(calls.count == 3 * 256)
    #expect(folder.bytes(of: "data/index.db") > 0)
    calls.action = {}
    #expect(harness.ids(after: 2000).count == next - 2001)
  }
}
