import Platform
import Synchronization
import TestSupport

/// A proxy in front of relays, whose configuration is that of a document.
final class FrontProxy {
  /// A program, and how its configuration becomes a whole one.
  enum Program {
    case haproxy
    /// The document has the locations of a server.
    case nginx
    /// The document has a site, in whose place there is one without TLS.
    case caddy
  }

  let port: UInt16
  let relays: [RelayProcess]
  /// Those of the relay; `nil` = without TLS.
  private let certificates: Certificates?
  private let folder: TemporaryFolder
  private let process: ChildProcess

  var errors: String { process.errors }
  /// The path below which it has the relay.
  private let path: String
  /// The address of the relay's page, without a slash at the end.
  var url: String { "\(certificates == nil ? "http" : "https")://127.0.0.1:\(port)\(path)" }
  /// The file of the authority that clients trust.
  var authority: String? { certificates?.authority }

  /// Starts the program, and waits until it passes on requests.
  /// - Parameters:
  ///   - listen: the documented address, in whose place it listens on a free port.
  ///   - relays: by their documented addresses.
  ///   - path: the path below which it has the relay.
  ///   - certificates: those that clients see; `nil` = without TLS.
  init(
    _ program: Program, _ documented: DocumentBlock, listen: String = "0.0.0.0:80",
    relays: [(address: String, relay: RelayProcess)], below path: String = "",
    certificates: Certificates? = nil
  ) throws {
    folder = try TemporaryFolder()
    port = try freePort()
    self.certificates = certificates
    self.path = path
    self.relays = relays.map(\.relay)
    var configuration = Self.whole(documented.lines.joined(separator: "\n") + "\n", for: program)
    for (address, port) in relays.map({ ($0.address, $0.relay.port) }) + [(listen, port)] {
      guard configuration.contains(address) else { throw Unexpected("no \(address)") }
      // A name gives way to any.
      let host = address.contains(":") ? address.prefix { $0 != ":" } : "http://"
      configuration = configuration.replacing(address, with: "\(host):\(port)")
    }
    try folder.write(configuration, to: "proxy.conf")
    // Caddy keeps files in its home.
    process = try ChildProcess(
      Self.command(program, folder), environment: ["HOME=\(folder.path)"], input: "")
    guard becomesTrue(within: Deadline(seconds: 30), { (try? status(of: "/healthz")) ?? 0 > 0 })
    else { throw Unexpected("the proxy does not answer: \(process.errors)") }
  }

  private static func command(_ program: Program, _ folder: TemporaryFolder) -> [String] {
    let file = folder["proxy.conf"]
    return switch program {
    case .caddy: ["caddy", "run", "--config", file, "--adapter", "caddyfile"]
    case .haproxy: ["haproxy", "-db", "-f", file]
    case .nginx: ["nginx", "-p", folder.path, "-e", "stderr", "-c", file]
    }
  }

  private static func whole(_ documented: String, for program: Program) -> String {
    switch program {
    case .caddy: "{\n  admin off\n  auto_https off\n}\n\(documented)"
    case .haproxy: documented
    case .nginx:
      """
      daemon off;
      master_process off;  # which would leave its workers behind when it is killed
      pid nginx.pid;
      error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
        uwsgi_temp_path uwsgi; scgi_temp_path scgi;
        server {
          listen 0.0.0.0:80;
          location / { return 404; }
          \(documented)
        }
      }
      """
    }
  }

  /// Starts curl with a request.
  func request(_ path: String, _ options: String...) throws -> ChildProcess {
    try request(path, options)
  }

  /// Starts curl with a request.
  func request(_ path: String, _ options: [String]) throws -> ChildProcess {
    try ChildProcess(curl(path, options), input: "")
  }

  /// Returns the status of the answer; 0 if there is none.
  func status(of path: String, _ options: String...) throws -> Int {
    let curl = try ChildProcess(
      curl(
        path, options + ["--max-time", "6", "--output", "/dev/null", "--write-out", "%{http_code}"]),
      input: "")
    try curl.wait()
    return Int(curl.output) ?? 0
  }

  private func curl(_ path: String, _ options: [String]) -> [String] {
    ["curl", "--silent"] + (authority.map { ["--cacert", $0] } ?? []) + options + [url + path]
  }
}

/// A port for a proxy, which does not tell which one it got, and for a relay that is to start again on it. It is below those
/// that the system gives to connections, and to tests that ask for any (ip_local_port_range), and no other test gets it as
/// long as this process runs. The scripts of tests have ports from 26,384 on (relay.py).
func freePort() throws -> UInt16 {
  for _ in 0..<1000 {
    let port = UInt16.random(in: 20_000..<26_384)
    guard let address = try Address.resolve("127.0.0.1:\(port)").first,
      let reservation = try? Listener.claim(forFolder: "/", name: "test-port-\(port)")
    else { continue }
    if (try? Listener.claim(address)) != nil {
      let kept = PortReservation(reservation)
      reservedPorts.withLock { $0.append(kept) }
      return port
    }
  }
  throw Unexpected("no port is free")
}

private let reservedPorts = Mutex<[PortReservation]>([])

private final class PortReservation: Sendable {
  private let listener: Listener

  init(_ listener: consuming Listener) { self.listener = listener }
}
