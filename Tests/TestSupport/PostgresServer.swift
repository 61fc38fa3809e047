import Glibc
import Platform
import Synchronization

/// A PostgreSQL server of the tests' own, in a temporary folder: it listens on a Unix socket there,
/// and on no port.
public final class PostgresServer: Sendable {
  /// The server that all tests of a process share: each takes a schema of its own.
  public static let shared = Result { try PostgresServer() }

  /// Where Debian keeps the servers' programs, by version.
  private static let versions = "/usr/lib/postgresql"

  private let folder: TemporaryFolder
  private let process: Mutex<ChildProcess?>
  private let schemas = Atomic(0)

  /// Creates and starts a server.
  /// - Parameter settings: in addition, `name=value`.
  public init(settings: [String] = []) throws {
    let folder = try TemporaryFolder()
    // PostgreSQL refuses to run as root.
    if geteuid() == 0 {
      try Self.run(["chown", "postgres", folder.path], in: folder)
      unsafe chmod(folder.path, 0o755)
    }
    let programs = try Self.programs()
    try Self.run(
      Self.unprivileged + [
        "\(programs)/initdb", "--pgdata", folder["data"], "--username", "relay", "--auth", "trust",
        "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
      ], in: folder)
    // The tests of a process run in parallel, each with several connections.
    let own = [
      "listen_addresses=", "unix_socket_directories=\(folder.path)", "max_connections=1000",
      "fsync=off",
    ]
    let flags = (own + settings).flatMap { ["-c", $0] }
    process = Mutex(
      try ChildProcess(
        Self.unprivileged + ["\(programs)/postgres", "-D", folder["data"]] + flags))
    self.folder = folder
    var isReady = false
    for _ in 0..<300 where !isReady {
      isReady =
        (try? Self.run(
          ["\(programs)/pg_isready", "--quiet", "--host", folder.path], in: folder)) != nil
      if !isReady { usleep(50_000) }
    }
    guard isReady else {
      throw Unexpected("PostgreSQL has not started: \(process.withLock { $0?.errors ?? "" })")
    }
    atexit { try? PostgresServer.shared.get().stop() }
  }

  deinit { stop() }

  /// The connection string of its database.
  public var url: String { "host=\(folder.path) user=relay dbname=postgres" }

  /// Returns the name of a schema that no other test uses.
  public func newSchema() -> String {
    "test\(schemas.add(1, ordering: .relaxed).newValue)"
  }

  /// Stops the server at once, and removes its folder.
  public func stop() {
    process.withLock { process in
      guard let running = process.take() else { return }
      kill(running.id, SIGQUIT)
      _ = try? running.wait()
    }
    _ = try? Self.run(["rm", "-rf", folder["data"]], in: folder)
  }

  private static var unprivileged: [String] {
    geteuid() == 0
      ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] : []
  }

  /// The folder of the newest version's programs.
  private static func programs() throws -> String {
    let found = try fileNames(in: versions).compactMap(Int.init).max()
    guard let found else { throw Unexpected("no PostgreSQL server in \(versions)") }
    return "\(versions)/\(found)/bin"
  }

  private static func run(_ arguments: [String], in folder: TemporaryFolder) throws {
    let program = try ChildProcess(arguments, environment: ["HOME=\(folder.path)"], input: "")
    guard try program.wait(Deadline(seconds: 60)) == .exit(0) else {
      throw Unexpected("\(arguments.joined(separator: " ")): \(program.errors)")
    }
  }
}
