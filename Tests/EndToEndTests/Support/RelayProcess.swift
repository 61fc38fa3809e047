import Glibc
import TestSupport

/// A relay that a test has started, on a port that it keeps over a restart.
final class RelayProcess {
  let folder: TemporaryFolder
  private(set) var port: UInt16 = 0
  /// `ws` or `wss`.
  private(set) var scheme = "ws"
  private(set) var process: ChildProcess
  private let wrapper: [String]
  /// Those from which others have taken over: a process that nothing refers to is killed.
  private var earlier: [ChildProcess] = []

  /// Starts a relay, and waits until it serves.
  /// - Parameters:
  ///   - configuration: YAML, in addition to `listen` and `data`.
  ///   - data: the data folder; by default one in the folder.
  ///   - wrapper: a command that runs the one that follows it, such as `taskset -c 0`.
  init(
    _ configuration: String = "", in folder: TemporaryFolder? = nil, data: String? = nil,
    under wrapper: [String] = []
  ) throws {
    let folder = try folder ?? TemporaryFolder()
    self.folder = folder
    let data = data ?? folder["data"]
    try folder.write(
      "listen: 127.0.0.1:0\ndata: \(data)\nmetrics: { token: \(Self.metricsToken) }\n\(configuration)\n",
      to: "relay.yaml")
    self.wrapper = wrapper
    process = try Self.serve(folder, port: try freePort(), under: wrapper)
    try waitUntilListening()
  }

  deinit {
    if TemporaryFolder.areKept { try? folder.write(process.errors, to: "relay.log") }
  }

  /// Grants access to the metrics, also to the programs in Peers.
  static let metricsToken = "the-token-of-tests"

  /// The limits of one client, lifted: for tests that are not about them.
  static let withoutLimits = """
    limits: { connections_per_user: 0, sends_per_s: 0, burst: 0, requests_per_s: 0, bytes_per_s: 0 }
    """

  var url: String { "\(scheme)://127.0.0.1:\(port)/ws" }
  var dataFolder: String { folder["data"] }

  private static func serve(
    _ folder: TemporaryFolder, port: UInt16, under wrapper: [String], _ flags: String...
  ) throws -> ChildProcess {
    try ChildProcess(
      wrapper + [
        Programs.relay, "serve", "--config", folder["relay.yaml"],
        "--listen", "127.0.0.1:\(port)",
      ] + flags, input: "")
  }

  func waitUntilListening(_ deadline: Deadline = Deadline()) throws {
    try process.waitForErrors(deadline) { text in
      guard let start = text.firstRange(of: "://127.0.0.1:"),
        let word = text.firstRange(of: "listening on "), word.upperBound < start.lowerBound
      else { return false }
      scheme = String(text[word.upperBound..<start.lowerBound])
      let digits = text[start.upperBound...].prefix { $0.isNumber }
      port = UInt16(digits) ?? 0
      return text[digits.endIndex...].prefix { !"\n\"".contains($0) }.hasSuffix("/ws")
    }
  }

  /// Starts it again, on the port that it had.
  func start(waiting: Bool = true) throws {
    process = try Self.serve(folder, port: port, under: wrapper)
    if waiting { try waitUntilListening() }
  }

  /// Starts another process that takes over from this one, and that `process` is from then on.
  func takeOver(waiting: Bool = true) throws {
    earlier.append(process)
    process = try Self.serve(folder, port: port, under: wrapper, "--take-over")
    if waiting { try waitUntilListening() }
  }

  /// As if its machine had lost it: SIGKILL.
  func kill() throws {
    process.signal(SIGKILL)
    try process.wait()
  }

  /// Its connections stay, and nothing answers, until `thaw()`.
  func freeze() { process.signal(SIGSTOP) }
  func thaw() { process.signal(SIGCONT) }

  /// Stops it with SIGTERM, and returns the outcome.
  @discardableResult
  func stop(_ deadline: Deadline = Deadline()) throws -> ChildProcess.Outcome {
    process.signal(SIGTERM)
    return try process.wait(deadline)
  }

  /// Runs another of relay's commands to its end.
  static func command(_ arguments: String...) throws -> ChildProcess {
    let process = try ChildProcess([Programs.relay] + arguments, input: "")
    try process.wait()
    return process
  }

  // MARK: Counts

  /// What `/metrics` shows.
  func metrics() throws -> String {
    try HTTPExchange(
      self,
      "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(Self.metricsToken)\r\n\r\n"
    ).answer()
  }

  /// How often that limit or rule was broken.
  func violations(of rule: String) throws -> Int {
    try figure("relay_violations_total{rule=\"\(rule)\"}")
  }

  /// A figure of the metrics, by its name and labels.
  func figure(_ name: String) throws -> Int {
    let metrics = try metrics()
    guard let start = metrics.firstRange(of: "\n\(name) "),
      let count = Int(metrics[start.upperBound...].prefix { $0.isNumber })
    else { throw Unexpected("no \(name) in \(metrics)") }
    return count
  }

  // MARK: Memory

  /// What it has in memory, and the most that it ever had: `VmRSS` and `VmHWM`, in bytes.
  var memory: (now: Int, peak: Int) {
    get throws {
      let status = try readFile("/proc/\(process.id)/status")
      func field(_ name: String) throws -> Int {
        guard let start = status.firstRange(of: "\n\(name):"),
          let kibibytes = Int(
            status[start.upperBound...].drop { $0.isWhitespace }.prefix { $0.isNumber })
        else { throw Unexpected("no \(name) in \(status)") }
        return kibibytes * 1024
      }
      return (try field("VmRSS"), try field("VmHWM"))
    }
  }

  /// Resets the peak to the memory that it has now (proc(5), clear_refs).
  func forgetPeakMemory() throws {
    let descriptor = unsafe open("/proc/\(process.id)/clear_refs", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unexpected("clear_refs: \(errno)") }
    defer { close(descriptor) }
    guard unsafe Glibc.write(descriptor, "5", 1) == 1 else {
      throw Unexpected("clear_refs: \(errno)")
    }
  }
}
