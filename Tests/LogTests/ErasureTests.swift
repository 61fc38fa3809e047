import Glibc
import Mixing
import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

/// Content that was deleted, or is no longer kept, is in no file of the relay.
@Suite struct `Erasing deleted content` {
  private typealias Send = ClientMessage.Send

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A unique text of this length.
  private static func text(_ word: String, bytes: Int) -> String {
    String(String(repeating: "\(word) ", count: bytes / (word.utf8.count + 1) + 1).prefix(bytes))
  }

  @Test func `a deleted text and its edits are soon in no file`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    let harness = try LogHarness(log)
    // Of every length: within a page, beyond it, and over many.
    let lengths = [40, 8192, 61_440]
    var words: [String] = []
    for (index, length) in lengths.enumerated() {
      let target = Int64(index * 20 + 1)
      words += ["<secret-\(index)-text>", "<secret-\(index)-edit>"]
      await harness.submit([
        .append(
          Send(room: "r", id: "t\(index)", text: Self.text(words[index * 2], bytes: length)),
          from: "ada")
      ])
      await harness.submit([
        .append(
          Send(
            room: "r", id: "e\(index)", edit: target,
            text: Self.text(words[index * 2 + 1], bytes: length)), from: "ada")
      ])
      for other in 0..<18 {
        await harness.submit([
          .append("r", "bo", "\(index)-\(other)", text: Self.text("<kept>", bytes: 900))
        ])
      }
    }
    #expect(!folder.files(with: words).isEmpty)
    for index in lengths.indices {
      let delivery = await harness.submit([
        .append(Send(room: "r", id: "d\(index)", delete: Int64(index * 20 + 1)), from: "ada")
      ])
      #expect(delivery.acks.count == 1)
    }
    #expect(try await eventually { folder.files(with: words).isEmpty })
    #expect(folder.files(with: ["<kept>"]).contains("relay.db"))
    log.stop()
    #expect(folder.files(with: words).isEmpty)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `deleted data is soon in no file, and in no export`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    let harness = try LogHarness(log)
    let words = (0..<3).map { "<secret-\($0)-data>" }
    for (index, length) in [40, 8192, 61_440].enumerated() {
      let data = "{\"x\": \"\(Self.text(words[index], bytes: length))\"}"
      await harness.submit([
        .append("r", "ada", "t\(index)", data: data),
        .append("r", "bo", "t\(index)", text: Self.text("<kept>", bytes: 900)),
      ])
    }
    #expect(!folder.files(with: words).isEmpty)
    for seq in [1, 3, 5] as [Int64] {
      let delivery = await harness.submit([
        .append(Send(room: "r", id: "d\(seq)", delete: seq), from: "ada")
      ])
      #expect(delivery.acks.count == 1)
    }
    #expect(try await eventually { folder.files(with: words).isEmpty })
    #expect(folder.files(with: ["<kept>"]).contains("relay.db"))
    log.stop()
    #expect(folder.files(with: words).isEmpty)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    var lines: [UInt8] = []
    _ = try Store.export(folder: folder["data"]) { lines += $0 }
    #expect(!String(decoding: lines, as: UTF8.self).contains("secret"))
  }

  @Test func `a deletion just before the process is killed is carried out by the next start`()
    async throws
  {
    let killed = folder["killed"]
    do {
      let log = try SQLiteLog(folder: folder["data"])
      let harness = try LogHarness(log)
      await harness.submit([.append("r", "ada", "1", text: "<a secret of mine>")])
      await harness.submit([.append(Send(room: "r", id: "2", delete: 1), from: "ada")])
      // The files are now as a killed process leaves them, unless the deletion is carried out.
      try folder.copy("data", to: "killed")
      log.stop()
    }
    // Without a checkpointer the write-ahead log certainly still has the deleted text.
    let harness = try StoreHarness(folder["alone"])
    harness.send(1...1)
    _ = harness.submit([.append("r", "ada", "1", text: "<a secret of mine>")])
    _ = harness.submit([.append(Send(room: "r", id: "2", delete: 1), from: "ada")])
    try folder.copy("alone", to: "left")
    #expect(folder.files(with: ["<a secret of mine>"], in: "left") == ["relay.db-wal"])
    _ = try StoreHarness(folder["left"])
    #expect(folder.files(with: ["<a secret of mine>"], in: "left").isEmpty)
    _ = try StoreHarness(killed)
    #expect(folder.files(with: ["<a secret of mine>"], in: "killed").isEmpty)
  }

  @Test func `entries that are no longer kept are in no file, even if rows were moved meanwhile`()
    async throws
  {
    let log = try SQLiteLog(
      folder: folder["data"], keepEntriesPerRoom: 10, tickMilliseconds: 20)
    let harness = try LogHarness(log)
    // Rooms of different pace: rows are removed from between others, and pages are merged.
    var random = SplitMix64(seed: 7)
    var heads: [Int: Int] = [:]
    var id = 0
    for _ in 0..<40 {
      await harness.submit(
        (0..<100).map { _ in
          id += 1
          let room = min(
            Int.random(in: 0..<40, using: &random), Int.random(in: 0..<40, using: &random))
          heads[room, default: 0] += 1
          let word = "<\(room):\(heads[room] ?? 0)>"
          return .append(
            "room-\(room)", "ada", "\(id)",
            text: Self.text(word, bytes: Int.random(in: 20..<900, using: &random)))
        })
    }
    let gone = heads.flatMap { room, head in
      head > 11 ? (1...head - 11).map { "<\(room):\($0)>" } : []
    }
    let kept = heads.map { room, head in "<\(room):\(head)>" }
    #expect(gone.count > 2000)
    #expect(try await eventually { folder.files(with: gone).isEmpty })
    #expect(kept.allSatisfy { !folder.files(with: [$0]).isEmpty })
    log.stop()
    #expect(folder.files(with: gone).isEmpty)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
  }

  @Test func `idle rooms are trimmed to a limit that was set later`() async throws {
    do {
      let log = try SQLiteLog(folder: folder["data"])
      let harness = try LogHarness(log)
      await harness.submit((1...2000).map { .append("r", "ada", "\($0)", text: "<entry \($0)>") })
      await harness.submit([.append("small", "ada", "1")])
      log.stop()
    }
    let log = try SQLiteLog(
      folder: folder["data"], keepEntriesPerRoom: 10, tickMilliseconds: 20)
    let harness = try LogHarness(log)
    let gone = [1, 2, 1000, 1989, 1990].map { "<entry \($0)>" }
    #expect(try await eventually { folder.files(with: gone).isEmpty })
    let joined = await harness.subscribe("r", as: "bo", after: 1995)
    #expect(joined?.first == 1991)
    #expect(joined?.head == 2000)
    #expect(joined?.resume == .ok)
    // A sender's mark passes own entries even if they are no longer kept.
    #expect(joined?.members?.first { $0.user == "ada" }?.read == 2000)
    log.stop()
    #expect(folder.files(with: gone).isEmpty)
    #expect(try Store.verify(folder: folder["data"]).breaks.isEmpty)
    #expect(try SQL(folder["data/relay.db"]).integer("SELECT count(*) FROM entries") == 11)
  }

  @Test func `an export has the entries that readers see, and an import keeps their numbers`()
    async throws
  {
    let log = try SQLiteLog(
      folder: folder["data"], keepEntriesPerRoom: 10, tickMilliseconds: 1_000_000)
    let harness = try LogHarness(log)
    for id in 1...30 { await harness.submit([.append("r", "ada", "\(id)", text: "<entry \(id)>")]) }
    let first = try #require(await harness.subscribe("r", as: "bo")?.first)
    log.stop()
    // Not swept: the rows still exist.
    #expect(try SQL(folder["data/relay.db"]).integer("SELECT count(*) FROM entries") == 30)
    var lines: [[UInt8]] = []
    _ = try Store.export(folder: folder["data"]) { lines.append($0) }
    // The marks of `ada` and `bo` follow the entries.
    #expect(lines.count == 30 - Int(first) + 1 + 2)
    #expect(!String(decoding: lines.joined(), as: UTF8.self).contains("<entry 1>"))
    var rest = lines[...]
    _ = try Store.import(folder: folder["copy"]) { rest.popFirst()?.dropLast() }
    let copy = try SQLiteLog(folder: folder["copy"])
    defer { copy.stop() }
    let joined = try await LogHarness(copy).subscribe("r", as: "bo", after: 0)
    #expect(joined?.first == first)
    #expect(joined?.head == 30)
  }
}

@Suite struct `Measured: erasing deleted content` {
  @Test func `a deleted text is in no file within 3 seconds`() async throws {
    let folder = try TemporaryFolder()
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    await harness.submit([.append("r", "ada", "1", text: "<secret>")])
    #expect(!folder.files(with: ["<secret>"]).isEmpty)
    let start = ContinuousClock.now
    await harness.submit([.append(.init(room: "r", id: "2", delete: 1), from: "ada")])
    #expect(try await eventually { folder.files(with: ["<secret>"]).isEmpty })
    #expect(ContinuousClock.now - start < .seconds(3))
  }
}

extension TemporaryFolder {
  private static let files = [
    "relay.db", "relay.db-wal", "relay.db-shm", "index.db", "index.db-wal", "index.db-shm",
  ]

  /// The files of a store that contain one of these words, each of which is in angle brackets.
  fileprivate func files(with words: [String], in store: String = "data") -> [String] {
    let words = Set(words.map { Array($0.utf8)[...] })
    return Self.files.filter { name in
      ((try? readBytes(self["\(store)/\(name)"])) ?? []).hasWord { words.contains($0) }
    }
  }
}

extension [UInt8] {
  /// Whether `isWanted` returns true for one of the words in angle brackets.
  fileprivate func hasWord(_ isWanted: (ArraySlice<UInt8>) -> Bool) -> Bool {
    var rest = self[...]
    while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
      rest = rest[start...].dropFirst()
      if let end = rest.prefix(40).firstIndex(of: UInt8(ascii: ">")), isWanted(self[start...end]) {
        return true
      }
    }
    return false
  }
}
