import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

@Suite struct `Exporting and importing a store` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fill(_ name: String = "data", starts: Int = 2) async throws -> [String] {
    var epochs: [String] = []
    for start in 0..<starts {
      let log = try SQLiteLog(folder: folder[name])
      try await LogHarness(log).submit([
        .append("general", "ada", "\(start) \"quoted\\\"", text: "line\nbreak \u{1F600} \"q\" \\"),
        .append("general", "bo", "\(start)-d1", data: "{\n\t\"a\" : [1.50,\r\n \"\\n\\u00e9/\"] }"),
        .append("dm:ada:bo", "ada", "\(start)-d2", data: "\"\\\"}]\\\\\""),
        .append("general", "bo", "\(start)-d3", data: "[{\"raw\":\"\\n\",\"epoch\":1}]"),
      ])
      epochs.append(log.epoch)
      log.stop()
    }
    return epochs
  }

  private func export(_ name: String = "data", room: String? = nil) throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    let count = try Store.export(folder: folder[name], room: room) { lines.append($0) }
    #expect(count.entries == lines.count { !Self.isMarks($0) })
    return lines
  }

  private static func isMarks(_ line: [UInt8]) -> Bool {
    line.starts(with: #"{"type":"marks","#.utf8)
  }

  @discardableResult
  private func bring(_ lines: [[UInt8]], to name: String) throws -> StoreCount {
    var rest = lines[...]
    return try Store.import(folder: folder[name]) {
      rest.popFirst().map { $0.last == UInt8(ascii: "\n") ? $0.dropLast() : $0 }
    }
  }

  @Test func `brings back every byte`() async throws {
    let epochs = try await fill()
    let lines = try export()
    #expect(lines.count { !Self.isMarks($0) } == 8)
    #expect(lines.allSatisfy { $0.split(separator: UInt8(ascii: "\n")).count == 1 })
    #expect(lines.allSatisfy { $0.last == UInt8(ascii: "\n") })
    #expect(try bring(lines, to: "copy") == StoreCount(rooms: 2, entries: 8))
    #expect(try export("copy") == lines)
    let verification = try Store.verify(folder: folder["copy"])
    #expect(verification.breaks.isEmpty)
    #expect(verification.count == StoreCount(rooms: 2, entries: 8))

    func entries(_ name: String) async throws -> [Entry] {
      let log = try SQLiteLog(folder: folder[name])
      defer { log.stop() }
      let page = try await LogHarness(log).page("general", after: 0, through: 6)
      return page?.frames.entries ?? []
    }
    let original = try await entries("data")
    #expect(original.count == 6)
    #expect(try await entries("copy") == original)

    // Clients of the old store continue where they were, and nothing is duplicated.
    let log = try SQLiteLog(folder: folder["copy"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    let joined = await harness.subscribe("general", as: "cy", after: 3, epoch: epochs[0])
    #expect(joined?.resume == .ok)
    #expect(joined?.after == 3)
    let ahead = await harness.subscribe("general", as: "cy", after: 5, epoch: epochs[0])
    #expect(ahead?.resume == .diverged)
    #expect(ahead?.after == 3)
    let data = "{\n\t\"a\" : [1.50,\r\n \"\\n\\u00e9/\"] }"
    let again = await harness.submit([
      .append("general", "bo", "0-d1", data: data), .append("general", "bo", "0-d1", data: "1"),
    ])
    #expect(again.acks.map(\.duplicate) == [true])
    #expect(again.acks.map(\.seq) == [2])
    #expect(again.refusals.map(\.seq) == [2])
    // Every sender is a member, and so is the other user of a dm.
    #expect(await harness.memberships(of: "bo").map(\.room).sorted() == ["dm:ada:bo", "general"])
    // Between her first entry and her second are entries of bo, which she has not read.
    #expect(joined?.members?.first { $0.user == "ada" }?.read == 1)
  }

  private static let pagesOfEntries = 2500

  private func fillPages() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    for start in stride(from: 0, to: Self.pagesOfEntries, by: 500) {
      await harness.submit((start..<start + 500).map { .append("general", "ada", "\($0)") })
    }
    _ = await harness.subscribe("general", as: "cy")
  }

  @Test func `holds no transaction while a line is written, and so lets the log restart`()
    async throws
  {
    try await fillPages()
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let database = try SQL(folder["data/relay.db"])
    var lines = 0
    _ = try Store.export(folder: folder["data"]) { _ in
      lines += 1
      // The first column is 1 if a reader holds up the checkpoint.
      if lines % 100 == 1 {
        let isHeldUp = try database.integer("PRAGMA wal_checkpoint(TRUNCATE)") == 1
        #expect(!isHeldUp, "line \(lines)")
      }
    }
    #expect(lines == Self.pagesOfEntries + 2)
  }

  @Test func `exports the entries of its start, and marks that end with them`() async throws {
    try await fillPages()
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    let database = try SQL(folder["data/relay.db"])
    var lines: [[UInt8]] = []
    _ = try Store.export(folder: folder["data"]) { line in
      if lines.isEmpty {
        try database.run(
          """
          INSERT INTO entries SELECT max(position) + 1, room, max(seq) + 1, epoch, at, identity + 1,
            sender, 'later', kind, body, others, content FROM entries;
          UPDATE members SET read = 2501, received = 2501, since = 2501;
          """)
      }
      lines.append(line)
    }
    withExtendedLifetime(harness) {}
    #expect(try bring(lines, to: "copy").entries == Self.pagesOfEntries)
    let verification = try Store.verify(folder: folder["copy"])
    #expect(verification.breaks.isEmpty)
  }

  @Test func `a room that is trimmed while it is exported begins anew, and can be imported`()
    async throws
  {
    try await fillPages()
    let database = try SQL(folder["data/relay.db"])
    var lines: [[UInt8]] = []
    _ = try Store.export(folder: folder["data"]) { line in
      if lines.isEmpty {
        try database.run("UPDATE rooms SET first = 2000; DELETE FROM entries WHERE seq < 2000")
      }
      lines.append(line)
    }
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    #expect(
      texts.count { $0.contains(#"{"type":"trimmed","room":"general","first":2000}"#) } == 1)
    let kept = lines.flatMap { $0.split(separator: UInt8(ascii: "\n")).map(Array.init) }
    #expect(try bring(kept, to: "copy") == StoreCount(rooms: 1, entries: 501))
    let verification = try Store.verify(folder: folder["copy"])
    #expect(verification.breaks.isEmpty)
    #expect(verification.count.entries == 501)
    // A relay serves the copy.
    let log = try SQLiteLog(folder: folder["copy"])
    defer { log.stop() }
    let page = try await LogHarness(log).page("general", after: 1999, through: 2003)
    #expect(page?.frames.entries.map(\.seq) == [2000, 2001, 2002, 2003])
  }

  @Test func `can be for one room`() async throws {
    _ = try await fill()
    let lines = try export(room: "dm:ada:bo")
    #expect(lines.count { !Self.isMarks($0) } == 2)
    #expect(lines.allSatisfy { String(decoding: $0, as: UTF8.self).contains("dm:ada:bo") })
    #expect(throws: StoreError.self) { try export(room: "nowhere") }
  }

  @Test func `lines are messages with their epoch`() async throws {
    let epochs = try await fill(starts: 1)
    let line = String(decoding: try export()[1], as: UTF8.self)
    #expect(
      line.hasSuffix(
        #""kind":"data","data":{ \#u{9}"a" : [1.50,   "\n\u00e9/"] },"epoch":"\#(epochs[0])","#
          + #""raw":"{\n\t\"a\" : [1.50,\r\n \"\\n\\u00e9/\"] }"}"# + "\n"), "\(line)")
  }

  /// `ada` has sent two entries and read three; `cy` has sent none, and read the first of five.
  private func fillWithMarks() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    _ = await harness.subscribe("general", as: "cy")
    await harness.submit([
      .append("general", "ada", "1"), .append("general", "bo", "2"), .append("general", "bo", "3"),
    ])
    await harness.submit([
      .mark(room: "general", Marks(user: "ada", read: 2, received: 3)),
      .mark(room: "general", Marks(user: "cy", read: 1, received: 2)),
    ])
    await harness.submit([.append("general", "bo", "4"), .append("sys:canary", "sys.canary", "5")])
  }

  private func marks(_ name: String) async throws -> [String] {
    let log = try SQLiteLog(folder: folder[name])
    defer { log.stop() }
    let joined = try await LogHarness(log).subscribe("general", as: "dan")
    return (joined?.members ?? []).filter { $0.user != "dan" }
      .map { "\($0.user) \($0.read) \($0.received)" }.sorted()
  }

  @Test func `keeps the marks of all members, also of those that never sent`() async throws {
    try await fillWithMarks()
    let lines = try export()
    try bring(lines, to: "copy")
    #expect(try export("copy") == lines)
    #expect(try await marks("copy") == ["ada 2 3", "bo 4 4", "cy 1 2"])
    #expect(try await marks("data") == ["ada 2 3", "bo 4 4", "cy 1 2"])
    #expect(try Store.verify(folder: folder["copy"]).breaks.isEmpty)
  }

  @Test func `without marks, in the older format, makes the senders members`() async throws {
    try await fillWithMarks()
    try bring(try export().filter { !Self.isMarks($0) }, to: "copy")
    #expect(try await marks("copy") == ["ada 1 1", "bo 4 4"])
  }

  @Test func `leaves out the relay's own rooms`() async throws {
    try await fillWithMarks()
    let lines = try export().map { String(decoding: $0, as: UTF8.self) }
    #expect(!lines.contains { $0.contains("sys:") })
    let canary = try export(room: "sys:canary")
    #expect(canary.count { !Self.isMarks($0) } == 1)
    #expect(try bring(canary, to: "copy") == StoreCount())
  }

  @Test(arguments: [
    (#""room":"r""#, #""room":"other""#, "no entry of the room other"),
    (#""read":1"#, #""read":2"#, "the marks of ada exceed"),
    (#""received":1"#, #""received":2"#, "the marks of ada exceed"),
    (#""since":1"#, #""since":2"#, "the marks of ada exceed"),
    (#""since":1"#, #""until":1"#, "\"since\" is missing"),
    (#""user":"ada""#, #""user":"..""#, "not a valid user name"),
    (#""room":"r""#, #""room":7"#, "not a valid room name"),
  ])
  func `refuses impossible marks`(_ part: String, _ replacement: String, _ reason: String)
    throws
  {
    let good = #"{"type":"marks","room":"r","user":"ada","read":1,"received":1,"since":1}"#
    let bad = good.replacing(part, with: replacement)
    let error = #expect(throws: StoreError.self) {
      try bring([Array(Self.good.utf8), Array(bad.utf8)], to: "data")
    }
    #expect(error?.description.hasPrefix("Line 2 cannot be imported: ") == true)
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    let count = try bring([Array(Self.good.utf8), Array(good.utf8)], to: "data")
    #expect(count == StoreCount(rooms: 1, entries: 1))
  }

  @Test func `into a store with other rooms begins those rooms anew for clients`() async throws {
    let epochs = try await fill()
    let log = try SQLiteLog(folder: folder["other"])
    try await LogHarness(log).submit([.append("lobby", "ada", "1")])
    log.stop()
    try bring(try export(), to: "other")
    let again = try SQLiteLog(folder: folder["other"])
    defer { again.stop() }
    let joined = try await LogHarness(again).subscribe(
      "general", as: "bo", after: 3, epoch: epochs[0])
    #expect(joined?.resume == .reset)
    #expect(joined?.head == 6)
    #expect(try Store.verify(folder: folder["other"]).breaks.isEmpty)
  }

  @Test func `keeps rooms whose beginning is no longer kept`() async throws {
    _ = try await fill(starts: 3)
    let lines = Array(try export(room: "general").dropFirst(4))
    try bring(lines, to: "copy")
    let log = try SQLiteLog(folder: folder["copy"])
    defer { log.stop() }
    let joined = try await LogHarness(log).subscribe("general", as: "bo", after: 0)
    #expect(joined?.first == 5)
    #expect(joined?.head == 9)
    #expect(joined?.resume == .truncated)
  }

  @Test func `refuses a room that exists`() async throws {
    _ = try await fill()
    let error = #expect(throws: StoreError.self) { try bring(try export(), to: "data") }
    #expect(error?.description.contains("Line 1") == true)
    #expect(error?.description.contains("already has a room general") == true)
  }

  @Test func `refuses a store that is in use`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let error = #expect(throws: StoreError.self) { try bring([], to: "data") }
    #expect(error?.description.contains("in use") == true)
  }

  private static let good =
    #"{"type":"message","room":"r","seq":1,"id":"1","from":"ada","at":5,"kind":"text","#
    + #""text":"hi","epoch":"e"}"#

  @Test(arguments: [
    (#""seq":1"#, #""seq":4"#, "in room r, seq 4 does not follow seq 1"),
    (#""seq":1"#, #""seq":1"#, "in room r, seq 1 does not follow seq 1"),
    (#""seq":1,"id":"1""#, #""seq":2,"id":"1""#, "the id \"1\" of ada is already used by seq 1"),
    (#""seq":1,"id":"1","from":"ada","at":5"#, #""seq":2,"id":"2","from":"ada","at":4"#, "back"),
    (#""from":"ada""#, #""from":"ADA""#, "\"ADA\" is not a valid user name"),
    (#""room":"r""#, #""room":"a/b""#, "\"a/b\" is not a valid room name"),
    (#""id":"1""#, #""id":"é""#, "the \"id\" is not"),
    (#""kind":"text""#, #""kind":"song""#, "the kind \"song\" is unknown"),
    (#""text":"hi""#, #""text":7"#, "\"text\" is missing or invalid"),
    (#","epoch":"e""#, "", "\"epoch\" is missing"),
    (#""hi","#, #""hi""#, "not a JSON object"),
    (#""hi""#, #""\ud83d""#, "half of a surrogate pair"),
    (#""kind":"text","text":"hi""#, #""kind":"data","data":1,"raw":"2""#, "differ"),
    (
      #""kind":"text","text":"hi""#, #""kind":"file","file":"../../etc/passwd","name":"a""#,
      "\"file\" is not the id of a file"
    ),
    (
      #""kind":"text","text":"hi""#,
      #""kind":"file","file":"Yk3xV0aAb7QmK2xV0aAb7Q","name":"../a""#,
      "\"name\" is not a name of a file"
    ),
    (
      #""seq":1,"id":"1","from":"ada","at":5,"kind":"text","text":"hi""#,
      #""seq":2,"id":"2","from":"ada","at":5,"kind":"delete","target":2"#,
      "\"target\" 2 is not an earlier entry"
    ),
  ])
  func `refuses a line that is wrong, and with it the whole import`(
    _ part: String, _ replacement: String, _ reason: String
  ) throws {
    let bad = Self.good.replacing(part, with: replacement)
    let lines = [Array(Self.good.utf8), [], Array(bad.utf8)]
    let error = #expect(throws: StoreError.self) { try bring(lines, to: "data") }
    #expect(error?.description.hasPrefix("Line 3 cannot be imported: ") == true)
    #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
    #expect(error?.kind == .configuration)
    #expect(try Store.verify(folder: folder["data"]).count == StoreCount())
    #expect(try bring([Array(Self.good.utf8)], to: "data") == StoreCount(rooms: 1, entries: 1))
  }

  @Test func `refuses text that is not UTF-8`() throws {
    let line = Array(Self.good.utf8).map { $0 == UInt8(ascii: "h") ? 0xFF : $0 }
    let error = #expect(throws: StoreError.self) { try bring([line], to: "data") }
    #expect(error?.description.contains("not valid UTF-8") == true)
  }
}
