import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

/// The memory and the lookups that are needed to distinguish new ids from known ones.
@Suite struct `Index segments` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func ids(_ range: ClosedRange<Int>) -> [String] { range.map(String.init) }

  @Test func `are few, however often the log is indexed`() throws {
    let harness = try StoreHarness(folder["data"])
    var most = 0
    var next = 1
    // Of all sizes, in an order that puts large ones after small ones.
    for round in 0..<200 {
      let count = [1, 70, 3, 400, 1][round % 5]
      harness.send(next...next + count - 1)
      next += count
      try harness.index()
      most = max(most, harness.store.shared.indexSegments)
    }
    // 19,000 entries: at most three for each power of four from 64 on.
    #expect(next == 19_001, "\(most)")
    #expect(most <= 15, "\(most)")
    for id in stride(from: 1, to: next, by: 37) {
      #expect(harness.send(id...id).map(\.duplicate) == [true])
    }
    #expect(harness.send(next...next).map(\.duplicate) == [false])
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    #expect(try SQL(folder["data/index.db"]).integer("SELECT count(*) FROM unfinished") == 0)
    let postings = try SQL(folder["data/index.db"]).integer(
      "SELECT sum(length(postings)) / 8 FROM identities")
    #expect(postings == Int64(next - 1))
  }

  @Test func `stay within their memory limit, and then need one lookup for each segment`()
    throws
  {
    let limit = 32 << 10
    func expectBounds(_ harness: StoreHarness, from first: Int) {
      #expect(harness.store.shared.filterBytes <= limit)
      let before = harness.store.probes
      harness.send(first...first + 99)
      let probes = harness.store.probes - before
      // The oldest index segments have no filter: each of them is searched for each entry.
      #expect(probes >= 100, "\(probes)")
      #expect(probes <= 100 * harness.store.shared.indexSegments, "\(probes)")
      for id in stride(from: 1, to: first, by: 501) {
        #expect(harness.send(id...id).map(\.duplicate) == [true])
      }
    }
    do {
      let harness = try StoreHarness(
        folder["data"], segmentEntries: 1000, filterLimitBytes: limit)
      for batch in 0..<20 {
        harness.send(batch * 1000 + 1...batch * 1000 + 1000)
        try harness.index()
      }
      expectBounds(harness, from: 20_001)
    }
    expectBounds(
      try StoreHarness(folder["data"], segmentEntries: 1000, filterLimitBytes: limit),
      from: 20_101)
  }

  @Test func `release the memory of entries that are no longer kept`() throws {
    let harness = try StoreHarness(folder["data"], keep: 100, segmentEntries: 1000)
    var most = 0
    for batch in 0..<60 {
      harness.send(batch * 500 + 1...batch * 500 + 500)
      try harness.index()
      try harness.sweep()
      most = max(most, harness.store.shared.filterBytes)
    }
    // Of 30,000 entries 100 are kept, and at most 1,600 existed at the same time.
    #expect(most <= 3 * 4 * 1600, "\(most)")
    #expect(harness.store.shared.indexSegments <= 6)
    #expect(harness.send(29_999...29_999).map(\.duplicate) == [true])
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `that are being merged are whole wherever the process ends`() throws {
    let harness = try StoreHarness(folder["data"], segmentEntries: 40_000)
    for batch in 0..<4 {
      harness.send(batch * 40_000 + 1...batch * 40_000 + 40_000)
      harness.store.shared.seal()
      while try harness.indexer.indexNext() {}
    }
    #expect(harness.store.shared.indexSegments == 4)
    var step = 0
    while try harness.indexer.mergeStep() {
      step += 1
      guard step % 7 == 3 else { continue }
      try folder.copy("data", to: "step-\(step)")
      let survivor = try StoreHarness(folder["step-\(step)"])
      #expect(survivor.store.discardedIndex == nil)
      #expect(survivor.send(1...1).map(\.duplicate) == [true])
      #expect(survivor.send(159_999...159_999).map(\.duplicate) == [true])
      try survivor.index()
      #expect(
        try SQL(folder["step-\(step)/index.db"]).integer(
          "SELECT sum(length(postings)) / 8 FROM identities") == 160_000)
      // Meanwhile as well, in the process that continues.
      #expect(harness.send(step * 1000...step * 1000).map(\.duplicate) == [true])
    }
    #expect(step > 8)
    #expect(harness.store.shared.indexSegments == 1)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }
}
