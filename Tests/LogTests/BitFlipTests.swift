import Glibc
import Mixing
import Relay
import SQLiteLog
import Synchronization
import TestSupport
import Testing
import Wire

/// One bit of a data folder changes while no relay runs: `verify` finds it, or everything is served as
/// before. In no case is anything served that was not stored.
///
/// `BIT_FLIPS` is how many bits are tried, one at a time; `BIT_FLIP_SEED` selects others.
@Suite struct `A flipped bit` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func setting(_ name: String) -> Int? {
    unsafe getenv(name).flatMap { unsafe Int(String(cString: $0)) }
  }

  @Test func `is found or changes nothing, in a store that was closed`() throws {
    do {
      let harness = try StoreHarness(folder["data"], epochName: "first")
      try harness.fill()
    }
    for file in ["relay.db", "index.db"] {
      try SQL(folder["data/\(file)"]).run("PRAGMA wal_checkpoint(TRUNCATE)")
    }
    try flip(in: [served()])
  }

  @Test func `is found or changes nothing, in the files that a killed relay leaves`() throws {
    let harness = try StoreHarness(folder["live"], epochName: "first")
    try harness.fill()
    try folder.copy("live", to: "data")
    // What the last commit has stored may be lost with it, as in a loss of power.
    try folder.copy("data", to: "cut")
    let bytes = folder.bytes(of: "cut/relay.db-wal")
    try #require(unsafe truncate(folder["cut/relay.db-wal"], bytes - 1) == 0)
    try flip(in: [served(), served("cut")])
  }

  @Test func `stops no other request, and the operator is told once`() async throws {
    do {
      let harness = try StoreHarness(folder["data"])
      _ = harness.submit((1...600).map { .append("general", "ada", "\($0)", text: "text \($0).") })
      harness.send(1...1, to: "other")
      try harness.index()
    }
    try SQL(folder["data/relay.db"]).run("PRAGMA wal_checkpoint(TRUNCATE)")
    let text = Array("text 5.".utf8)
    let bytes = try readBytes(folder["data/relay.db"])
    let place = try #require(
      bytes.indices.first { bytes[$0...].starts(with: text) })
    try folder.flip(0, ofByte: place, in: "data/relay.db")
    let breaks = try Store.verify(folder: folder["data"]).breaks.map(\.description)
    #expect(
      breaks.contains("room general, seq 5: the entry at position 5 is damaged"), "\(breaks)")

    let reports = Mutex<[String]>([])
    let log = try SQLiteLog(folder: folder["data"]) { report in
      reports.withLock { $0.append(report) }
    }
    defer { log.stop() }
    let harness = try LogHarness(log)
    for _ in 1...3 {
      guard case .error(let error)? = await harness.history(.init(room: "general", after: 0))
      else {
        Issue.record("a damaged entry was served")
        break
      }
      #expect(error.code == .unavailable)
    }
    let rest = ClientMessage.HistoryRequest(room: "general", after: 500)
    guard case .history(let page)? = await harness.history(rest) else {
      Issue.record("sound entries of the room were not served")
      return
    }
    #expect(page.entries.first?.id == "501")
    let sent = await harness.submit([
      .append("general", "ada", "new"), .append("other", "ada", "new"),
      .append(.init(room: "general", id: "edit", edit: 5, text: "edited"), from: "ada"),
    ])
    #expect(sent.acks.map(\.id) == ["new", "new"])
    #expect(sent.refusals.map(\.code) == [.noSuchEntry])
    let told = reports.withLock { $0.filter { $0.contains("damaged") } }
    #expect(told.count { $0.hasPrefix("Reading fails") } == 1, "\(told)")
    #expect(told.allSatisfy { $0.contains("restore a backup") }, "\(told)")
  }

  @Test
  func `in an unindexed entry is told at the start, which fails if the entry's place is wrong`()
    throws
  {
    do { try StoreHarness(folder["data"]).send(1...3) }
    try SQL(folder["data/relay.db"]).run("PRAGMA wal_checkpoint(TRUNCATE)")
    try folder.copy("data", to: "misplaced")
    let bytes = try readBytes(folder["data/relay.db"])
    func place(of part: [UInt8]) throws -> Int {
      try #require(bytes.indices.first { bytes[$0...].starts(with: part) })
    }
    try folder.flip(0, ofByte: place(of: Array("\"text\":\"hi\"".utf8)), in: "data/relay.db")
    var told: [String] = []
    let harness = try StoreHarness(folder["data"]) { told.append($0) }
    #expect(told.count == 1)
    #expect(told.first?.contains("damaged entries, the first at position 1") == true, "\(told)")
    #expect(harness.send(4...4).map(\.seq) == [4])

    // The third entry: its distance in position, room, seq, epoch, as in `EntryPack`.
    try folder.flip(5, ofByte: place(of: [4, 2, 6, 2]) + 2, in: "misplaced/relay.db")
    let error = #expect(throws: StoreError.self) { try StoreHarness(folder["misplaced"]) }
    #expect(error?.kind == .broken)
    #expect(error?.description.contains("at position 3 is not known") == true)
  }

  @Test func `in the write-ahead log before commits that were synced keeps a store from starting`()
    throws
  {
    let harness = try StoreHarness(folder["live"])
    harness.send(1...3)
    harness.send(4...4)
    try folder.copy("live", to: "data")
    try folder.flip(0, ofByte: 32 + 24 + 100, in: "data/relay.db-wal")
    let breaks = try Store.verify(folder: folder["data"]).breaks
    #expect(breaks.contains { $0.problem.contains("commits in it cannot be read") }, "\(breaks)")
    let error = #expect(throws: StoreError.self) { try StoreHarness(folder["data"]) }
    #expect(error?.kind == .broken)
    #expect(error?.description.contains("relay.db-wal is damaged") == true)
  }

  private func served(_ name: String = "data") throws -> Served {
    try folder.copy(name, to: "sound")
    defer { _ = try? run("rm", "-r", folder["sound"]) }
    return try Served(folder["sound"])
  }

  /// - Parameter expected: what is served without damage, and what may be served instead.
  private func flip(in expected: [Served]) throws {
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    for served in expected { #expect(served.failed == []) }
    let files = ["relay.db", "relay.db-wal", "index.db", "index.db-wal"].map {
      (name: $0, bytes: folder.bytes(of: "data/\($0)"))
    }
    var random = SplitMix64(seed: UInt64(Self.setting("BIT_FLIP_SEED") ?? 1))
    var results: [String: Int] = [:]
    for _ in 0..<(Self.setting("BIT_FLIPS") ?? 50) {
      var place = Int.random(in: 0..<files.reduce(0) { $0 + $1.bytes }, using: &random)
      guard
        let file = files.first(where: {
          if place < $0.bytes { return true }
          place -= $0.bytes
          return false
        })
      else { break }
      let bit = UInt8.random(in: 0..<8, using: &random)
      try folder.copy("data", to: "flipped")
      try folder.flip(bit, ofByte: place, in: "flipped/\(file.name)")
      let isFound = ((try? Store.verify(folder: folder["flipped"]))?.breakCount ?? 1) > 0
      let served = try? Served(folder["flipped"])
      let change =
        expected.map { served?.change(from: $0) ?? .refused }.min { $0.rank < $1.rank } ?? .equal
      let what = "\(file.name), byte \(place), bit \(bit): \(change)"
      #expect(change.rank < 2, "\(what)")
      #expect(isFound || change.rank == 0, "\(what)")
      results["\(file.name): \(isFound ? "found" : "not found"), \(change.word)", default: 0] += 1
      try run("rm", "-r", folder["flipped"])
    }
    for (result, count) in results.sorted(by: { $0.key < $1.key }) { print("\(count) \(result)") }
  }
}

/// The answers of a store to many requests.
private struct Served {
  enum Change {
    case equal
    /// Some answers are errors, or some hints are wrong.
    case refused
    case other(String)

    var rank: Int {
      switch self {
      case .equal: 0
      case .refused: 1
      case .other: 2
      }
    }

    var word: String { ["equal", "refused", "other"][rank] }
  }

  /// `nil` = an error.
  private var answers: [String: String?] = [:]
  /// A list of rooms reads what is left of a damaged entry: its kind, which is counted as unread or not, and its time. A
  /// user whose list were refused would lose all rooms for that.
  private var hints: [String: String] = [:]
  private var lines: Set<[UInt8]> = []
  private var isExported = false

  static let rooms = ["general", "dm:ada:bo", "team", "large"]
  static let users = ["ada", "bo", "cy"]

  /// Starts a store, and asks it for all that it has.
  init(_ path: String) throws {
    var lines: Set<[UInt8]> = []
    isExported = (try? Store.export(folder: path) { lines.insert($0) }) != nil
    self.lines = lines
    let harness = try StoreHarness(path, epochName: "second")
    // Before joining makes them members of more rooms.
    for user in Self.users {
      let answer = harness.submit([
        .memberships(ticket: 7, user: user, listed: [], after: .start, limit: 100)
      ])
      guard case .memberships(_, _, let memberships, _, let isComplete)? = answer.first else {
        continue
      }
      for room in Self.rooms {
        var membership = memberships.first { $0.room == room }
        if let membership { hints["\(room) of \(user)"] = "\(membership)" }
        membership?.unread = Unread()
        membership?.lastAt = 0
        answers["\(room) of \(user)"] = .some(
          membership.map { "\($0)" } ?? (isComplete ? "none" : nil))
      }
    }
    for room in Self.rooms {
      for isFolded in [false, true] {
        answers["history of \(room), folded: \(isFolded)"] =
          .some(harness.history(room, fold: isFolded).map { "\($0)" })
      }
      let ids = harness.ids(of: room)
      answers["entries of \(room)"] = .some(ids == ["failed"] ? nil : "\(ids)")
      for user in Self.users where room != "team" || user != "cy" {
        let joined = harness.subscribe(room, as: user, after: 2)
        answers["\(user) joins \(room)"] = .some(joined.map { "\($0)" })
      }
    }
    for number in 1...60 {
      let acks = harness.submit([.append("general", "ada", "\(number)")]).acks
      // Where the entry cannot be compared, its id is new.
      answers["\(number) again"] = .some(
        acks.first.flatMap { $0.duplicate ? "\($0.seq)" : nil })
    }
    let asker = ReadRequest.Asker(user: "ada", isOperator: true, now: 2000)
    for (name, request) in [
      ("reports", ReadRequest.reports(.test, room: nil, by: asker)),
      ("users", .users(after: "", limit: 100)),
      ("seen", .lastSeen(.test, Self.users, for: .people)),
    ] {
      answers[name] = .some(Self.text(harness.reader.answer(request, .test)))
    }
    for room in Self.rooms {
      let answer = harness.reader.answer(.glimpses(.test, [(room, Int64(3))], by: asker), .test)
      guard case .glimpses(_, let glimpses) = answer else { continue }
      answers["glimpse of \(room)"] = .some(
        glimpses.first?.last.map { String(decoding: $0, as: UTF8.self) })
    }
    answers["blocks"] = .some((try? harness.store.blocks()).map { "\($0)" })
    answers["bans"] = .some((try? harness.store.bans()).map { "\($0)" })
  }

  private static func text(_ answer: LogAnswer?) -> String? {
    guard let answer else { return nil }
    if case .reply(_, let json) = answer {
      let text = String(decoding: json, as: UTF8.self)
      return text.contains("\"type\":\"error\"") ? nil : text
    }
    let text = "\(answer)"
    return text.contains("failed") || text.contains("unavailable") ? nil : text
  }

  /// What could not be answered.
  var failed: [String] {
    answers.filter { $0.value == nil }.map(\.key) + (isExported ? [] : ["export"])
  }

  func change(from sound: Served) -> Change {
    var change = isExported && hints == sound.hints ? Change.equal : .refused
    if !lines.isSubset(of: sound.lines) || isExported && lines != sound.lines {
      return .other("export")
    }
    for (name, answer) in sound.answers {
      let found = answers[name] ?? nil
      if found == answer { continue }
      if let found { return .other("\(name): \(found) instead of \(answer ?? "an error")") }
      change = .refused
    }
    return change
  }
}

extension StoreHarness {
  /// Stores something of every kind, and indexes a part of it.
  fileprivate func fill() throws {
    typealias Send = ClientMessage.Send
    func origin(_ re: RequestName) -> LogRequest.Origin {
      LogRequest.Origin(session: .test, re: re, ref: "r")
    }
    var settings = RoomSettings.Change()
    settings.access = .private
    send(1...40)
    _ = submit((1...20).map { .append("dm:ada:bo", $0 % 3 == 0 ? "bo" : "ada", "\($0)") })
    try index()
    send(41...60)
    _ = submit([
      .presence(user: "bo", from: .offline, to: .online),
      .presence(user: "bo", from: .online, to: .offline),
      .append(Send(room: "team", id: "1", settings: settings), from: "ada"),
      .append(Send(room: "team", id: "2", member: .init(user: "bo", role: .member)), from: "ada"),
      .append("team", "ada", "3"),
      .append("large", "ada", "1", text: String(repeating: "large ", count: 10_000)),
      .append("large", "bo", "2", data: "[1,2,3]"),
      .append(Send(room: "general", id: "edit", edit: 3, text: "another"), from: "ada"),
      .append(Send(room: "general", id: "react", react: 3, emoji: "👍", isOn: true), from: "bo"),
      .append(Send(room: "general", id: "delete", delete: 4), from: "ada"),
      .report(
        .init(
          room: "general", seq: 5, user: "bo", isOperator: false, reason: "spam",
          origin: origin(.report))),
      .block(.init(user: "cy", blocked: "bo", on: true, origin: origin(.block))),
    ])
    _ = submit([
      .subscribe("general", "bo"), .mark(room: "general", Marks(user: "bo", read: 7, received: 9)),
    ])
    _ = submit([.append("dm:ada:bo", "bo", "last")])
  }
}
