internal import Glibc
internal import Platform

/// A relay that this run has started: its process, its folder, and how to end it the hard way.
final class SpawnedRelay {
  let url: String
  private let binary: String
  private let folder: RelayFolder
  private let port: UInt16
  private var id: pid_t?
  /// What is on its disk for good; where the power is to be cut.
  private(set) var disk: RecordedDisk?
  /// Of those that were killed before the present one.
  private var earlierCPUSeconds = 0.0

  /// Starts a relay on a free port, and waits until it listens.
  ///
  /// - Parameters:
  ///   - losesPower: whether what it writes and syncs is to be recorded.
  ///   - interruption: once this descriptor is readable, nobody wants the relay any more.
  init(
    _ spawn: Scenario.Spawn, losesPower: Bool = false, interruption: Int32? = nil
  ) throws {
    binary = try spawn.binary ?? Self.besideThisProgram()
    guard unsafe access(binary, X_OK) == 0 else {
      throw Run.Failure(
        description: "there is no relay to start at \(binary); build it, name it in spawn.binary,"
          + " or give the --url of one that runs", isUsage: true)
    }
    folder = try RelayFolder(configuration: spawn.configuration, diskBytes: spawn.diskBytes)
    if losesPower {
      disk = try RecordedDisk(
        folder: folder.data, record: folder.data + ".record", besides: try Self.ownFolder())
    }
    let start = try RelayStart(watching: folder)
    let id = try Self.start(binary, in: folder, port: 0, disk)
    do {
      port = try start.port(of: id, interruption: interruption)
    } catch {
      Self.end(id)
      throw error
    }
    self.id = id
    url = "ws://127.0.0.1:\(port)/ws"
  }

  deinit { if let id { Self.end(id) } }

  /// SIGKILL: what it had not synced is gone, and nobody is told. Waits until it is over.
  func kill() {
    guard let id else { return }
    earlierCPUSeconds += ProcessorTime.seconds(of: id) ?? 0
    Self.end(id)
    self.id = nil
  }

  /// Starts it on the same port and the same data, and does not wait for it.
  func restart() throws {
    kill()
    id = try Self.start(binary, in: folder, port: port, disk)
  }

  /// What the power has left takes the place of what was there.
  func adopt(_ disk: RecordedDisk) { self.disk = disk }

  /// Has its store verified, which takes its time; for while it does not run.
  var verification: Verification { Verification(binary: binary, data: folder.data) }

  /// SIGSTOP: it keeps its connections, and does nothing.
  func pause() { if let id { Glibc.kill(id, SIGSTOP) } }

  /// SIGCONT; nothing happens if it runs.
  func goOn() { if let id { Glibc.kill(id, SIGCONT) } }

  /// From now on nothing more fits on its disk.
  func fillDisk() throws { try folder.fillDisk() }

  /// What it has freed meanwhile is taken as well.
  func keepDiskFull() throws { try folder.keepDiskFull() }

  /// There is space again.
  func freeDisk() throws { try folder.freeDisk() }

  /// How it has ended, if it has, and nobody asked it to; told once.
  func takeUnexpectedEnd() -> String? {
    guard let id else { return nil }
    var status: Int32 = 0
    guard unsafe waitpid(id, &status, WNOHANG) == id else { return nil }
    self.id = nil
    let signal = status & 0x7F
    return signal == 0 ? "exit code \((status >> 8) & 0xFF)" : "signal \(signal)"
  }

  /// What it, and those before it, have used of the processors.
  var cpuSeconds: Double { earlierCPUSeconds + (id.flatMap { ProcessorTime.seconds(of: $0) } ?? 0) }

  /// What it holds of the memory; `nil` while it does not run.
  var residentBytes: Int? { id.flatMap { ResidentMemory.bytes(of: $0) } }

  /// The last lines that it has written.
  var lastWords: String {
    let lines = folder.logText.split(separator: "\n").suffix(5)
    return lines.joined(separator: "\n")
  }

  // MARK: Inside

  private static func besideThisProgram() throws -> String { try ownFolder() + "relay" }

  /// Where this program is, with a slash behind it.
  private static func ownFolder() throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw SystemError.last("readlink /proc/self/exe") }
    let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(path.prefix(path.count - (path.split(separator: "/").last?.count ?? 0)))
  }

  private static func start(
    _ binary: String, in folder: RelayFolder, port: UInt16, _ disk: RecordedDisk?
  ) throws -> pid_t {
    // On another disk it would seem to have lost everything.
    precondition(folder.isWhole, "a relay is started by the thread that has mounted its disk")
    return try ChildProgram.start(
      [
        binary, "serve", "--config", folder.configuration, "--listen", "127.0.0.1:\(port)",
        "--data", folder.data,
      ], bond: .kill, environment: disk?.environment ?? [], output: folder.log)
  }

  private static func end(_ id: pid_t) {
    Glibc.kill(id, SIGKILL)
    ChildProgram.wait(for: id)
  }
}
