internal import EventLoop
internal import Glibc
internal import Mixing
internal import Platform

/// A run with files: clients, which are processes, upload to a relay that swarm starts, while it and they are killed again
/// and again. Then a `FileOracle` checks what the relay has.
public final class FileRun {
  /// How often it looks at the journals.
  private static let lookMilliseconds: Int32 = 20
  private static let patienceMilliseconds = 60_000
  private static let configuration = """
    limits: { connections_per_user: 0, sends_per_s: 0, burst: 0, requests_per_s: 0, bytes_per_s: 0,
      file_bytes_per_s: 0, files_bytes_per_user: 0, unauthenticated_per_address: 0 }
    files: { bytes_per_s: 0 }
    """

  private struct Client {
    let journal: FileJournal
    /// `nil` = it has finished.
    var process: pid_t?
  }

  private let plan: FilePlan
  private let program: String
  private let folder: String
  private let relay: SpawnedRelay
  private let proxy: CountingProxy
  private let signals: SignalSource
  private let log: (String) -> Void
  private var clients: [Client] = []
  private var random: SplitMix64
  private var report: FileReport

  /// Starts the relay.
  /// - Parameters:
  ///   - relay: The program; `nil` is the one beside swarm.
  ///   - log: Receives lines about the progress.
  public init(_ plan: FilePlan, relay binary: String? = nil, log: @escaping (String) -> Void) throws
  {
    self.plan = plan
    self.log = log
    signals = try SignalSource([SIGINT, SIGTERM])
    random = SplitMix64(seed: plan.settings.seed)
    report = FileReport(plan)
    program = try SpawnedRelay.ownProgram()
    var spawn = Scenario.Spawn()
    spawn.binary = binary
    spawn.configuration = Self.configuration
    relay = try SpawnedRelay(spawn, interruption: signals.descriptor)
    proxy = try CountingProxy(to: relay.port)
    // Last, so that nothing has to remove it when something else fails.
    folder = try Folder.makeTemporary("/tmp/swarm")
  }

  deinit {
    for index in clients.indices { end(index) }
    Folder.remove(folder)
  }

  /// Plays the plan to its end.
  public func play() throws -> FileReport {
    let began = Instant.now()
    for index in 0..<plan.settings.clients {
      clients.append(
        Client(
          journal: try FileJournal(FilePersona.journal(of: index, in: folder)), process: nil))
      try start(index)
    }
    try upload()
    report.seconds = Double(Instant.now().milliseconds(since: began)) / 1000
    report.sentBytes = proxy.sentBytes
    if report.violations.isEmpty {
      log("all clients have finished: every file is read again")
      var oracle = try FileOracle(plan, relay)
      for index in clients.indices { oracle.take(clients[index].journal) }
      try oracle.check(&report)
    }
    return report
  }

  // MARK: Clients

  private var url: String { "ws://127.0.0.1:\(proxy.port)/ws" }
  private func output(of index: Int) -> String { "\(folder)/\(index).log" }

  private func start(_ index: Int) throws {
    let settings = plan.settings
    clients[index].process = try ChildProgram.start(
      [
        program, "file-client", "--seed", "\(settings.seed)", "--uploads", "\(settings.uploads)",
        "--clients", "\(settings.clients)", "--largest-bytes", "\(settings.largestBytes)",
        "\(index)", url, folder,
      ], bond: .kill, output: output(of: index))
  }

  private func end(_ index: Int) {
    guard let process = clients[index].process else { return }
    Glibc.kill(process, SIGKILL)
    ChildProgram.wait(for: process)
    clients[index].process = nil
  }

  // MARK: The run

  private func upload() throws {
    var progress = (count: -1, waiting: Waiting())
    var kills = 0
    while true {
      try sleep()
      var acknowledged = 0
      for index in clients.indices {
        try clients[index].journal.readNews()
        acknowledged += clients[index].journal.acknowledged
      }
      let now = Instant.now()
      if acknowledged != progress.count {
        progress.count = acknowledged
        progress.waiting.begin(at: now)
      }
      progress.waiting.look(at: now)
      if progress.waiting.milliseconds > Self.patienceMilliseconds {
        return report.add("no entry was acknowledged for \(Self.patienceMilliseconds / 1000) s")
      }
      if let end = relay.takeUnexpectedEnd() {
        return report.add("the relay has ended by itself: \(end)\n\(relay.lastOutput)")
      }
      try reap()
      guard report.violations.isEmpty, clients.contains(where: { $0.process != nil }) else {
        return
      }
      if plan.isKillDue(after: kills, acknowledged: acknowledged) {
        try kill(plan.kills[kills], acknowledged)
        kills += 1
      }
    }
  }

  private func sleep() throws {
    var wanted = pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0)
    unsafe poll(&wanted, 1, Self.lookMilliseconds)
    if let signal = signals.next() { throw Run.Interruption(signal: signal) }
  }

  private func reap() throws {
    for index in clients.indices {
      guard let process = clients[index].process, let end = ChildProgram.outcome(of: process) else {
        continue
      }
      clients[index].process = nil
      guard end != .exit(0) else { continue }
      let text = String(decoding: try TextFile.read(output(of: index)), as: UTF8.self)
      report.add("client \(index) has ended with \(end): \(text)")
    }
  }

  private func kill(_ kill: FilePlan.Kill, _ acknowledged: Int) throws {
    switch kill {
    case .relay:
      try relay.restart()
      report.relayKills += 1
    case .client:
      let running = clients.indices.filter { clients[$0].process != nil }
      guard !running.isEmpty else { return }
      let index = running[random.below(running.count)]
      end(index)
      try start(index)
      report.clientKills += 1
    }
    log("\(acknowledged) acknowledged: \(kill) killed")
  }
}
