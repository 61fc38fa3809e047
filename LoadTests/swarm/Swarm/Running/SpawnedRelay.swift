internal import Glibc
internal import Mailbox

/// A relay that this run has started: its process, its folder, and how to end it the hard way.
final class SpawnedRelay {
  /// Why there is none; prints as a sentence.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// How long it may take until it listens.
  private static let startMilliseconds = 30_000

  let url: String
  private let binary: String
  private let folder: String
  private var id: pid_t?
  /// Of those that were killed before the present one.
  private var earlierCPUSeconds = 0.0

  /// Starts a relay on a free port, and waits until it listens.
  init(_ spawn: Scenario.Spawn) throws {
    binary = try spawn.binary ?? Self.besideThisProgram()
    guard unsafe access(binary, X_OK) == 0 else {
      throw Failure(
        description: "there is no relay to start at \(binary); build it, or name it in spawn.binary"
      )
    }
    var template = Array("/tmp/swarm.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw SystemError.last("mkdtemp") }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    var port: UInt16 = 0
    do {
      try Self.write(
        spawn.configuration.isEmpty ? "{}" : spawn.configuration, to: folder + "/relay.yaml")
      id = try Self.start(binary, in: folder, port: 0)
      port = try Self.waitForPort(in: folder, id: id ?? 0)
    } catch {
      if let id { Self.end(id) }
      Self.remove(folder)
      throw error
    }
    url = "ws://127.0.0.1:\(port)/ws"
    self.port = port
  }

  private let port: UInt16

  deinit {
    if let id { Self.end(id) }
    Self.remove(folder)
  }

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
    id = try Self.start(binary, in: folder, port: port)
  }

  /// SIGSTOP: it keeps its connections, and does nothing.
  func pause() { if let id { Glibc.kill(id, SIGSTOP) } }

  /// SIGCONT; nothing happens if it runs.
  func goOn() { if let id { Glibc.kill(id, SIGCONT) } }

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
    let text = (try? TextFile.read("\(folder)/relay.log")) ?? []
    let lines = String(decoding: text, as: UTF8.self).split(separator: "\n").suffix(5)
    return lines.joined(separator: "\n")
  }

  // MARK: Inside

  private static func besideThisProgram() throws -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { throw SystemError.last("readlink /proc/self/exe") }
    let path = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return path.prefix(path.count - (path.split(separator: "/").last?.count ?? 0)) + "relay"
  }

  private static func start(_ binary: String, in folder: String, port: UInt16) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    let log = "\(folder)/relay.log"
    unsafe posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // A terminal's Ctrl-C is swarm's to act upon: it ends its relay itself.
    var attributes = posix_spawnattr_t()
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    // Should swarm be killed, its relay goes too (prctl(2), PR_SET_PDEATHSIG).
    let guardian = "/usr/bin/setpriv"
    let isGuarded = unsafe access(guardian, X_OK) == 0
    let words =
      (isGuarded ? [guardian, "--pdeathsig", "KILL"] : []) + [
        binary, "serve", "--config", "\(folder)/relay.yaml", "--listen", "127.0.0.1:\(port)",
        "--data", "\(folder)/data",
      ]
    var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe arguments.forEach { unsafe free($0) } }
    var id = pid_t()
    let code = unsafe posix_spawn(&id, words[0], &actions, &attributes, &arguments, environ)
    guard code == 0 else { throw SystemError("start \(binary)", code: code) }
    return id
  }

  private static func waitForPort(in folder: String, id: pid_t) throws -> UInt16 {
    let mark = "listening on ws://127.0.0.1:"
    for _ in 0..<(startMilliseconds / 5) {
      let log = (try? TextFile.read("\(folder)/relay.log")) ?? []
      let text = String(decoding: log, as: UTF8.self)
      if let start = text.firstRange(of: mark) {
        let digits = text[start.upperBound...].prefix { $0.isNumber }
        if let port = UInt16(digits), text[digits.endIndex...].hasPrefix("/ws\n") { return port }
      }
      var status: Int32 = 0
      guard unsafe waitpid(id, &status, WNOHANG) == 0 else {
        throw Failure(description: "the relay ended before it listened:\n\(text)")
      }
      usleep(5000)
    }
    throw Failure(description: "the relay did not listen within \(startMilliseconds / 1000) s")
  }

  private static func end(_ id: pid_t) {
    Glibc.kill(id, SIGKILL)
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) < 0, errno == EINTR {}
  }

  private static func write(_ text: String, to path: String) throws {
    guard let file = unsafe fopen(path, "we") else { throw SystemError.last("open \(path)") }
    defer { unsafe fclose(file) }
    guard unsafe fputs(text + "\n", file) >= 0 else { throw SystemError.last("write \(path)") }
  }

  /// Removes a folder and what lies in it; what cannot be removed stays.
  private static func remove(_ folder: String) {
    if let entries = unsafe opendir(folder) {
      while let entry = unsafe readdir(entries) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
          unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        if name == "." || name == ".." { continue }
        let path = "\(folder)/\(name)"
        let isFolder = unsafe entry.pointee.d_type == UInt8(DT_DIR)
        if isFolder { remove(path) } else { unsafe unlink(path) }
      }
      unsafe closedir(entries)
    }
    unsafe rmdir(folder)
  }
}
