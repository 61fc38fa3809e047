import Glibc
import Platform
import Synchronization

/// A PostgreSQL server of the tests' own, in a temporary folder: it listens on a Unix socket there,
/// and on no port.
public final class PostgresServer: Sendable {
  /// The server that all tests of a process share: each takes a schema of its own.
  public static let shared: Result<PostgresServer, any Error> = Result {
    let server = try PostgresServer()
    atexit { try? PostgresServer.shared.get().stop() }
    return server
  }

  /// Where Debian keeps the servers' programs, by version.
  private static let versions = "/usr/lib/postgresql"

  private let folder: TemporaryFolder
  private let command: [String]
  private let programs: String
  private let process: Mutex<ChildProcess?>
  private let schemas = Atomic(0)

  /// Creates and starts a server.
  /// - Parameter settings: in addition, `name=value`.
  public init(settings: [String] = []) throws {
    let folder = try TemporaryFolder()
    let unprivileged = try Self.unprivileged(owning: folder)
    let programs = try Self.programs()
    try Self.run(
      unprivileged + [
        "\(programs)/initdb", "--pgdata", folder["data"], "--username", "relay", "--auth", "trust",
        "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync",
      ], in: folder)
    // The tests of a process run in parallel, each with several connections.
    let own = [
      "listen_addresses=", "unix_socket_directories=\(folder.path)", "max_connections=1000",
      "fsync=off",
    ]
    let flags = (own + settings).flatMap { ["-c", $0] }
    command = unprivileged + ["\(programs)/postgres", "-D", folder["data"]] + flags
    self.programs = programs
    self.folder = folder
    process = Mutex(nil)
    try restart()
  }

  deinit { stop() }

  /// Starts the server after a `crash`, and waits until it answers.
  public func restart() throws {
    try process.withLock { $0 = try ChildProcess(command) }
    for _ in 0..<300 {
      let answer: Void? = try? Self.run(
        ["\(programs)/pg_isready", "--quiet", "--host", folder.path], in: folder)
      if answer != nil { return }
      usleep(50_000)
    }
    throw Unexpected(
      "PostgreSQL has not started: \(process.withLock { $0?.errors ?? "" })")
  }

  /// Ends the server at once, without a checkpoint, as an immediate shutdown does.
  public func crash() throws {
    try process.withLock { process in
      guard let running = process.take() else { return }
      kill(running.id, SIGQUIT)
      _ = try running.wait()
    }
  }

  /// The connection string of its database.
  public var url: String { "host=\(folder.path) user=relay dbname=postgres" }

  /// Returns the name of a schema that no other test uses.
  public func newSchema() -> String {
    "test\(schemas.add(1, ordering: .relaxed).newValue)"
  }

  /// Stops the server at once, and removes its folder.
  public func stop() {
    try? crash()
    _ = try? Self.run(["rm", "-rf", folder["data"]], in: folder)
  }

  /// Gives a folder with its files to another user, if the tests run as root: PostgreSQL and its like
  /// refuse to.
  /// - Returns: what to put before a command, for it to run as that user.
  public static func unprivileged(owning folder: TemporaryFolder) throws -> [String] {
    guard geteuid() == 0 else { return [] }
    try Self.run(["chown", "-R", "postgres", folder.path], in: folder)
    unsafe chmod(folder.path, 0o755)
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
  }

  /// The folder of the newest version's programs.
  public static func programs() throws -> String {
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
