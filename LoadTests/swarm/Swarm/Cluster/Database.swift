internal import Glibc
internal import Platform
internal import Postgres

/// The PostgreSQL of a run: a primary, and a standby if the scenario has one. A thread of its own
/// carries out faults, and starts a server again that has ended by itself, as a supervisor would do.
final class Database: Sendable {
  enum Event: Sendable {
    case mark(String)
    /// The primary is not running any more, and a standby is promoted: nothing that is sent from now
    /// on can be lost with it.
    case primaryIsGone
    /// It answers again after a fault of this name.
    case answers(after: String)
  }

  enum Task: Sendable {
    case fault(Scenario.DatabaseFault)
    case measureProcessorTime(Mailbox<Double>)
  }

  /// The pause between two looks whether a server has ended.
  private static let lookMilliseconds = 200
  /// The pause between two looks for commits that wait for the standby.
  fileprivate static let cancelMicroseconds: UInt32 = 20_000
  /// The pause between two looks for connections that commit.
  fileprivate static let commitLookMicroseconds: UInt32 = 500

  private let tasks: WorkQueue<Task>
  private let thread: WorkerThread
  private let events: Mailbox<Event>
  /// Its descriptor is readable when there are events.
  var descriptor: Int32 { events.descriptor }

  /// The state of the thread.
  struct Servers: Sendable {
    var primary: DatabaseServer
    var standby: DatabaseServer?
    let kind: Scenario.Standby
    let links: LinkProxy
    let events: Mailbox<Event>
    /// A server could not be started, and is tried again; told once.
    var isFailing = false
  }

  /// Creates the servers, and waits until they answer.
  /// - Parameters:
  ///   - folder: becomes theirs.
  ///   - links: Its last link is the one of the replication.
  init(
    _ kind: Scenario.Standby, in folder: RelayFolder, links: LinkProxy, events: Mailbox<Event>
  ) throws {
    guard unsafe mkdir(folder.data, 0o700) == 0 || errno == EEXIST else {
      throw SystemError.last("mkdir \(folder.data)")
    }
    if let owner = DatabaseServer.owner {
      for path in [folder.path, folder.data] {
        guard unsafe chown(path, owner.user, owner.group) == 0 else {
          throw SystemError.last("chown \(path)")
        }
      }
    }
    let primary = try DatabaseServer(named: "a", in: folder, port: Self.ports[0])
    try primary.initialize()
    try primary.configure(source: nil, waits: false)
    var servers = Servers(
      primary: primary, standby: nil, kind: kind, links: links, events: events)
    if kind != .none {
      servers.standby = try DatabaseServer(named: "b", in: folder, port: Self.ports[1])
    }
    let tasks = WorkQueue<Task>()
    self.tasks = tasks
    self.events = events
    // The thread starts the servers, because they end with the thread that has started them.
    let started = try Mailbox<Result<Void, Run.Failure>>()
    thread = try WorkerThread(name: "database") { [servers] in
      var servers = servers
      do {
        try servers.begin()
        started.post(.success(()))
      } catch {
        started.post(
          .failure(error as? Run.Failure ?? .init(description: "\(error)", isUsage: false)))
      }
      while let taken = tasks.takeAll(timeoutMilliseconds: Self.lookMilliseconds) {
        servers.revive()
        for task in taken where !tasks.isEnding { servers.perform(task) }
      }
      servers.primary.end(SIGQUIT)
      servers.standby?.end(SIGQUIT)
    }
    var results: [Result<Void, Run.Failure>] = []
    while results.isEmpty {
      if started.wait(timeoutMilliseconds: -1) { started.drain(into: &results) }
    }
    do {
      try results[0].get()
    } catch {
      end()
      throw error
    }
  }

  /// The numbers in the names of the servers' sockets; only one of them exists without a standby.
  static let ports: [UInt16] = [5432, 5433]

  /// Begins a fault, after those that are under way.
  func perform(_ fault: Scenario.DatabaseFault) { tasks.append(.fault(fault)) }

  /// The CPU time of the servers that run. Waits for the faults under way.
  var cpuSeconds: Double {
    guard let answer = try? Mailbox<Double>() else { return 0 }
    tasks.append(.measureProcessorTime(answer))
    var answers: [Double] = []
    while answers.isEmpty {
      if answer.wait(timeoutMilliseconds: -1) { answer.drain(into: &answers) }
    }
    return answers[0]
  }

  func takeEvents() -> [Event] {
    var taken: [Event] = []
    events.drain(into: &taken)
    return taken
  }

  /// Ends the servers at once.
  func end() {
    tasks.close()
    thread.join()
  }
}

extension Database.Servers {
  mutating func begin() throws {
    try primary.start()
    try primary.awaitAnswer()
    if standby != nil { try beginStandby() }
  }

  /// Makes the standby a copy of the primary that follows it.
  private mutating func beginStandby() throws {
    guard var standby else { return }
    defer { self.standby = standby }
    links.forward(links.replication, to: primary.socket)
    try standby.copy(primary)
    try standby.configure(source: links.ports[links.replication], waits: false)
    try standby.start()
    try standby.awaitAnswer()
    try primary.awaitStandby()
    if kind == .synchronous { try primary.configure(source: nil, waits: true) }
  }

  mutating func perform(_ task: Database.Task) {
    switch task {
    case .measureProcessorTime(let answer):
      answer.post(primary.cpuSeconds + (standby?.cpuSeconds ?? 0))
    case .fault(let fault):
      do {
        try perform(fault)
      } catch {
        mark("cannot do that to PostgreSQL: \(error)")
      }
    }
  }

  private mutating func perform(_ fault: Scenario.DatabaseFault) throws {
    switch fault {
    case .kill(let milliseconds):
      primary.end(SIGKILL)
      mark("PostgreSQL killed for \(milliseconds) ms")
      try restart("kill of PostgreSQL", after: milliseconds)
    case .stop(let milliseconds):
      primary.end(SIGQUIT)
      mark("PostgreSQL stopped immediately, for \(milliseconds) ms")
      try restart("stop of PostgreSQL", after: milliseconds)
    case .restart:
      primary.end(SIGINT)
      mark("PostgreSQL restarted")
      try restart("restart of PostgreSQL", after: 0)
    case .promote(let milliseconds): try promote(after: milliseconds, cancelsWaits: false)
    case .promoteCancelled(let milliseconds):
      try promote(after: milliseconds, cancelsWaits: true)
    case .cancelWaits(let milliseconds): try cancelWaits(after: milliseconds)
    case .terminate:
      let count = try end("application_name LIKE 'relay %'", on: primary.connect())
      mark("\(count) connections of relays terminated")
    case .terminateCommits(let milliseconds): try terminateCommits(for: milliseconds)
    }
  }

  private mutating func restart(_ name: String, after milliseconds: Int) throws {
    usleep(UInt32(milliseconds) * 1_000)
    try primary.start()
    try primary.awaitAnswer()
    mark("PostgreSQL answers again")
    events.post(.answers(after: name))
  }

  private mutating func promote(after milliseconds: Int, cancelsWaits: Bool) throws {
    guard let next = standby, next.isRunning, primary.hasStandby else {
      return mark("the standby does not follow, and is not promoted")
    }
    links.hold(links.replication)
    defer { links.release(links.replication) }
    if cancelsWaits {
      let deadline = Instant.now().adding(milliseconds: milliseconds)
      let connection = try primary.connect()
      var count: Int64 = 0
      while Instant.now() < deadline {
        usleep(Database.cancelMicroseconds)
        count += try cancelWaits(on: connection)
      }
      mark("\(count) waits for the standby cancelled")
    } else {
      usleep(UInt32(milliseconds) * 1_000)
    }
    primary.end(SIGKILL)
    events.post(.primaryIsGone)
    try next.configure(source: nil, waits: false)
    try next.connect().run(PostgresStatement(once: "SELECT pg_promote()")())
    let former = primary
    (primary, standby) = (next, former)
    mark(
      "the primary killed, and the standby promoted"
        + (milliseconds > 0 ? ", after it had received nothing for \(milliseconds) ms" : ""))
    events.post(.answers(after: "promotion"))
    links.release(links.replication)
    try beginStandby()
    mark("the former primary is a standby")
  }

  private mutating func cancelWaits(after milliseconds: Int) throws {
    links.hold(links.replication)
    defer { links.release(links.replication) }
    usleep(UInt32(milliseconds) * 1_000)
    let count = try cancelWaits(on: primary.connect())
    mark("\(count) waits for the standby cancelled, after \(milliseconds) ms")
  }

  private func cancelWaits(on connection: PostgresConnection) throws(PostgresError) -> Int64 {
    let cancel = PostgresStatement(
      once: """
        SELECT count(*) FILTER (WHERE pg_cancel_backend(pid)) FROM pg_stat_activity
        WHERE wait_event = 'SyncRep'
        """)
    return try connection.run(cancel())[0].int(0, 0)
  }

  private func terminateCommits(for milliseconds: Int) throws {
    let connection = try primary.connect()
    let deadline = Instant.now().adding(milliseconds: milliseconds)
    var count: Int64 = 0
    while Instant.now() < deadline {
      count += try end("state = 'active' AND query = 'COMMIT'", on: connection)
      usleep(Database.commitLookMicroseconds)
    }
    mark("\(count) connections terminated while they committed")
    events.post(.answers(after: "termination"))
  }

  private func end(
    _ condition: String, on connection: PostgresConnection
  ) throws(PostgresError) -> Int64 {
    let terminate = PostgresStatement(
      once: """
        SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' AND \(condition)
        """)
    return try connection.run(terminate())[0].int(0, 0)
  }

  /// Starts servers that have ended by themselves, such as on a full disk.
  mutating func revive() {
    if let end = primary.takeUnexpectedEnd() {
      mark("PostgreSQL has ended by itself: \(end)")
    }
    if let end = standby?.takeUnexpectedEnd() { mark("the standby has ended by itself: \(end)") }
    do {
      if !primary.isRunning {
        try primary.start()
        try primary.awaitAnswer()
        mark("PostgreSQL answers again")
        events.post(.answers(after: "end of PostgreSQL"))
      }
      if var standby, !standby.isRunning {
        defer { self.standby = standby }
        try standby.start()
        try standby.awaitAnswer()
      }
      isFailing = false
    } catch {
      if !isFailing { mark("cannot start PostgreSQL, and keep trying: \(error)") }
      isFailing = true
    }
  }

  private func mark(_ text: String) { events.post(.mark(text)) }
}
