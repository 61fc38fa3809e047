internal import Glibc
internal import Platform

/// A relay that this run has started: its process, its folder, and ways to end it abruptly.
final class SpawnedRelay {
  let url: String
  let port: UInt16
  private let binary: String
  private let folder: RelayFolder
  private var id: pid_t?
  private var backupID: pid_t?
  /// The process from which another one takes over, until it has ended.
  private var leaving: pid_t?
  /// `nil` = without TLS.
  let certificate: OwnCertificate?
  /// The durable state of its disk, if power losses are simulated.
  private(set) var disk: RecordedDisk?
  /// Added to its environment.
  private let environment: [String]
  /// CPU time of earlier processes that were killed.
  private var earlierCPUSeconds = 0.0

  /// Starts a relay on a free port, and waits until it listens.
  ///
  /// - Parameters:
  ///   - losesPower: Whether to record its writes and syncs.
  ///   - log: The URL of the PostgreSQL that has its log; `nil` if it is in its folder.
  ///   - clockOffsetSeconds: How far its clock is ahead.
  ///   - interruption: A descriptor that becomes readable when the start is to be abandoned.
  init(
    _ spawn: Scenario.Spawn, losesPower: Bool = false, log: String? = nil,
    clockOffsetSeconds: Int = 0, interruption: Int32? = nil
  ) throws {
    binary = try spawn.binary ?? Self.besideThisProgram()
    guard unsafe access(binary, X_OK) == 0 else {
      throw Run.Failure(
        description: "there is no relay at \(binary); build it, set spawn.binary,"
          + " or give the --url of a running relay", isUsage: true)
    }
    var environment: [String] = []
    if let log { environment += ["RELAY_LOG_ENGINE=postgresql", "RELAY_LOG_URL=\(log)"] }
    if clockOffsetSeconds != 0 {
      let library = try PreloadedLibrary.path(
        "libWrongClock.so", besides: try Self.ownFolder(), for: "spawn.clock_offsets_s")
      environment += ["LD_PRELOAD=\(library)", "CLOCK_OFFSET_S=\(clockOffsetSeconds)"]
    }
    folder = try RelayFolder(
      configuration: spawn.configuration, diskBytes: log == nil ? spawn.diskBytes : nil)
    if spawn.usesTLS {
      let own = try OwnCertificate(in: folder.path)
      environment += ["RELAY_TLS_CERTIFICATE=\(own.path)", "RELAY_TLS_KEY=\(own.keyPath)"]
      certificate = own
    } else {
      certificate = nil
    }
    self.environment = environment
    if losesPower {
      disk = try RecordedDisk(
        folder: folder.data, record: folder.data + ".record", besides: try Self.ownFolder())
    }
    let start = try RelayStart(watching: folder)
    let id = try Self.start(
      binary, in: folder, port: 0, environment: environment + (disk?.environment ?? []))
    do {
      port = try start.port(of: id, interruption: interruption)
    } catch {
      Self.end(id)
      throw error
    }
    self.id = id
    url = "\(spawn.usesTLS ? "wss" : "ws")://127.0.0.1:\(port)/ws"
  }

  deinit { for process in [id, backupID, leaving].compactMap(\.self) { Self.end(process) } }

  /// Kills the relay (SIGKILL), and waits for its end. Unsynced data is lost, connections are not
  /// closed.
  func kill() {
    for process in [id, leaving].compactMap(\.self) {
      earlierCPUSeconds += ProcessorTime.seconds(of: process) ?? 0
      Self.end(process)
    }
    (id, leaving) = (nil, nil)
  }

  /// Starts a process that takes over, without waiting for it; the one that runs ends by itself.
  func takeOver() throws {
    guard leaving == nil else {
      throw Run.Failure(description: "the last one has not ended yet", isUsage: false)
    }
    let next = try Self.start(
      binary, in: folder, port: port, environment: environment, "--take-over")
    (id, leaving) = (next, id)
  }

  /// Restarts it on the same port and data, without waiting for it to listen.
  func restart() throws {
    kill()
    id = try Self.start(
      binary, in: folder, port: port, environment: environment + (disk?.environment ?? []))
  }

  /// Starts a backup that follows; kills the one that runs.
  func backUp() throws {
    if let backupID { Self.end(backupID) }
    backupID = nil
    backupID = try ChildProgram.start(
      [
        binary, "backup", "--data", folder.data, "--to", folder.backup, "--follow", "--interval",
        "1s",
      ], bond: .kill, output: folder.backupLog)
  }

  /// Returns how the backup has ended, once; `nil` if it has not.
  func takeEndOfBackup() -> String? {
    guard let id = backupID else { return nil }
    var status: Int32 = 0
    guard unsafe waitpid(id, &status, WNOHANG) == id else { return nil }
    backupID = nil
    let output = String(decoding: (try? TextFile.read(folder.backupLog)) ?? [], as: UTF8.self)
    return "\(ChildProgram.Outcome(status: status)), \(output)"
  }

  /// Replaces the recorded disk by its state after a power loss.
  func adopt(_ disk: RecordedDisk) { self.disk = disk }

  /// The verification of its store, which takes time; only while the relay is not running.
  var verification: Verification { Verification(binary: binary, data: folder.data) }

  /// Sends SIGSTOP: the relay keeps its connections, and does nothing.
  func pause() { if let id { Glibc.kill(id, SIGSTOP) } }

  /// Sends SIGCONT; no effect if the relay is running.
  func goOn() { if let id { Glibc.kill(id, SIGCONT) } }

  /// Fills its disk.
  func fillDisk() throws { try folder.fillDisk() }

  /// Fills the space that the relay has freed.
  func keepDiskFull() throws { try folder.keepDiskFull() }

  /// Frees the space on its disk.
  func freeDisk() throws { try folder.freeDisk() }

  /// Returns how the relay has ended unexpectedly, once; `nil` if it has not.
  func takeUnexpectedEnd() -> String? {
    if let outcome = outcome(of: leaving) {
      leaving = nil
      if outcome != .exit(0) { return "\(outcome), instead of letting another process take over" }
    }
    guard let outcome = outcome(of: id) else { return nil }
    id = nil
    return "\(outcome)"
  }

  private func outcome(of process: pid_t?) -> ChildProgram.Outcome? {
    var status: Int32 = 0
    guard let process else { return nil }
    let seconds = ProcessorTime.seconds(of: process)
    guard unsafe waitpid(process, &status, WNOHANG) == process else { return nil }
    earlierCPUSeconds += seconds ?? 0
    return ChildProgram.Outcome(status: status)
  }

  /// The CPU time of all of its processes.
  var cpuSeconds: Double {
    [id, leaving].compactMap { $0.flatMap { ProcessorTime.seconds(of: $0) } }
      .reduce(earlierCPUSeconds, +)
  }

  var dataFolder: String { folder.data }

  /// Its resident memory; `nil` while it is not running.
  var residentBytes: Int? { id.flatMap { ResidentMemory.bytes(of: $0) } }

  /// The last lines that it has written.
  var lastOutput: String {
    let lines = folder.logText.split(separator: "\n").suffix(5)
    return lines.joined(separator: "\n")
  }

  // MARK: Implementation

  private static func besideThisProgram() throws -> String { try ownFolder() + "relay" }

  /// Returns this program's folder, with a trailing slash.
  private static func ownFolder() throws -> String {
    let path = try ownProgram()
    return String(path.prefix(path.count - (path.split(separator: "/").last?.count ?? 0)))
  }

  /// Returns the path of this program.
  static func ownProgram() throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw SystemError.last("readlink /proc/self/exe") }
    return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func start(
    _ binary: String, in folder: RelayFolder, port: UInt16, environment: [String],
    _ flags: String...
  ) throws -> pid_t {
    // On another disk it would appear to have lost everything.
    precondition(folder.isWhole, "the relay must be started by the thread that mounted its disk")
    return try ChildProgram.start(
      [
        binary, "serve", "--config", folder.configuration, "--listen", "127.0.0.1:\(port)",
        "--data", folder.data,
      ] + flags, bond: .kill, environment: environment, output: folder.log)
  }

  private static func end(_ id: pid_t) {
    Glibc.kill(id, SIGKILL)
    ChildProgram.wait(for: id)
  }
}
