internal import Glibc

/// One load on one server: what arrived, and what the server took for it until it was at rest.
struct BenchSample {
  var result: RawResult
  /// From when all were members to when nothing was left to do.
  var serverSeconds: Double
  /// The same by the names of the server's threads.
  var threadSeconds: [String: Double]
  /// What the kernel's own thread for network work took on the server's processor: work that is
  /// the server's and is not in ``serverSeconds``.
  var kernelThreadSeconds: Double
  /// Whether the server came to rest.
  var hasSettled: Bool

  /// Plays the plan; blocks.
  init(_ plan: RawLoad.Plan, _ server: BenchServer, processor: Int?) throws {
    var plan = plan
    plan.processor = processor
    let load = try RawLoad(plan)
    let kernelThread = ProcessProbe.named("ksoftirqd/\(BenchPlacement.serverProcessor)")
    var before = (server: server.cpuSeconds, threads: server.probe.threadSeconds, kernel: 0.0)
    var after = before
    var hasSettled = true
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
        // What the joins have left to do is not the load's.
        server.settle()
        before = look()
      case .drained:
        hasSettled = server.settle()
        after = look()
      case .measuring, .measured: break
      }
    }
    serverSeconds = after.server - before.server
    threadSeconds = after.threads.merging(before.threads) { $0 - $1 }
    kernelThreadSeconds = after.kernel - before.kernel
    self.hasSettled = hasSettled
  }

  /// For each second of the server's processor time.
  var deliveriesPerCPUSecond: Double {
    serverSeconds > 0 ? Double(result.whole.deliveries) / serverSeconds : 0
  }

  /// Of the log's threads.
  var logSeconds: Double {
    threadSeconds.filter { $0.key.hasPrefix("log") }.values.reduce(0, +)
  }

  /// Why its figures are no good, if they are not.
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
    if !hasSettled { return "the server was still busy long after the load" }
    return nil
  }
}

/// Which processors run what.
enum BenchPlacement: Sendable {
  /// The server has one, the load another.
  case apart
  /// Both go where the kernel lets them.
  case shared

  static let serverProcessor = 0
  static let loadProcessor = 1

  var server: Int? { self == .apart ? Self.serverProcessor : nil }
  var load: Int? { self == .apart ? Self.loadProcessor : nil }
}
