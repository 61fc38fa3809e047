import Platform
import Postgres
import PostgresLog
import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

/// Moving a log between SQLite and PostgreSQL, and checking it.
@Suite struct `Maintenance of a log in PostgreSQL` {
  private let server: PostgresServer
  private let folder: TemporaryFolder
  private let options: PostgresLog.Options

  init() throws {
    server = try PostgresServer.shared.get()
    folder = try TemporaryFolder()
    var options = PostgresLog.Options()
    options.schema = server.newSchema()
    options.requiresSync = false
    self.options = options
    _ = try Maintenance.migrate(url: server.url, options: options)
  }

  // MARK: - Moving

  private static let file = StoredFile(
    id: String(repeating: "f", count: 22), owner: "ada", hash: String(repeating: "a", count: 64),
    description: FileDescription(size: 100, mediaType: "text/plain"), uploadedAt: 1_000)

  /// Fills a folder with two rooms, two epochs, and every kind of entry.
  private func fill() async throws -> [String] {
    var epochs: [String] = []
    for start in 0..<2 {
      let log = try SQLiteLog(folder: folder["data"])
      let node = try LogHarness(log)
      _ = await node.subscribe("general", as: "cy")
      await node.submit([
        .append("general", "ada", "\(start)a", text: "line\nbreak \u{1F600} \"q\" \\ \(start)"),
        .append("general", "bo", "\(start)b", data: "{\n\t\"a\" : [1.50,\r\n \"\\n\\u00e9/\"] }"),
        .append("dm:ada:bo", "ada", "\(start)c", text: "secret"),
      ])
      let first = Int64(start == 0 ? 1 : 6)
      func send(_ send: ClientMessage.Send, _ user: String) -> LogRequest {
        .append(send, from: user)
      }
      await node.submit([
        send(.init(room: "general", id: "\(start)e", edit: first, text: "changed"), "ada"),
        send(.init(room: "general", id: "\(start)r", react: first, emoji: "👍", isOn: true), "bo"),
        send(.init(room: "general", id: "\(start)s", react: first, emoji: "👍", isOn: true), "cy"),
        .mark(room: "general", Marks(user: "cy", read: first, received: first + 1)),
      ])
      if start == 1 {
        await node.submit([send(.init(room: "dm:ada:bo", id: "d", delete: 1), "ada")])
        let origin = LogRequest.Origin(session: .test, re: .block, ref: nil)
        await node.submit([
          .block(.init(user: "ada", blocked: "bo", on: true, origin: origin)),
          .append("dm:ada:bo", "bo", "hidden", text: "answer me"),
        ])
        await node.submit([
          .ban(
            BanChange(user: "mallory", isBanned: true, until: 1 << 50),
            .init(by: "root", origin: origin))
        ])
        var settings = RoomSettings.Change()
        settings.title = "Den \"7\""
        settings.access = .private
        await node.submit([send(.init(room: "den", id: "1", settings: settings), "ada")])
        for (id, member) in [
          ("2", MemberChange(user: "bo", role: .moderator)),
          ("3", MemberChange(user: "cy", role: .banned, until: 1 << 50, reason: "spam")),
          ("4", MemberChange(user: "dee", role: .muted)),
        ] {
          await node.submit([send(.init(room: "den", id: id, member: member), "ada")])
        }
        await node.submit([.file(.add(Self.file), .upkeep)])
        await node.submit([
          send(.init(room: "den", id: "5", file: .init(id: Self.file.id, name: "a.txt")), "ada")
        ])
      }
      epochs.append(log.epoch)
      log.stop()
    }
    return epochs
  }

  private func exported(_ export: (([UInt8]) -> Void) throws -> StoreCount) throws -> [String] {
    var lines: [String] = []
    _ = try export { lines.append(String(decoding: $0.dropLast(), as: UTF8.self)) }
    return lines
  }

  private func exportSQLite(_ name: String) throws -> [String] {
    try exported { try Store.export(folder: folder[name], write: $0) }
  }

  private func exportPostgres() throws -> [String] {
    try exported { try Maintenance.export(url: server.url, options: options, write: $0) }
  }

  @discardableResult
  private func bring(_ lines: [String]) throws -> StoreCount {
    var rest = lines[...]
    return try Maintenance.import(url: server.url, options: options) {
      rest.popFirst().map { Array($0.utf8) }
    }
  }

  private func start() throws -> LogHarness {
    try LogHarness(
      PostgresLog(
        url: server.url, options: options, report: { Issue.record("\($0)") },
        end: { Issue.record("\($0)") }))
  }

  private func change(_ sql: String) throws {
    try PostgresConnection("\(server.url) options='-c search_path=\(options.schema)'").run(
      PostgresStatement(once: sql)())
  }

  @Test func `has the same of a person as SQLite`() async throws {
    _ = try await fill()
    _ = try bring(try exportSQLite("data"))
    for user in ["ada", "bo", "cy", "mallory"] {
      // When they were seen is not moved.
      func lines(_ read: ((PersonRecord) throws -> Void) throws -> Void) throws -> [String] {
        var lines: [String] = []
        try read { record in
          if case .seen = record { return }
          lines += record.line(of: user).map { [String(decoding: $0, as: UTF8.self)] } ?? []
        }
        return lines.sorted()
      }
      let stored = try lines { try Store.person(user, folder: folder["data"], $0) }
      let moved = try lines {
        try Maintenance.person(user, url: server.url, options: options, $0)
      }
      #expect(!stored.isEmpty)
      #expect(moved == stored)
    }
  }

  @Test func `moves every entry and mark from SQLite, and back`() async throws {
    let epochs = try await fill()
    let lines = try exportSQLite("data")
    #expect(lines.count { $0.contains(#""type":"message""#) } == 19)
    #expect(lines.contains { $0.contains(#""type":"direct""#) })
    #expect(lines.contains { $0.contains(#""type":"file","file":"\#(Self.file.id)""#) })
    #expect(lines.contains { $0.contains(#""type":"block","user":"ada","blocked":"bo""#) })
    #expect(lines.contains(#"{"type":"ban","user":"mallory","until":1125899906842624}"#))
    // Hidden entries of one room go with their block.
    let kinds = try exported {
      try Store.export(folder: folder["data"], room: "dm:ada:bo", write: $0)
    }
    #expect(kinds.count { $0.contains(#""type":"block""#) } == 1)
    #expect(kinds.allSatisfy { !$0.contains(#""type":"ban""#) })
    #expect(try bring(lines) == StoreCount(rooms: 3, entries: 19))
    let moved = try exportPostgres()
    #expect(moved.sorted() == lines.sorted())
    let verification = try Maintenance.verify(url: server.url, options: options)
    #expect(verification.breaks == [])
    #expect(verification.notes.first?.contains("has no data checksums") == true)
    #expect(verification.count == StoreCount(rooms: 3, entries: 19))

    var rest = moved[...]
    _ = try Store.import(folder: folder["copy"]) { rest.popFirst().map { Array($0.utf8) } }
    #expect(try exportSQLite("copy").sorted() == lines.sorted())
    #expect(try Store.verify(folder: folder["copy"]).breaks == [])

    // Clients of the old store continue where they were, and nothing is duplicated.
    let node = try start()
    defer { node.log.stop() }
    #expect(!epochs.contains(node.log.epoch), "what the old store got after the export is lost")
    let joined = await node.subscribe("general", as: "cy", after: 3, epoch: epochs[0])
    #expect(joined?.resume == .ok)
    let ahead = await node.subscribe("general", as: "cy", after: 9, epoch: epochs[0])
    #expect(ahead?.resume == .diverged)
    #expect(ahead?.after == 5)
    let marks = joined?.members?.first { $0.user == "cy" }
    #expect(marks?.read == 6)
    #expect(marks?.received == 7)
    let data = "{\n\t\"a\" : [1.50,\r\n \"\\n\\u00e9/\"] }"
    let again = await node.submit([.append("general", "bo", "0b", data: data)])
    #expect(again.acks.map(\.duplicate) == [true])
    #expect(again.acks.map(\.seq) == [2])
    var request = ClientMessage.HistoryRequest(room: "general")
    request.isFolded = true
    guard case .history(let page)? = await node.history(request) else {
      throw Unexpected("no history")
    }
    #expect(page.entries.first?.text == "changed")
    #expect(page.entries.first?.reactions.map(\.users) == [["bo", "cy"]])
    #expect(await node.submit([.append("general", "bo", "next")]).acks.map(\.seq) == [11])
    #expect(await node.submit([.append("new", "bo", "first")]).acks.map(\.seq) == [1])
    let deletion = ClientMessage.Send(room: "den", id: "6", delete: 5)
    await node.submit([.append(deletion, from: "ada")])
    #expect(try exportPostgres().allSatisfy { !$0.contains(#""type":"file""#) })
    #expect(try Maintenance.verify(url: server.url, options: options).breaks == [])
  }

  @Test func `a room whose beginning is no longer kept stays so`() async throws {
    _ = try await fill()
    let lines = try exportSQLite("data").filter { $0.contains(#""room":"general""#) }.dropFirst(5)
    try bring(Array(lines))
    #expect(try exportPostgres().sorted() == lines.sorted())
    #expect(try Maintenance.verify(url: server.url, options: options).breaks == [])
    let node = try start()
    defer { node.log.stop() }
    let joined = await node.subscribe("general", as: "bo", after: 0)
    #expect(joined?.first == 6)
    #expect(joined?.head == 10)
  }

  @Test func `one room can be exported, and one that does not exist cannot`() async throws {
    _ = try await fill()
    try bring(try exportSQLite("data"))
    let lines = try exported {
      try Maintenance.export(url: server.url, options: options, room: "dm:ada:bo", write: $0)
    }
    #expect(lines.count == 8)
    #expect(lines.allSatisfy { $0.contains("dm:ada:bo") || $0.contains(#""type":"block""#) })
    #expect(!lines.contains { $0.contains("secret") && $0.contains(#""seq":1,"#) })
    let error = #expect(throws: StoreFailure.self) {
      try Maintenance.export(url: server.url, options: options, room: "nowhere") { _ in }
    }
    #expect(error?.description.contains("no room nowhere") == true)
  }

  @Test func `into a log with other rooms begins those rooms anew for clients`() async throws {
    let epochs = try await fill()
    let before = try start()
    await before.submit([.append("lobby", "ada", "1")])
    before.log.stop()
    try bring(try exportSQLite("data"))
    let node = try start()
    defer { node.log.stop() }
    let joined = await node.subscribe("general", as: "bo", after: 3, epoch: epochs[0])
    #expect(joined?.resume == .reset)
    #expect(await node.subscribe("lobby", as: "bo")?.head == 1)
  }

  @Test func `is refused for a room that exists, and while a relay runs`() async throws {
    _ = try await fill()
    let lines = try exportSQLite("data")
    let node = try start()
    await node.submit([.append("general", "ada", "1")])
    let busy = #expect(throws: StoreFailure.self) { try bring(lines) }
    #expect(busy?.description.contains("1 relays use the log") == true)
    node.log.stop()
    let exists = #expect(throws: StoreFailure.self) { try bring(lines) }
    #expect(exists?.description.contains("already has a room general") == true)
    #expect(try exportPostgres().count == 2)
  }

  private static let good =
    #"{"type":"message","room":"r","seq":1,"id":"1","from":"ada","at":5,"kind":"text","#
    + #""text":"hi","epoch":"e"}"#

  @Test(arguments: [
    (#""seq":1"#, #""seq":4"#, "in room r, seq 4 does not follow seq 1"),
    (#""seq":1,"id":"1""#, #""seq":2,"id":"1""#, "the id \"1\" of ada is used by seq 1 and 2"),
    (
      #""from":"ada""#, #""from":"ADA""#,
      "Line 3 cannot be imported: \"ADA\" is not a valid user name"
    ),
  ])
  func `refuses a line that is wrong, and with it the whole import`(
    _ part: String, _ replacement: String, _ reason: String
  ) throws {
    let error = #expect(throws: StoreFailure.self) {
      try bring([Self.good, "", Self.good.replacing(part, with: replacement)])
    }
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    #expect(error?.description.contains("Nothing was imported") == true)
    #expect(try bring([Self.good]) == StoreCount(rooms: 1, entries: 1))
  }

  // MARK: - Verifying

  @Test(arguments: [
    ("DELETE FROM entries WHERE room = 1 AND seq = 2", "expected"),
    ("DELETE FROM rooms WHERE number = 1", "of a room that does not exist"),
    ("UPDATE entries SET id = '0a', sender = 'ada' WHERE room = 1 AND seq = 2", "as well"),
    ("UPDATE entries SET at = 1 WHERE room = 1 AND seq = 2", "the clock goes back"),
    ("UPDATE entries SET number = 9 WHERE room = 1 AND kind = 'edit' AND seq < 6", "not counted"),
    ("UPDATE entries SET target = 400 WHERE room = 1 AND kind = 'edit'", "it changes entry 400"),
    ("UPDATE members SET read = 400 WHERE room = 1 AND username = 'cy'", "the marks of cy"),
    ("UPDATE rules SET owners = 2", "the numbers of owners"),
    ("UPDATE standings SET since = 400", "let in by entry 400"),
    ("UPDATE file_entries SET seq = 400", "the table file_entries does not match"),
    ("UPDATE files SET entries = 2", "counts the entries that name it wrongly"),
    ("UPDATE files SET description = 'x'", "the description of the file"),
    ("UPDATE file_users SET bytes = 7", "the user ada has another size"),
    ("INSERT INTO unused_bytes SELECT hash FROM files", "is to be removed, and a file has it"),
  ])
  func `a damage is found`(sql: String, problem: String) async throws {
    _ = try await fill()
    try bring(try exportSQLite("data"))
    #expect(try Maintenance.verify(url: server.url, options: options).breakCount == 0)
    try change(sql)
    let verification = try Maintenance.verify(url: server.url, options: options)
    #expect(
      verification.breaks.contains { $0.problem.contains(problem) }, "\(verification.breaks)")
  }

  // MARK: - Migrating

  @Test func `tables that are current need no right to create any`() async throws {
    let (schema, role) = (options.schema, "user_of_\(options.schema)")
    try change("CREATE ROLE \(role) LOGIN")
    let url = "\(server.url) user=\(role)"
    func refusal() -> String? {
      do throws(StoreFailure) {
        try PostgresLog.check(url: url, options: options)
        return nil
      } catch {
        return error.description
      }
    }
    #expect(refusal()?.contains("GRANT USAGE ON SCHEMA \"\(schema)\" TO \"\(role)\"") == true)
    try change("GRANT USAGE ON SCHEMA \(schema) TO \(role)")
    #expect(refusal()?.contains("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES") == true)
    try change("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)")
    #expect(refusal() == nil)
    let log = try PostgresLog(
      url: url, options: options, report: { Issue.record("\($0)") }, end: { Issue.record("\($0)") })
    let node = try LogHarness(log)
    #expect(await node.submit([.append("general", "ada", "1")]).acks.map(\.seq) == [1])
    log.stop()
    // An older schema is one that this user may not migrate.
    try change("UPDATE settings SET version = 1")
    let error = #expect(throws: StoreFailure.self) {
      try PostgresLog(
        url: url, options: options, report: { Issue.record("\($0)") },
        end: { Issue.record("\($0)") })
    }
    #expect(error?.description.contains("run relay migrate as the owner") == true)
    try change("UPDATE settings SET version = 5")
    #expect(try Maintenance.migrate(url: server.url, options: options) == (5, 5))
  }

  @Test func `relays that start at the same time create the tables once`() async throws {
    for _ in 0..<5 {
      var options = options
      options.schema = server.newSchema()
      let (url, chosen) = (server.url, options)
      let logs = try await withThrowingTaskGroup(of: PostgresLog.self) { group in
        for _ in 0..<4 {
          // A thread of its own for each: they wait for each other.
          group.addTask {
            try await withCheckedThrowingContinuation { continuation in
              do {
                _ = try WorkerThread(name: "start") {
                  continuation.resume(
                    with: Result {
                      try PostgresLog(
                        url: url, options: chosen, report: { Issue.record("\($0)") },
                        end: { Issue.record("\($0)") })
                    })
                }
              } catch {
                continuation.resume(throwing: error)
              }
            }
          }
        }
        return try await group.reduce(into: [PostgresLog]()) { $0.append($1) }
      }
      #expect(Set(logs.map(\.epoch)).count == 1)
      for log in logs { log.stop() }
    }
  }

  @Test func `a log of a newer relay is refused`() throws {
    try change("UPDATE settings SET version = 1000")
    let error = #expect(throws: StoreFailure.self) {
      try Maintenance.migrate(url: server.url, options: options)
    }
    #expect(error?.description.contains("use the newer relay") == true)
    _ = #expect(throws: StoreFailure.self) {
      try Maintenance.verify(url: server.url, options: options)
    }
  }
}
