import Platform
import PostgresLog
import Relay
import Synchronization

/// Several logs that share a PostgreSQL, each under its part of the load.
struct ClusterRun {
  var url: String
  var command: AppendBench

  init(url: String, _ command: AppendBench) {
    self.url = url
    self.command = command
  }

  private struct Failed: Error, CustomStringConvertible { var description: String }

  func measure() throws {
    var options = PostgresLog.Options()
    options.schema = "append_bench"
    options.retention = .keeping(command.keep)
    options.requiresSync = !command.unsynced
    var logs: [PostgresLog] = []
    defer { for log in logs { log.stop() } }
    for _ in 0..<command.nodes {
      logs.append(
        try PostgresLog(
          url: url, options: options, report: { StandardError.write("\($0)\n") },
          end: { StandardError.write("\($0)\n") }))
    }
    let windows = Mutex<[Run.Window]>([])
    let failure = Mutex<String?>(nil)
    let (count, rate) = (command.entries / command.nodes, command.rate / command.nodes)
    let (batch, underWay) = (command.batch, command.underWay)
    let unique = Run.now
    let runs = try logs.map { try Run($0, batch: batch, underWay: underWay) }
    let workloads = runs.indices.map { node in
      var workload = Workload(
        rooms: command.rooms, usersPerRoom: command.users, textBytes: command.text)
      workload.prefix = "\(unique)-\(node)"
      return workload
    }
    let threads = try zip(runs, workloads).map { run, workload in
      try WorkerThread(name: "load") {
        var workload = workload
        do {
          // Creates the rooms as well.
          _ = try run.append(workload.rooms, from: &workload, perSecond: 0)
          let window = try run.append(count, from: &workload, perSecond: rate)
          windows.withLock { $0.append(window) }
        } catch {
          failure.withLock { $0 = "\(error)" }
        }
      }
    }
    for thread in threads { thread.join() }
    if let failure = failure.withLock({ $0 }) { throw Failed(description: failure) }
    var total = 0.0
    for window in windows.withLock({ $0 }) {
      total += Double(window.entries) / window.seconds
      print(Result(stored: command.rooms + count, window).line)
    }
    print("\(command.nodes) nodes: \(Int(total)) entries/s")
  }
}
