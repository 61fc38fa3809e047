internal import Glibc

/// A run of one load on one server: the deliveries, and the server's CPU time until it was idle.
struct BenchSample {
  var result: RawResult
  /// From the time when all connections were members until the server was idle.
  var serverSeconds: Double
  /// The same by the name of the server's threads.
  var threadSeconds: [String: Double]
  /// The CPU time of the kernel's thread for network work on the server's processor: work for the
  /// server that is not in ``serverSeconds``.
  var kernelThreadSeconds: Double
  /// Whether the server became idle.
  var becameIdle: Bool

  /// Plays the plan; blocks.
  /// - Parameter restSeconds: how long the members are silent before the load.
  init(
    _ plan: RawLoad.Plan, _ server: BenchServer, processor: Int?, restSeconds: Double = 0
  ) throws {
    var plan = plan
    plan.processor = processor
    let load = try RawLoad(plan)
    let kernelThread = ProcessProbe.named("ksoftirqd/\(BenchPlacement.serverProcessor)")
    var before = (server: server.cpuSeconds, threads: server.probe.threadSeconds, kernel: 0.0)
    var after = before
    var becameIdle = true
    func look() -> (server: Double, threads: [String: Double], kernel: Double) {
      (
        server.cpuSeconds, server.probe.threadSeconds,
        kernelThread?.threadSeconds.values.reduce(0, +) ?? 0
      )
    }
    result = try load.play { moment in
      switch moment {
      case .ready:
        guard plan.work != .connect else { return }
        // Work that the joins have left is not part of the load.
        usleep(UInt32(restSeconds * 1e6))
        server.waitUntilIdle()
        before = look()
      case .drained:
        becameIdle = server.waitUntilIdle()
        after = look()
      case .measuring, .measured: break
      }
    }
    serverSeconds = after.server - before.server
    threadSeconds = after.threads.merging(before.threads) { $0 - $1 }
    kernelThreadSeconds = after.kernel - before.kernel
    self.becameIdle = becameIdle
  }

  /// Deliveries per second of the server's CPU time.
  var deliveriesPerCPUSecond: Double {
    serverSeconds > 0 ? Double(result.whole.deliveries) / serverSeconds : 0
  }

  /// The CPU time of the log's threads.
  var logSeconds: Double {
    threadSeconds.filter { $0.key.hasPrefix("log") }.values.reduce(0, +)
  }

  /// Why the figures are not valid; `nil` if they are.
  var fault: String? {
    if result.missing != 0 {
      return "\(result.missing) of \(result.whole.deliveries + result.missing) deliveries missing"
    }
    if result.connectionsLost > 0 {
      return "\(result.connectionsLost) connections lost: \(result.lastError ?? "?")"
    }
    if result.whole.errors > 0 {
      return "\(result.whole.errors) refusals: \(result.lastError ?? "?")"
    }
    if !becameIdle { return "the server was still busy long after the load ended" }
    return nil
  }
}

/// The assignment of processors.
enum BenchPlacement: Sendable {
  /// The server has one processor, the load another.
  case apart
  /// Both run where the kernel puts them.
  case shared

  static let serverProcessor = 0
  static let loadProcessor = 1

  var server: Int? { self == .apart ? Self.serverProcessor : nil }
  var load: Int? { self == .apart ? Self.loadProcessor : nil }
}
