/// The cost of one segment of entries.
struct Result {
  /// The number of entries stored at its end.
  var stored: Int
  private let window: Run.Window

  init(stored: Int, _ window: Run.Window) {
    self.stored = stored
    self.window = window
  }

  private var perSecond: Int { Int(Double(window.entries) / window.seconds) }
  private func microseconds(_ nanoseconds: Int64) -> Double {
    Double(nanoseconds) / 1000 / Double(window.entries)
  }
  private var all: Int64 { window.commitTime + window.indexTime + window.checkpointTime }

  var line: String {
    """
    \(stored) stored: \(perSecond)/s; CPU per entry: commit \(round(microseconds(window.commitTime))) \
    + index \(round(microseconds(window.indexTime))) \
    + checkpoint \(round(microseconds(window.checkpointTime))) \
    = \(round(microseconds(all))) µs; batches p50 \(round(window.latencies.percentile(0.5))) \
    p99 \(round(window.latencies.percentile(0.99))) max \(round(Double(window.latencies.longest) / 1e6)) ms
    """
  }

  private var json: String {
    """
    {"stored":\(stored),"entries":\(window.entries),"seconds":\(round(window.seconds)),\
    "entries_per_s":\(perSecond),"commit_cpu_us":\(round(microseconds(window.commitTime))),\
    "index_cpu_us":\(round(microseconds(window.indexTime))),\
    "checkpoint_cpu_us":\(round(microseconds(window.checkpointTime))),\
    "cpu_us":\(round(microseconds(all))),"batches":\(window.commits),\
    "batch_p50_ms":\(round(window.latencies.percentile(0.5))),\
    "batch_p99_ms":\(round(window.latencies.percentile(0.99))),\
    "batch_p99_9_ms":\(round(window.latencies.percentile(0.999))),\
    "batch_max_ms":\(round(Double(window.latencies.longest) / 1e6))}
    """
  }

  static func json(_ results: [Result], _ summary: Summary, _ command: AppendBench) -> String {
    """
    {"rooms":\(command.rooms),"users_per_room":\(command.users),"batch":\(command.batch),\
    "under_way":\(command.underWay),"text_bytes":\(command.text),"rate":\(command.rate),\
    "keep":\(command.keep),"commit_only":\(command.commitOnly),\
    "durability":"\(command.unsynced ? "os" : "fsync")",\
    "windows":[\(results.map(\.json).joined(separator: ","))],\(summary.json)}
    """
  }
}

/// The figures that are measured once, at the end.
struct Summary {
  /// Milliseconds.
  var start: Double
  /// CPU time of the start.
  var startCPU: Double
  /// Bytes per entry in the files.
  var journalBytes: Double
  var indexBytes: Double
  /// The peak of the whole process.
  var residentBytes: Int

  var line: String {
    """
    start \(round(start)) ms (CPU \(round(startCPU))); on disk \(round(journalBytes)) + \(round(indexBytes)) bytes per entry; \
    at most \(residentBytes >> 20) MiB in memory
    """
  }

  var json: String {
    """
    "start_ms":\(round(start)),"start_cpu_ms":\(round(startCPU)),"journal_bytes_per_entry":\(round(journalBytes)),\
    "index_bytes_per_entry":\(round(indexBytes)),"resident_bytes":\(residentBytes)
    """
  }
}

/// Rounds to three decimals.
private func round(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
