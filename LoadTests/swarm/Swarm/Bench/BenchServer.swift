internal import Glibc
internal import Platform

/// A running server: its process, its folder and its use of resources.
final class BenchServer {
  /// Why it could not be started; prints as a sentence.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private static let startMilliseconds = 20_000
  /// How long a server may take to end.
  private static let endMilliseconds = 5_000

  let program: BenchProgram
  private let folder: String
  private let id: pid_t
  private var port: UInt16 = 0
  private var hasEnded = false

  /// Starts the server and waits until it listens.
  ///
  /// - Parameters:
  ///   - parent: A folder on a real disk, in which the server is given a folder of its own.
  ///   - processor: The processor to which all of its threads are bound; `nil`: any.
  init(_ program: BenchProgram, in parent: String, processor: Int?) throws {
    guard program.isPresent else {
      throw Failure(description: "\(program.name) is missing: \(program.words[0])")
    }
    self.program = program
    let folder = try Folder.makeTemporary("\(parent)/\(program.name)")
    self.folder = folder
    let chosen = program.announcement == nil ? try Self.freePort() : 0
    func filled(_ text: String) -> String {
      text.replacing("{folder}", with: folder).replacing("{port}", with: "\(chosen)")
    }
    do {
      for file in program.files {
        try TextFile.write(filled(file.text), to: "\(folder)/\(file.name)")
      }
      // A child inherits the processor binding of its parent's thread.
      let binding = try processor.map { try ProcessorBinding($0) }
      defer { binding?.end() }
      id = try ChildProgram.start(
        program.words.map(filled), bond: .terminate, environment: program.environment,
        output: "\(folder)/log")
    } catch {
      Folder.remove(folder)
      throw error
    }
    do {
      port = try waitForPort(chosen)
    } catch {
      stop()
      throw error
    }
  }

  deinit { stop() }

  /// Returns its URL; `nil` if it has no echo.
  func url(echo: Bool = false) -> String? {
    let path = echo ? program.echoPath : program.path
    let scheme = program.certificate == nil ? "ws" : "wss"
    return path.map { "\(scheme)://127.0.0.1:\(port)\($0)" }
  }

  /// Ends the server and removes its files.
  func stop() {
    guard !hasEnded else { return }
    hasEnded = true
    kill(id, SIGTERM)
    var status: Int32 = 0
    var left = Self.endMilliseconds / 5
    while left > 0, unsafe waitpid(id, &status, WNOHANG) == 0 {
      usleep(5000)
      left -= 1
    }
    kill(-id, SIGKILL)
    if left == 0 { ChildProgram.wait(for: id) }
    Folder.remove(folder)
  }

  /// The last lines that it has written.
  var lastOutput: String {
    let text = (try? TextFile.read("\(folder)/log")) ?? []
    return String(decoding: text, as: UTF8.self).split(separator: "\n").suffix(3)
      .joined(separator: "\n")
  }

  // MARK: Resource use

  /// The process that was started.
  var probe: ProcessProbe { ProcessProbe(id: id) }

  /// The CPU time of all threads, and of all of its processes.
  var cpuSeconds: Double { processes.reduce(0) { $0 + $1.cpuSeconds } }

  /// Its resident memory.
  var residentBytes: Int { processes.reduce(0) { $0 + $1.residentBytes } }

  /// Waits until the server is idle, so that work after its answers is counted.
  ///
  /// - Returns: Whether it became idle within the limit.
  @discardableResult
  func waitUntilIdle(limitSeconds: Int = 30) -> Bool {
    let step = 25
    var (last, quiet) = (cpuSeconds, 0)
    for _ in 0..<(limitSeconds * 1000 / step) {
      usleep(UInt32(step * 1000))
      let now = cpuSeconds
      // Less than a fiftieth of a core, which allows for periodic timers.
      quiet = now - last < Double(step) / 50_000 ? quiet + 1 : 0
      if quiet == 4 { return true }
      last = now
    }
    return false
  }

  private var processes: [ProcessProbe] { program.hasChildren ? probe.group : [probe] }

  // MARK: Starting

  /// Returns a port that is free now; another process could take it before it is used.
  private static func freePort() throws -> UInt16 {
    try Listener.claim(Address("127.0.0.1:0")).address.port
  }

  private func waitForPort(_ chosen: UInt16) throws -> UInt16 {
    for _ in 0..<(Self.startMilliseconds / 5) {
      var status: Int32 = 0
      guard unsafe waitpid(id, &status, WNOHANG) == 0 else {
        throw Failure(description: "\(program.name) exited before it listened: \(lastOutput)")
      }
      if let announcement = program.announcement {
        let log = String(
          decoding: (try? TextFile.read("\(folder)/log")) ?? [], as: UTF8.self)
        if let start = log.firstRange(of: announcement) {
          let digits = log[start.upperBound...].prefix { $0.isNumber }
          if digits.endIndex < log.endIndex, let port = UInt16(digits) { return port }
        }
      } else if Self.accepts(chosen) {
        return chosen
      }
      usleep(5000)
    }
    throw Failure(
      description: "\(program.name) did not listen within \(Self.startMilliseconds / 1000) s")
  }

  private static func accepts(_ port: UInt16) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return unsafe withUnsafeBytes(of: &address) { bytes in
      unsafe connect(
        descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
        socklen_t(bytes.count))
    } == 0
  }
}
