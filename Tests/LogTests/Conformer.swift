import Platform
import PostgresLog
import Relay
import SQLiteLog
import TestSupport
import Testing

/// Every `Log`. All pass the suite for the contract.
enum Conformer: String, CaseIterable, CustomTestStringConvertible {
  case memory
  case sqlite
  /// Like one that has run for long: most of its entries are indexed.
  case sqliteIndexing
  case postgres

  var testDescription: String { rawValue }

  /// Runs a test against a log of its own, and stops the log.
  /// - Parameter retention: instead of a number of entries; looks every few milliseconds at what is no
  ///   longer kept.
  func run(
    loops: Int = 1, keepEntriesPerRoom: Int64 = 0, retention: Retention? = nil,
    limits: EntryLimits = EntryLimits(), _ test: (LogHarness) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let log: any Log
    switch self {
    case .memory:
      log = MemoryLog(
        epoch: "memory-epoch", retention: retention ?? .keeping(keepEntriesPerRoom), limits: limits,
        clock: { retention == nil ? 1_000 : WallClock.milliseconds })
    case .sqlite, .sqliteIndexing:
      log = try SQLiteLog(
        folder: folder["data"], keepEntriesPerRoom: keepEntriesPerRoom, retention: retention,
        limits: limits, segmentEntries: self == .sqlite ? nil : 3,
        tickMilliseconds: retention == nil ? nil : 20)
    case .postgres:
      let server = try PostgresServer.shared.get()
      var options = PostgresLog.Options()
      options.schema = server.newSchema()
      options.requiresSync = false
      options.retention = retention ?? .keeping(keepEntriesPerRoom)
      if retention != nil { options.retentionMilliseconds = 20 }
      options.limits = limits
      log = try PostgresLog(
        url: server.url, options: options, report: { Issue.record("\($0)") },
        end: { Issue.record("\($0)") })
    }
    let harness = try LogHarness(log, loops: loops)
    defer { log.stop() }
    try await test(harness)
  }
}

extension SQLiteLog {
  convenience init(
    folder: String, keepEntriesPerRoom: Int64 = 0, retention: Retention? = nil,
    limits: EntryLimits = EntryLimits(), durability: Durability = .fsync,
    segmentEntries: Int? = nil, tickMilliseconds: Int? = nil,
    clock: (@Sendable () -> Int64)? = nil,
    report: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    var options = Options()
    options.durability = durability
    options.retention = retention ?? .keeping(keepEntriesPerRoom)
    options.limits = limits
    options.segmentEntries = segmentEntries
    if let tickMilliseconds { options.tickMilliseconds = tickMilliseconds }
    if let clock { options.clock = clock }
    try self.init(folder: folder, options: options, report: report)
  }
}
