import Relay
import TestSupport
import Testing
import Wire

@testable import SQLiteLog

@Suite struct `What is read of an index before the store can be opened` {
  private let folder: TemporaryFolder
  private var data: String { folder["data"] }

  init() throws { folder = try TemporaryFolder() }

  private func open(_ filters: IndexFilters?) throws -> SQLiteLog {
    var options = SQLiteLog.Options()
    options.filters = filters
    return try SQLiteLog(folder: data, options: options) { Issue.record("\($0)") }
  }

  @Test func `serves the next process, with what the other one has indexed since`() async throws {
    let log = try SQLiteLog(folder: data)
    let harness = try LogHarness(log)
    await harness.submit((1...5000).map { .append("general", "ada", "\($0)") })
    log.prepareToStop()
    let filters = IndexFilters(readingAhead: data)
    #expect(filters.count == 1)
    // The other process goes on, and its index gets more.
    await harness.submit((5001...6000).map { .append("general", "ada", "\($0)") })
    log.stop()

    let next = try open(filters)
    let again = try LogHarness(next)
    let acks = await again.submit(
      [1, 4999, 5001, 6000, 6001].map { .append("general", "ada", "\($0)") }
    ).acks
    #expect(acks.map(\.seq) == [1, 4999, 5001, 6000, 6001])
    #expect(acks.map(\.duplicate) == [true, true, true, true, false])
    next.stop()
    #expect(try Store.verify(folder: data).breaks.isEmpty)
  }

  @Test func `of another store it is not used`() async throws {
    do {
      let log = try SQLiteLog(folder: folder["other"])
      let harness = try LogHarness(log)
      await harness.submit((1...3000).map { .append("general", "bo", "\($0)") })
      log.prepareToStop()
      log.stop()
    }
    let log = try SQLiteLog(folder: data)
    let harness = try LogHarness(log)
    await harness.submit((1...2000).map { .append("general", "ada", "\($0)") })
    log.prepareToStop()
    log.stop()
    let next = try open(IndexFilters(readingAhead: folder["other"]))
    let acks = await (try LogHarness(next)).submit([.append("general", "ada", "77")]).acks
    #expect(acks.map(\.duplicate) == [true])
    next.stop()
  }

  @Test func `is nothing where there is no index`() {
    #expect(IndexFilters(readingAhead: folder["nothing"]).count == 0)
  }
}

@Suite struct `A log that is about to stop` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `has indexed and moved what the next start would read`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    let harness = try LogHarness(log)
    await harness.submit((1...5000).map { .append("general", "ada", "\($0)") })
    #expect(log.statistics().unindexedEntries == 5000)
    log.prepareToStop()
    #expect(log.statistics().unindexedEntries == 0)
    // It still works.
    let acks = await harness.submit([.append("general", "ada", "5001")]).acks
    #expect(acks.map(\.seq) == [5001])
    log.stop()
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `is not waited for if its indexer cannot write`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    let harness = try LogHarness(log)
    await harness.submit((1...100).map { .append("general", "ada", "\($0)") })
    try run("rm", folder["data/index.db"])
    try run("mkdir", folder["data/index.db"])
    log.prepareToStop()
    let acks = await harness.submit([.append("general", "ada", "101")]).acks
    #expect(acks.map(\.seq) == [101])
    log.stop()
  }
}
