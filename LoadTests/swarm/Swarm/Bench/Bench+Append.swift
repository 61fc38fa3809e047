internal import Glibc
internal import Platform
internal import YAML

/// Rows about the log alone, measured with `append-bench`.
extension Bench {
  /// A segment of entries.
  private struct Window {
    var stored: Double
    var entries: Double
    var seconds: Double
    var commitMicroseconds: Double
    var allMicroseconds: Double
    var longestMilliseconds: Double
  }

  /// Measures the commit path alone.
  func measureAppend() throws -> [BenchRow] {
    var rate = BenchRow(
      "append", "durable append, 500 rooms, 128 B: commit path", .entries, goal: .atLeast(250_000))
    var cost = BenchRow("append-cpu", "the same, per entry", .microseconds, goal: .atMost(2))
    let windows = try (0..<pairs).compactMap { _ in
      try append(["--commit-only"], entries: isQuick ? 100_000 : 1_000_000)?.first
    }
    guard !windows.isEmpty else { return Self.absent([rate, cost]) }
    rate.alone = BenchRow.median(windows.map { $0.entries / $0.seconds })
    cost.alone = BenchRow.median(windows.map(\.commitMicroseconds))
    return [rate, cost]
  }

  /// Measures the log with all of its background work, while the number of stored entries grows.
  func measureStored() throws -> [BenchRow] {
    let entries = isQuick ? 400_000 : settings.extent == .full ? 12_000_000 : 4_000_000
    let stored = BenchTable.figure(Double(entries), .entries)
    var rate = BenchRow(
      "stored", "durable append with indexing, 0 to \(stored) stored", .entries,
      goal: .atLeast(100_000))
    var cost = BenchRow("stored-cpu", "the same, per entry", .microseconds, goal: .atMost(9))
    var commit = BenchRow(
      "stored-commit", "the same: commit of an entry", .times, goal: .atMost(1.2))
    var all = BenchRow("stored-whole", "the same: all, by entries", .times, goal: .atMost(2))
    var stall = BenchRow("stored-stall", "the same: the longest commit", .milliseconds)
    // Indexing runs in bursts; a window must contain several.
    guard let windows = try append(["--window", "\(entries / 4)"], entries: entries) else {
      return Self.absent([rate, cost, commit, all, stall])
    }
    let total = windows.map(\.entries).reduce(0, +)
    let seconds = windows.map(\.seconds).reduce(0, +)
    rate.alone = total / max(seconds, 1e-9)
    rate.notes = ["for \(Decimal.text(seconds)) s"]
    cost.alone = windows.map { $0.allMicroseconds * $0.entries }.reduce(0, +) / max(total, 1)
    stall.alone = windows.map(\.longestMilliseconds).max()
    for window in windows {
      commit.points.append(.init(line: "commit", x: window.stored, y: window.commitMicroseconds))
      all.points.append(.init(line: "all", x: window.stored, y: window.allMicroseconds))
    }
    return [rate, cost] + Self.judged([commit, all]) + [stall]
  }

  /// Measures the commit path with a growing number of rooms.
  func measureAppendRooms() throws -> [BenchRow] {
    var commit = BenchRow(
      "append-rooms", "rooms 1 to 50,000: commit of an entry", .times, goal: .atMost(1.2))
    for rooms in [1, 500, 50_000] {
      let windows = try (0..<pairs).compactMap { _ in
        try append(
          ["--commit-only", "--rooms", "\(rooms)"], entries: isQuick ? 100_000 : 500_000)?.first
      }
      guard let cost = BenchRow.median(windows.map(\.commitMicroseconds)) else {
        return Self.absent([commit])
      }
      commit.points.append(.init(line: "commit", x: Double(rooms), y: cost))
    }
    return Self.judged([commit])
  }

  private static func absent(_ rows: [BenchRow]) -> [BenchRow] {
    rows.map {
      var row = $0
      row.notes = ["append-bench is missing"]
      return row
    }
  }

  /// - Returns: `nil` if the program does not exist.
  private func append(_ arguments: [String], entries: Int) throws -> [Window]? {
    let program = "\(settings.commands)/append-bench"
    guard unsafe access(program, X_OK) == 0 else { return nil }
    let words =
      [program, "--json", "--entries", "\(entries)", "--data", temporaryFolder] + arguments
    let output: [UInt8]
    do throws(ChildProgram.Failure) {
      output = try ChildProgram.output(of: words, limitBytes: TextFile.limitBytes)
    } catch {
      throw Failure(description: "append-bench failed: \(error)")
    }
    let windows = YAMLDocument(output).root?.each("windows") { window in
      Window(
        stored: window.figure("stored") ?? 0, entries: window.figure("entries") ?? 0,
        seconds: window.figure("seconds") ?? 0,
        commitMicroseconds: window.figure("commit_cpu_us") ?? 0,
        allMicroseconds: window.figure("cpu_us") ?? 0,
        longestMilliseconds: window.figure("batch_max_ms") ?? 0)
    }
    guard let windows, !windows.isEmpty, windows.allSatisfy({ $0.seconds > 0 }) else {
      throw Failure(description: "append-bench printed no figures")
    }
    return windows
  }
}
