import Postgres
import PostgresLog
import Relay
import Synchronization
import TestSupport
import Testing
import Wire

/// What a server must be like to be a log. Each test has a server of its own.
@Suite struct `The server of a log in PostgreSQL` {
  /// Returns why a server is refused; `nil` if it is not.
  func refusal(
    of url: String, _ change: (inout PostgresLog.Options) -> Void = { _ in }
  ) -> String? {
    var options = PostgresLog.Options()
    change(&options)
    do throws(StoreFailure) {
      try PostgresLog.check(url: url, options: options)
      return nil
    } catch {
      return error.description
    }
  }

  @Test(arguments: [
    ("fsync=off", "fsync is off"), ("full_page_writes=off", "full_page_writes is off"),
    ("synchronous_commit=off", "synchronous_commit is off"),
  ])
  func `is refused with a setting that loses entries with the power, unless that is accepted`(
    setting: String, reason: String
  ) throws {
    let server = try PostgresServer(settings: ["fsync=on", setting])
    let message = try #require(refusal(of: server.url))
    #expect(message.contains(reason), "\(message)")
    #expect(message.contains("log.durability: os"))
    #expect(refusal(of: server.url) { $0.requiresSync = false } == nil)
  }

  @Test(arguments: [
    ("synchronous_standby_names=", "synchronous_standby_names is empty"),
    ("synchronous_commit=remote_write", "synchronous_commit is remote_write"),
    ("synchronous_commit=local", "synchronous_commit is local"),
    ("synchronous_commit=on", "no synchronous standby is connected"),
  ])
  func `is refused without a synchronous standby, if that is required`(
    setting: String, reason: String
  ) throws {
    let server = try PostgresServer(settings: [
      "fsync=on", "synchronous_standby_names=a,b", setting,
    ])
    let message = try #require(refusal(of: server.url) { $0.requiresReplication = true })
    #expect(message.contains(reason), "\(message)")
    #expect(message.contains("log.require: local"))
    #expect(refusal(of: server.url) == nil)
  }

  @Test func `is refused if its database cannot store every text`() throws {
    let server = try PostgresServer()
    try PostgresConnection(server.url).run(
      PostgresStatement(
        once: "CREATE DATABASE latin TEMPLATE template0 ENCODING LATIN1 LOCALE 'C'")())
    let message = refusal(of: "\(server.url) dbname=latin") { $0.requiresSync = false }
    #expect(message?.contains("the encoding of the database latin is not UTF8") == true)
  }

  @Test func `is refused if the user may not create tables, and there are none`() throws {
    let server = try PostgresServer()
    try PostgresConnection(server.url).run(
      PostgresStatement(once: "CREATE ROLE guest LOGIN")())
    let url = "\(server.url) user=guest"
    let message = refusal(of: url) { $0.requiresSync = false }
    #expect(message?.contains("GRANT CREATE ON DATABASE \"postgres\" TO \"guest\"") == true)
  }

  /// A setting that an operator changes while a relay runs.
  @Test func `is not written to while a setting is wrong`() async throws {
    let server = try PostgresServer(settings: ["fsync=on"])
    let standby = try Standby(of: server)
    let reports = Mutex<[String]>([])
    var options = PostgresLog.Options()
    options.requiresReplication = true
    let log = try PostgresLog(
      url: server.url, options: options, report: { text in reports.withLock { $0.append(text) } },
      end: { Issue.record("\($0)") })
    let node = try LogHarness(log)
    defer { log.stop() }
    var attempt: UInt32 = 0
    /// Sends until one is answered as expected.
    func send(until isStored: Bool) async throws {
      for _ in 0..<2000 {
        attempt += 1
        let session = SessionID(index: 1, generation: attempt)
        let delivery = await node.submit([
          .append("general", "ada", "\(attempt)", session: session)
        ])
        if delivery.acks.isEmpty != isStored { return }
        #expect(delivery.refusals.allSatisfy { $0.code == .unavailable })
        try await Task.sleep(for: .milliseconds(50))
      }
      throw Unexpected("the log never \(isStored ? "stored" : "refused") an entry")
    }
    try await send(until: true)
    try server.set("synchronous_commit", to: "local")
    try await send(until: false)
    // Clients are answered before the operator is told.
    for _ in 0..<2000 where reports.withLock({ $0.isEmpty }) {
      try await Task.sleep(for: .milliseconds(50))
    }
    let report = reports.withLock { $0.first } ?? ""
    #expect(report.hasPrefix("Writing fails: "), "\(report)")
    #expect(report.contains("synchronous_commit is local"), "\(report)")
    try server.set("synchronous_commit", to: "on")
    try await send(until: true)
    withExtendedLifetime(standby) {}
  }

  // MARK: - Poolers

  @Test(arguments: ["transaction", "statement"])
  func `is refused behind a pooler that shares sessions`(mode: String) throws {
    let server = try PostgresServer()
    let pooler = try Pooler(of: server, mode: mode)
    let message = refusal(of: pooler.url) { $0.requiresSync = false }
    #expect(message?.contains("goes through a pooler") == true, "\(message ?? "accepted")")
    #expect(message?.contains("pool_mode = session") == true)
  }

  @Test func `is refused behind such a pooler, however many sessions it has open`() throws {
    let server = try PostgresServer()
    for setting in ["server_round_robin = 0", "server_round_robin = 1"] {
      let pooler = try Pooler(of: server, mode: "transaction", settings: setting)
      // Several at once, so that the pooler keeps several sessions.
      let connections = try (0..<5).map { _ in try PostgresConnection(pooler.url) }
      for connection in connections { try connection.run(PostgresStatement(once: "BEGIN")()) }
      for connection in connections { try connection.run(PostgresStatement(once: "COMMIT")()) }
      #expect(
        refusal(of: pooler.url) { $0.requiresSync = false }?.contains("a pooler") == true,
        "\(setting)")
    }
  }

  @Test func `works behind a pooler that does not`() async throws {
    let server = try PostgresServer()
    let pooler = try Pooler(of: server, mode: "session")
    var options = PostgresLog.Options()
    options.requiresSync = false
    let log = try PostgresLog(
      url: pooler.url, options: options, report: { Issue.record("\($0)") },
      end: { Issue.record("\($0)") })
    let node = try LogHarness(log)
    #expect(await node.submit([.append("general", "ada", "a1")]).acks.map(\.seq) == [1])
    log.stop()
  }

  // MARK: - Connecting

  @Test(arguments: [
    "postgresql://relay:hush@/x?bad=1", "postgresql://relay:hu@sh@db/relay",
    "postgresql://relay:hu/sh@db/relay", "postgres://relay:hush@db/relay?sslmod=x",
    "postgresq://relay:hush@db/relay", "host=db password='hush", "password = hush host",
    "postgresql://relay:hush@[::1/relay",
  ])
  func `is not named with its password, if its URL is wrong`(url: String) throws {
    let message = try #require(refusal(of: url))
    for part in ["hush", "hu@", "sh@", "hu/", "sh@db"] {
      #expect(!message.contains(part), "\(message)")
    }
    #expect(message.contains("cannot read the connection string"), "\(message)")
  }

  @Test func `is waited for while it starts`() async throws {
    let server = try PostgresServer()
    try server.crash()
    let reports = Mutex<[String]>([])
    var options = PostgresLog.Options()
    options.requiresSync = false
    let (url, chosen) = (server.url, options)
    async let starting = Task.detached {
      try PostgresLog(
        url: url, options: chosen, report: { text in reports.withLock { $0.append(text) } },
        end: { Issue.record("\($0)") })
    }.value
    while reports.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(10)) }
    #expect(
      reports.withLock { $0[0] }.hasPrefix("The relay waits for PostgreSQL, for at most 60 s: "))
    try server.restart()
    let log = try await starting
    let node = try LogHarness(log)
    #expect(await node.submit([.append("general", "ada", "a1")]).acks.map(\.seq) == [1])
    log.stop()
  }

  @Test(arguments: [
    ("user=nobody", "28000"), ("dbname=nothing", "3D000"), ("user=guest", "GRANT CREATE"),
  ])
  func `is not waited for if waiting does not help`(change: String, reason: String) throws {
    let server = try PostgresServer()
    try PostgresConnection(server.url).run(
      PostgresStatement(once: "CREATE ROLE guest LOGIN")())
    var options = PostgresLog.Options()
    options.requiresSync = false
    let reports = Mutex<[String]>([])
    let chosen = options
    let error = #expect(throws: StoreFailure.self) {
      try PostgresLog(
        url: "\(server.url) \(change)", options: chosen,
        report: { text in reports.withLock { $0.append(text) } }, end: { Issue.record("\($0)") })
    }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    #expect(reports.withLock { $0 } == [])
  }

  @Test func `is not waited for any longer once that is cancelled, or the time is over`() throws {
    let server = try PostgresServer()
    try server.crash()
    var options = PostgresLog.Options()
    var looks = 0
    _ = #expect(throws: StoreFailure.self) {
      try PostgresLog(
        url: server.url, options: options, report: { _ in }, end: { Issue.record("\($0)") },
        isCancelled: {
          looks += 1
          return looks > 2
        })
    }
    #expect(looks == 3)
    options.waitSeconds = 0
    _ = #expect(throws: StoreFailure.self) {
      try PostgresLog(
        url: server.url, options: options, report: { Issue.record("\($0)") },
        end: { Issue.record("\($0)") })
    }
  }
}

extension PostgresServer {
  /// Changes a setting, and has the server read it.
  fileprivate func set(_ name: String, to value: String) throws {
    let connection = try PostgresConnection(url)
    try connection.run(
      PostgresStatement(once: "ALTER SYSTEM SET \(name) = '\(value)'")())
    try connection.run(PostgresStatement(once: "SELECT pg_reload_conf()")())
  }
}

/// A program that receives the write-ahead log of a server, and confirms what it has synced: for the
/// server, a synchronous standby.
private final class Standby {
  private let folder: TemporaryFolder
  private let process: ChildProcess

  init(of server: PostgresServer) throws {
    folder = try TemporaryFolder()
    process = try ChildProcess([
      "\(try PostgresServer.programs())/pg_receivewal", "--synchronous", "--no-password",
      "--directory",
      folder.path, "--dbname", "\(server.url) application_name=standby",
    ])
    let connection = try PostgresConnection(server.url)
    try server.set("synchronous_standby_names", to: "standby")
    let count = PostgresStatement(
      once: "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
    guard try becomesTrue(within: Deadline(), { try connection.run(count())[0].int(0, 0) == 1 })
    else {
      throw Unexpected("the standby is not synchronous: \(process.errors)")
    }
  }
}

/// A pgbouncer before a server.
private final class Pooler {
  private let folder: TemporaryFolder
  private let process: ChildProcess

  var url: String { "host=\(folder.path) port=6432 user=relay dbname=postgres" }

  init(of server: PostgresServer, mode: String, settings: String = "") throws {
    folder = try TemporaryFolder()
    try folder.write(
      """
      [databases]
      postgres = \(server.url)
      [pgbouncer]
      unix_socket_dir = \(folder.path)
      listen_port = 6432
      auth_type = any
      pool_mode = \(mode)
      \(settings)
      """, to: "pgbouncer.ini")
    process = try ChildProcess(
      PostgresServer.unprivileged(owning: folder) + ["pgbouncer", folder["pgbouncer.ini"]])
    let (url, process) = (url, process)
    guard becomesTrue(within: Deadline(), { (try? PostgresConnection(url)) != nil }) else {
      throw Unexpected("pgbouncer has not started: \(process.errors)")
    }
  }
}
