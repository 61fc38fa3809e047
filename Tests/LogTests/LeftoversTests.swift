import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

/// Work that a commit leaves for later, and stored forms of entries.
@Suite struct `Entries that are deleted or no longer kept` {
  private typealias Send = ClientMessage.Send
  private let folder: TemporaryFolder
  private static let unlimited = EntryLimits(editsPerEntry: 0, reactionsPerEntry: 0)

  init() throws { folder = try TemporaryFolder() }

  private func harness(keep: Int64 = 0, identityKey: EntryIdentity.Key? = nil) throws
    -> StoreHarness
  {
    try StoreHarness(
      folder["data"], keep: keep, limits: Self.unlimited, identityKey: identityKey)
  }

  private func breaks() throws -> [String] {
    try Store.verify(folder: folder["data"]).breaks.map(\.description)
  }

  /// Entry 1 with this number of edits.
  private func edit(_ count: Int, text: String = "", in harness: StoreHarness) {
    _ = harness.submit([.append("general", "ada", "0", text: "secret")])
    let edits = (1...count).map {
      LogRequest.append(
        Send(room: "general", id: "\($0)", edit: 1, text: "secret \($0)\(text)"), from: "ada")
    }
    #expect(harness.submit(edits).count == count)
  }

  private func delete(in harness: StoreHarness) {
    let delete = Send(room: "general", id: "delete", delete: 1)
    #expect(harness.submit([.append(delete, from: "ada")]).count == 1)
  }

  private func shows(_ word: String, _ harness: StoreHarness) throws -> Bool {
    var after: Int64? = 0
    var bytes: [UInt8] = []
    while let from = after, let page = harness.history(after: from) {
      bytes += ServerMessage.history(page).json
      after = page.more ? page.entries.last?.seq : nil
    }
    if let folded = harness.history(fold: true) { bytes += ServerMessage.history(folded).json }
    _ = try Store.export(folder: folder["data"]) { bytes += $0 }
    return String(decoding: bytes, as: UTF8.self).contains(word)
  }

  @Test func `a deletion overwrites edits a slice at a time, and shows none meanwhile`() throws {
    do {
      let harness = try harness()
      edit(1000, in: harness)
      #expect(try shows("secret 777", harness))
      delete(in: harness)
      #expect((1...128).contains(harness.store.redactedEdits))
      #expect(harness.store.hasLeftovers)
      #expect(try !shows("secret", harness))
      #expect(try breaks() == [])
      // They exist, and no reader shows them.
      #expect(try left() == 1000 - harness.store.redactedEdits)
      try harness.store.tidy()
    }
    // As after a crash: the remaining work is known.
    let harness = try harness()
    var slices = 0
    while harness.store.hasLeftovers {
      let before = harness.store.redactedEdits
      try harness.store.tidy()
      #expect(harness.store.redactedEdits - before <= 128)
      #expect(try !shows("secret", harness))
      slices += 1
    }
    #expect(slices >= 6)
    #expect(try left() == 0)
    #expect(try breaks() == [])
    #expect(try SQL(folder["data/relay.db"]).integer("SELECT count(*) FROM redactions") == 0)
  }

  @Test func `an edit that is still to be overwritten has no content to compare`() throws {
    let harness = try harness()
    edit(1000, in: harness)
    func again() -> LogAnswer? {
      harness.submit([.append("general", "ada", "999", text: "other")]).first
    }
    guard case .refused(_, let error)? = again(), error.code == .idConflict else {
      Issue.record("not refused: \(String(describing: again()))")
      return
    }
    delete(in: harness)
    #expect(harness.store.hasLeftovers)
    for _ in 0..<2 {
      guard case .ack(_, let ack)? = again() else {
        Issue.record("not acknowledged: \(String(describing: again()))")
        return
      }
      #expect(ack.seq == 1000)
      while harness.store.hasLeftovers { try harness.store.tidy() }
    }
  }

  /// The number of entries that still have the text.
  private func left() throws -> Int {
    Int(
      try SQL(folder["data/relay.db"]).integer(
        "SELECT count(*) FROM entries WHERE CAST(body AS TEXT) LIKE '%secret%'"))
  }

  @Test func `the bytes that one batch overwrites are bounded for all its deletions together`()
    throws
  {
    let harness = try harness()
    for target in stride(from: 1, to: 400, by: 41) as StrideTo<Int64> {
      var batch = [LogRequest.append("general", "ada", "\(target)", text: "secret")]
      for number in 1...40 {
        let edit = Send(
          room: "general", id: "\(target)-\(number)", edit: target, text: "secret \(number)")
        batch.append(.append(edit, from: "ada"))
      }
      // An edit of a text in the same batch is accepted as well.
      #expect(harness.submit(batch).count == 41)
    }
    let deletions = (stride(from: 1, to: 400, by: 41) as StrideTo<Int64>).map {
      LogRequest.append(Send(room: "general", id: "d\($0)", delete: $0), from: "ada")
    }
    _ = harness.submit(deletions)
    #expect((1...128).contains(harness.store.redactedEdits))
    #expect(try !shows("secret", harness))
    while harness.store.hasLeftovers { try harness.store.tidy() }
    #expect(harness.store.redactedEdits == 400)
    #expect(try left() == 0)
  }

  @Test func `large edits make smaller slices`() throws {
    let harness = try harness()
    edit(40, text: String(repeating: "x", count: 60_000), in: harness)
    delete(in: harness)
    // 512 KiB.
    #expect(harness.store.redactedEdits == 8)
    while harness.store.hasLeftovers { try harness.store.tidy() }
    #expect(try left() == 0)
  }

  @Test func `an edit that outlives its text is overwritten though retention has removed the text`()
    throws
  {
    let harness = try harness(keep: 300)
    edit(320, in: harness)
    delete(in: harness)
    for number in 0..<60 { _ = harness.submit([.append("general", "bo", "\(number)")]) }
    #expect(harness.history(after: 0, limit: 1)?.first ?? 0 > 1)
    #expect(try !shows("secret", harness))
    while harness.store.hasLeftovers { try harness.store.tidy() }
    try harness.index()
    try harness.sweep()
    #expect(try left() == 0)
    #expect(try breaks() == [])
  }

  @Test func `reactions to entries that are no longer kept are deleted in slices`() throws {
    let harness = try harness(keep: 3000)
    _ = harness.submit([.append("general", "ada", "0")])
    _ = harness.submit(
      (0..<2500).map {
        .append(Send(room: "general", id: "0", react: 1, emoji: "👍", isOn: true), from: "u\($0)")
      })
    _ = harness.submit((0..<1000).map { .append("general", "bo", "\($0)") })
    let file = try SQL(folder["data/relay.db"])
    #expect(try file.integer("SELECT count(*) FROM reactions") == 2500)
    var count: Int64 = 2500
    while harness.store.hasLeftovers {
      try harness.store.tidy()
      let rest = try file.integer("SELECT count(*) FROM reactions")
      #expect(count - rest <= 1024)
      count = rest
      #expect(try breaks() == [])
    }
    #expect(count == 0)
    #expect(try file.integer("SELECT count(*) FROM emoji") == 0)
  }

  @Test func `a reaction that changes nothing stores nothing`() throws {
    let harness = try harness()
    _ = harness.submit([.append("general", "ada", "0")])
    for number in 0..<50 {
      let react = Send(
        room: "general", id: "\(number)", react: 1, emoji: number % 2 == 0 ? "👍" : "🎉",
        isOn: number % 2 == 0)
      #expect(harness.submit([.append(react, from: "bo")]).count == 1)
    }
    let file = try SQL(folder["data/relay.db"])
    #expect(try file.integer("SELECT count(*) FROM reactions") == 1)
    #expect(try file.integer("SELECT users FROM emoji") == 1)
    #expect(try file.integer("SELECT seq FROM reactions") == 2)
  }

  /// Texts with edits, deletions and reactions.
  private func fill(_ harness: StoreHarness) {
    for number in 0..<40 {
      _ = harness.submit([.append("general", "ada", "t\(number)")])
      let target = harness.history(limit: 1)?.head ?? 0
      var batch: [LogRequest] = []
      for step in 0..<number % 7 {
        let id = "\(number)-\(step)"
        batch.append(
          .append(Send(room: "general", id: id, edit: target, text: "edit \(id)"), from: "ada"))
        for user in ["bo", "cy", "di"].prefix(step) {
          batch.append(
            .append(
              Send(
                room: "general", id: id, react: target, emoji: step % 3 == 0 ? "👍" : "a\"b",
                isOn: step % 5 != 4), from: user))
        }
      }
      if number % 9 == 8 {
        batch.append(.append(Send(room: "general", id: "d\(number)", delete: target), from: "ada"))
      }
      _ = harness.submit(batch)
    }
  }

  @Test func `an older store is brought up to date, and folds as before`() throws {
    // Older stores have no key.
    var harness: StoreHarness? = try harness(identityKey: EntryIdentity.Key.none)
    if let harness { fill(harness) }
    let folded = try #require(harness?.history(fold: true)?.entries)
    #expect(folded.contains { $0.reactions.count == 2 })
    #expect(folded.contains { $0.isDeleted })
    harness = nil
    do {
      let file = try SQL(folder["data/relay.db"])
      try file.run(
        """
        DROP TABLE edits; DROP TABLE reactions; DROP TABLE emoji; DROP TABLE redactions;
        DROP TABLE trims; DROP TABLE secrets; DROP TABLE rules; DROP TABLE standings;
        DROP TABLE blocks; DROP TABLE directs; DROP TABLE reports; DROP TABLE bans;
        DROP TABLE files; DROP TABLE file_entries; DROP TABLE file_users; DROP TABLE unused_bytes;
        PRAGMA user_version = 3;
        INSERT INTO entry_rows SELECT * FROM entries; DROP TABLE packs;
        ALTER TABLE entry_rows RENAME TO entries;
        ALTER TABLE entries DROP COLUMN others; ALTER TABLE entries DROP COLUMN content;
        """)
    }
    harness = try self.harness()
    #expect(harness?.history(fold: true)?.entries == folded)
    #expect(try breaks() == [])
    // A text that an older version has stored is deleted, with its edits.
    let target = try #require(folded.last { !$0.isDeleted && $0.reactions.count == 2 })
    _ = harness?.submit([
      .append(Send(room: "general", id: "gone", delete: target.seq), from: "ada")
    ])
    let after = try #require(harness?.history(fold: true)?.entries)
    #expect(after.first { $0.seq == target.seq }?.isDeleted == true)
    #expect(try breaks() == [])
  }

  @Test func `an import has every entry as in the export`() throws {
    let harness = try harness()
    fill(harness)
    var lines: [[UInt8]] = []
    _ = try Store.export(folder: folder["data"]) { lines.append($0.dropLast()) }
    var rest = lines[...]
    _ = try Store.import(folder: folder["copy"]) { rest.popFirst() }
    #expect(try Store.verify(folder: folder["copy"]).breaks.isEmpty)
    let copy = try StoreHarness(folder["copy"])
    #expect(copy.history(fold: true)?.entries == harness.history(fold: true)?.entries)
  }

  @Test(arguments: [
    ("DELETE FROM edits WHERE seq = (SELECT max(seq) FROM edits)", "the stored edits do not match"),
    ("UPDATE edits SET position = position + 1 WHERE target = 2", "the stored edits do not match"),
    ("DELETE FROM reactions WHERE user = 'bo'", "the stored reactions do not match"),
    ("UPDATE reactions SET seq = seq + 1", "the stored reactions do not match"),
    ("INSERT INTO reactions VALUES (1, 1, 'eve', 'x', 9)", "the stored reactions do not match"),
    ("UPDATE emoji SET users = users + 1", "the stored emoji counts do not match"),
  ])
  func `verify finds tables that contradict the entries`(_ statement: String, _ finding: String)
    throws
  {
    let harness = try harness()
    fill(harness)
    #expect(try breaks() == [])
    try SQL(folder["data/relay.db"]).run(statement)
    #expect(try breaks().contains { $0.contains(finding) })
  }
}
