internal import Glibc
internal import Platform
internal import Postgres

/// A PostgreSQL server of a run: its files, and its process if it runs. It listens on a Unix socket.
struct DatabaseServer: Sendable {
  /// Where Debian keeps the programs, by version.
  private static let versions = "/usr/lib/postgresql"
  private static let setpriv = "/usr/bin/setpriv"
  /// How long it may take until the server answers, or follows.
  static let patienceMilliseconds = 30_000
  private static let lookMicroseconds: UInt32 = 10_000

  /// The folder of the sockets and the configurations of all servers of a run.
  let folder: String
  let data: String
  /// The servers listen on no port: their sockets have a number in their name.
  let port: UInt16
  private let programs: String
  private let log: String
  private(set) var id: pid_t?

  init(named name: Character, in folder: RelayFolder, port: UInt16) throws {
    self.folder = folder.path
    self.port = port
    data = "\(folder.data)/\(name)"
    log = folder.log
    let found = (try? Folder.entries(of: Self.versions))?.compactMap { Int($0.name) }.max()
    guard let found, unsafe access("\(Self.versions)/\(found)/bin/initdb", X_OK) == 0 else {
      throw Run.Failure(
        description: "spawn.postgresql requires a PostgreSQL server, and there is none in"
          + " \(Self.versions): apt-get install postgresql", isUsage: true)
    }
    programs = "\(Self.versions)/\(found)/bin"
  }

  var isRunning: Bool { id != nil }
  var socket: String { "\(folder)/.s.PGSQL.\(port)" }
  private var configuration: String { "\(folder)/\(port).conf" }

  /// Creates an empty database cluster.
  func initialize() throws {
    try run([
      "initdb", "--pgdata", data, "--username", "relay", "--auth", "trust", "--encoding", "UTF8",
      "--locale", "C.UTF-8", "--no-sync", "--no-instructions", "--wal-segsize", "1",
    ])
  }

  /// Replaces its files by a copy of another server's, which it will follow.
  func copy(_ primary: DatabaseServer) throws {
    Folder.remove(data)
    try run([
      "pg_basebackup", "--pgdata", data, "--host", folder, "--port", "\(primary.port)",
      "--username", "relay", "--checkpoint", "fast", "--no-sync",
    ])
    // Not by pg_basebackup, whose own settings would take precedence over `configure`.
    try WholeFile.write([], to: "\(data)/standby.signal", permissions: 0o666)
  }

  /// Writes its configuration; a running server reads it again.
  /// - Parameters:
  ///   - source: the port of 127.0.0.1 from which it receives what the primary writes.
  ///   - waits: whether a commit waits for the standby.
  func configure(source: UInt16?, waits: Bool) throws {
    let lines = [
      "listen_addresses = ''", "unix_socket_directories = '\(folder)'", "port = \(port)",
      "max_connections = 100", "shared_buffers = '64MB'", "min_wal_size = '8MB'",
      "max_wal_size = '256MB'", "wal_keep_size = '64MB'", "wal_retrieve_retry_interval = '100ms'",
      "log_checkpoints = off",
      source.map { "primary_conninfo = 'host=127.0.0.1 port=\($0) user=relay'" } ?? "",
      "synchronous_standby_names = '\(waits ? "*" : "")'",
    ]
    try WholeFile.write(
      Array(lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")], to: configuration,
      permissions: 0o644)
    if let id { Glibc.kill(id, SIGHUP) }
  }

  /// Starts it, without waiting until it answers.
  mutating func start() throws {
    id = try ChildProgram.start(
      Self.unprivileged(endsWithThisThread: true)
        + ["\(programs)/postgres", "-D", data, "-c", "config_file=\(configuration)"],
      input: .null, output: .appending(log), errors: .appending(log), leadsGroup: true)
  }

  /// Sends a signal, and waits for the end.
  mutating func end(_ signal: Int32) {
    guard let id else { return }
    if signal == SIGKILL {
      // Each process of the server is in a group of its own. They all end as with their machine: one that
      // sees the first process end gives up its wait for the standby, and others then see its commit.
      Glibc.kill(id, SIGSTOP)
      for child in Self.children(of: id) { Glibc.kill(child, SIGKILL) }
    }
    Glibc.kill(id, signal)
    ChildProgram.wait(for: id)
    self.id = nil
  }

  /// Returns how it has ended by itself, once; `nil` if it has not.
  mutating func takeUnexpectedEnd() -> String? {
    guard let id else { return nil }
    var status: Int32 = 0
    guard unsafe waitpid(id, &status, WNOHANG) == id else { return nil }
    self.id = nil
    return "\(ChildProgram.Outcome(status: status))"
  }

  /// The CPU time of its processes that run, and of those that have ended.
  var cpuSeconds: Double {
    guard let id else { return 0 }
    return ([id] + Self.children(of: id)).reduce(0) { $0 + (ProcessorTime.seconds(of: $1) ?? 0) }
      + (ProcessorTime.secondsOfEndedChildren(of: id) ?? 0)
  }

  // MARK: Statements

  func connect() throws(PostgresError) -> PostgresConnection {
    try PostgresConnection(
      "host=\(folder) port=\(port) user=relay dbname=postgres connect_timeout=5")
  }

  /// Waits until it answers; throws if it ends meanwhile, or takes too long.
  mutating func awaitAnswer() throws {
    try wait("does not answer") { server throws(PostgresError) in
      try server.connect().run(PostgresStatement(once: "SELECT 1")())
      return true
    }
  }

  /// Waits until a standby has received and written all that this primary has written.
  mutating func awaitStandby() throws {
    let select = PostgresStatement(
      once: "SELECT count(*) FROM pg_stat_replication WHERE flush_lsn >= pg_current_wal_lsn()")
    try wait("has no standby that follows") { server throws(PostgresError) in
      try server.connect().run(select())[0].int(0, 0) > 0
    }
  }

  /// Whether a standby receives what it writes.
  var hasStandby: Bool {
    let select = PostgresStatement(
      once: "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'")
    return (try? connect().run(select())[0].int(0, 0) > 0) ?? false
  }

  private mutating func wait(
    _ what: String, until isTrue: (DatabaseServer) throws(PostgresError) -> Bool
  ) throws {
    let deadline = Instant.now().adding(milliseconds: Self.patienceMilliseconds)
    var reason = ""
    while Instant.now() < deadline {
      do throws(PostgresError) {
        if try isTrue(self) { return }
      } catch {
        reason = ": \(error)"
      }
      if let end = takeUnexpectedEnd() { throw failure("has ended: \(end)") }
      usleep(Self.lookMicroseconds)
    }
    throw failure("\(what) within \(Self.patienceMilliseconds / 1000) s\(reason)")
  }

  // MARK: Programs

  private func failure(_ what: String) -> Run.Failure {
    let lines = String(decoding: (try? TextFile.read(log)) ?? [], as: UTF8.self)
      .split(separator: "\n").suffix(5)
    return Run.Failure(
      description: "the PostgreSQL that the scenario spawns \(what)"
        + (lines.isEmpty ? "" : "; it wrote:\n\(lines.joined(separator: "\n"))"), isUsage: false)
  }

  private func run(_ words: [String]) throws {
    let id = try ChildProgram.start(
      Self.unprivileged(endsWithThisThread: false) + ["\(programs)/\(words[0])"]
        + words.dropFirst(), environment: ["HOME=\(folder)"], input: .null,
      output: .appending(log), errors: .appending(log))
    let outcome = ChildProgram.wait(for: id)
    guard outcome == .exit(0) else { throw failure("cannot \(words[0]): \(outcome)") }
  }

  /// The user that runs the servers: PostgreSQL refuses to run as root.
  static var owner: (user: uid_t, group: gid_t)? {
    guard geteuid() == 0, let entry = unsafe getpwnam("postgres") else { return nil }
    return unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
  }

  private static func unprivileged(endsWithThisThread: Bool) -> [String] {
    guard unsafe access(setpriv, X_OK) == 0 else { return [] }
    var words: [String] = []
    if let owner {
      words += [setpriv, "--reuid=\(owner.user)", "--regid=\(owner.group)", "--clear-groups"]
    }
    // A change of the user would cancel it.
    if endsWithThisThread { words += [setpriv, "--pdeathsig", "QUIT"] }
    return words
  }

  private static func children(of id: pid_t) -> [pid_t] {
    let text = (try? TextFile.read("/proc/\(id)/task/\(id)/children")) ?? []
    return String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { pid_t($0) }
  }
}
