import ArgumentParser
import CommandMain
import Glibc
import Platform
import Relay
import SQLiteLog

/// The command `append-bench`: measures the log by itself, its rate, its cost and the CPU time of
/// its threads.
@main struct AppendBench: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "append-bench",
    abstract: "Append entries to a log on disk, and measure rate, CPU time, commits and start.",
    discussion: """
      CPU time is that of the log's own threads: "commit" sequences, encodes and stores entries, \
      "index" writes the index, "checkpoint" moves pages of the write-ahead log. The thread that \
      makes the requests is not counted. The folder is removed afterwards.
      """)

  @Option(help: "The number of entries to measure.") var entries = 1_000_000
  @Option(help: "The number of entries to store before measuring.") var stored = 0
  @Option(help: "The number of rooms.") var rooms = 500
  @Option(help: "The number of users who send to each room.") var users = 4
  @Option(help: "The number of entries per batch.") var batch = 512
  @Option(help: "The number of batches in flight.") var underWay = 2
  @Option(help: "The size of a text, in bytes.") var text = 128
  @Option(help: "Entries per second; 0 = as many as possible.") var rate = 0
  @Option(help: "The number of entries to keep per room; 0 = all.") var keep: Int64 = 0
  @Option(help: "The entries between two results; 0 = one result at the end.") var window = 0
  @Option(help: "The folder in which to create the log's folder.") var data = "/tmp"
  @Option(help: "Measure a log in this PostgreSQL instead, in the schema append_bench.") var url:
    String?
  @Option(help: "The number of logs that share that PostgreSQL, in this process.") var nodes = 1
  @Flag(help: "Commit only, without indexing.") var commitOnly = false
  @Flag(help: "Do not sync: entries survive the process, but not a power failure.") var unsynced =
    false
  @Flag(help: "Print one JSON object.") var json = false

  static func main() { runAsMain() }

  func validate() throws {
    guard entries > 0, rooms > 0, users > 0, batch > 0, underWay > 0, stored >= 0, nodes > 0 else {
      throw ValidationError("Numbers must be greater than 0.")
    }
  }

  func run() throws {
    if let url { return try ClusterRun(url: url, self).measure() }
    var template = Array("\(data)/append-bench.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else {
      throw ValidationError("Cannot create a folder in \(data). Use another with --data.")
    }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer {
      for file in ["relay.db", "index.db"] {
        for end in ["", "-wal", "-shm"] { _ = unsafe unlink("\(folder)/\(file)\(end)") }
      }
      _ = unsafe unlink("\(folder)/lock")
      _ = unsafe rmdir(folder)
    }

    var workload = Workload(rooms: rooms, usersPerRoom: users, textBytes: text)
    var results: [Result] = []
    do {
      let log = try open(folder)
      defer { log.stop() }
      let run = try Run(log, batch: batch, underWay: underWay)
      // Creates the rooms as well.
      _ = try run.append(max(stored, rooms), from: &workload, perSecond: 0)
      var left = entries
      while left > 0 {
        let count = window > 0 ? min(window, left) : left
        let measured = try run.append(count, from: &workload, perSecond: rate)
        left -= count
        results.append(Result(stored: max(stored, rooms) + entries - left, measured))
        if !json { print(results[results.count - 1].line) }
      }
    }
    let total = Double(max(stored, rooms) + entries)
    let bytes = (
      journal: Double(size("\(folder)/relay.db")) / total,
      index: Double(size("\(folder)/index.db")) / total
    )
    let start = try measureStart(folder)
    let summary = Summary(
      start: start.milliseconds, startCPU: start.cpu, journalBytes: bytes.journal,
      indexBytes: bytes.index,
      residentBytes: residentBytes())
    if json {
      print(Result.json(results, summary, self))
    } else {
      print(summary.line)
    }
  }

  private func open(_ folder: String) throws -> SQLiteLog {
    var options = SQLiteLog.Options()
    options.durability = unsynced ? .os : .fsync
    options.retention = .keeping(keep)
    if commitOnly { options.segmentEntries = .max }
    return try SQLiteLog(folder: folder, options: options) { StandardError.write("\($0)\n") }
  }

  /// Measures how long an existing log takes to accept requests.
  private func measureStart(_ folder: String) throws -> (milliseconds: Double, cpu: Double) {
    let start = Run.now
    let before = clock()
    let log = try open(folder)
    let run = try Run(log, batch: batch, underWay: 1)
    let time = Run.now - start
    let cpu = Double(clock() - before) / Double(CLOCKS_PER_SEC) * 1000
    withExtendedLifetime(run) { log.stop() }
    return (Double(time) / 1e6, cpu)
  }

  private func size(_ path: String) -> Int {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Returns the peak memory of this process.
  private func residentBytes() -> Int {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_maxrss * 1024
  }
}
