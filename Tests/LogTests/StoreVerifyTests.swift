import Relay
import SQLiteLog
import TestSupport
import Testing

@Suite struct `Verifying a store` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Two rooms, three epochs.
  private func fill() async throws {
    for start in 0..<3 {
      let log = try SQLiteLog(folder: folder["data"])
      try await LogHarness(log).submit(
        (1...4).flatMap {
          [
            .append("general", "ada", "\(start)-\($0)"),
            .append("dm:ada:bo", $0 % 2 == 0 ? "ada" : "bo", "\(start)-\($0)"),
          ]
        })
      log.stop()
    }
  }

  @Test func `counts the content of a sound store`() async throws {
    try await fill()
    let verification = try Store.verify(folder: folder["data"])
    #expect(verification.count == StoreCount(rooms: 2, entries: 24))
    #expect(verification.breaks.isEmpty)
    #expect(verification.breakCount == 0)
    #expect(verification.notes.isEmpty)
  }

  @Test func `works beside a running relay`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    defer { log.stop() }
    let harness = try LogHarness(log)
    await harness.submit([.append("general", "ada", "1")])
    #expect(try Store.verify(folder: folder["data"]).count.entries == 1)
    await harness.submit([.append("general", "ada", "2")])
    #expect(try Store.verify(folder: folder["data"]).count.entries == 2)
  }

  @Test func `needs a store`() throws {
    let error = #expect(throws: StoreError.self) {
      try Store.verify(folder: folder["nowhere"])
    }
    #expect(error?.kind == .configuration)
    #expect(error?.description.contains("There is no store in") == true)
  }

  @Test(arguments: [
    ("DELETE FROM entries WHERE room = 1 AND seq = 5", "room general, seq 5: the entry is missing"),
    (
      "DELETE FROM entries WHERE room = 1 AND seq BETWEEN 5 AND 7",
      "room general, seq 5: the entries up to 7 are missing"
    ),
    ("DELETE FROM entries WHERE room = 1 AND seq = 1", "seq 1: the entry is missing"),
    ("UPDATE entries SET at = 5 WHERE room = 1 AND seq = 6", "seq 6: the clock goes back"),
    ("UPDATE entries SET epoch = 1 WHERE room = 1 AND seq = 9", "seq 9: the epoch goes back"),
    ("UPDATE entries SET epoch = 9 WHERE room = 1 AND seq = 12", "epoch 9 is not in the lineage"),
    (
      "UPDATE entries SET id = 'x' WHERE room = 1 AND seq = 2",
      "seq 2: it cannot be found by its id"
    ),
    (
      """
      UPDATE entries SET (id, identity) =
        (SELECT id, identity FROM entries WHERE room = 1 AND seq = 1) WHERE room = 1 AND seq = 7
      """, "seq 1: the id \"0-1\" of ada is also used by entry 7"
    ),
    (
      "UPDATE entries SET position = 999 WHERE room = 1 AND seq = 2",
      "seq 2: it was committed after entry 12"
    ),
    ("UPDATE entries SET body = x'22' WHERE room = 1 AND seq = 2", "seq 2: the content is invalid"),
    ("UPDATE entries SET kind = 'song' WHERE room = 1 AND seq = 2", "seq 2: the kind \"song\""),
    (
      "UPDATE rooms SET first = 99 WHERE number = 1",
      "room general: all entries are missing, from 99 on"
    ),
    ("UPDATE rooms SET name = 'UP' WHERE number = 1", "room UP: the room name is invalid"),
    ("DELETE FROM rooms WHERE number = 1", "room 1 has entries but no name"),
    (
      "UPDATE members SET read = 13 WHERE room = 1",
      "ada has read up to 13, but the last entry is 12"
    ),
    ("UPDATE members SET received = -1 WHERE room = 1", "ada has received up to -1"),
    ("DELETE FROM epochs WHERE number = 2", "epoch 3 follows epoch 1 in the lineage"),
    (
      "PRAGMA writable_schema = 1; DELETE FROM sqlite_schema WHERE name = 'members_by_user'",
      "the structure of the file is damaged"
    ),
  ])
  func `names the place that is broken`(_ change: String, _ problem: String) async throws {
    try await fill()
    try SQL(folder["data/relay.db"]).run(change)
    let verification = try Store.verify(folder: folder["data"])
    #expect(verification.breakCount > 0)
    #expect(
      verification.breaks.contains { $0.description.contains(problem) }, "\(verification.breaks)")
  }

  @Test func `finds bytes that have changed`() async throws {
    try await fill()
    let pages = folder.bytes(of: "data/relay.db") / 4096
    try #require(pages > 4)
    try run(
      "dd", "if=/dev/urandom", "of=\(folder["data/relay.db"])", "bs=4096", "seek=2", "count=3",
      "conv=notrunc", "status=none")
    let error = #expect(throws: StoreError.self) { try Store.verify(folder: folder["data"]) }
    #expect(error?.kind == .broken)
    #expect(error?.description.contains("Restore the data folder from a backup") == true)
  }
}
