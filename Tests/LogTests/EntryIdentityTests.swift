import Relay
import SQLiteLog
import TestSupport
import Testing
import Wire

@Suite struct `An entry's identity` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `is the same in every version, since files contain it`() async throws {
    try SQLiteLog(folder: folder["data"]).stop()
    let database = try SQL(folder["data/relay.db"])
    try database.run(
      "UPDATE secrets SET value = x'000102030405060708090a0b0c0d0e0f' WHERE name = 'identity'")
    let log = try SQLiteLog(folder: folder["data"])
    try await LogHarness(log).submit([
      .append("general", "ada", "a1"), .append("general", "ada", "a2"),
      .append("general", "bo", "a1"), .append("other", "ada", "a1"),
    ])
    log.stop()
    let identities = try (1...4).map {
      try database.integer("SELECT identity FROM entries WHERE position = \($0)")
    }
    #expect(
      identities == [
        4_743_630_488_067_482_444, -734_481_321_304_325_530, 5_138_866_834_425_241_283,
        246_028_552_266_599_458,
      ])
  }

  @Test func `has a key that belongs to the store, and does not change`() throws {
    let first = try SQLiteStore(folder: folder["data"], now: 1000)
    let key = first.identityKey
    #expect(key != .none)
    let other = try SQLiteStore(folder: folder["other"], now: 1000)
    #expect(other.identityKey != key)
    withExtendedLifetime(first) {}
    try folder.copy("data", to: "again")
    #expect(try SQLiteStore(folder: folder["again"], now: 1000).identityKey == key)
  }

  /// Two ids with the same hash if there is no key, as anyone can find some.
  private static let colliding: (String, String)? = {
    var ids: [Int64: String] = [:]
    for number in 0..<400_000 {
      let id = "\(number)"
      let hash = EntryIdentity(room: 1, sender: "ada", id: id, key: .none).hash
      if let other = ids.updateValue(id, forKey: hash) { return (other, id) }
    }
    return nil
  }()

  @Test func `cannot be made equal to another by the choice of an id`() throws {
    let (one, other) = try #require(Self.colliding)
    func probes(_ key: EntryIdentity.Key, _ name: String) throws -> Int {
      let harness = try StoreHarness(folder[name], identityKey: key)
      _ = harness.submit([.append("r", "ada", one)])
      try harness.index()
      let answers = harness.submit([.append("r", "ada", other)])
      guard case .ack(_, let ack)? = answers.first, !ack.duplicate else {
        Issue.record("not stored: \(answers)")
        return -1
      }
      return harness.store.probes
    }
    // Without a key, as in older stores, an equal hash costs a lookup.
    let key = try #require(EntryIdentity.Key(bytes: Array(0..<16)))
    #expect(try probes(.none, "unkeyed") == 1)
    #expect(try probes(key, "keyed") == 0)
  }

  @Test func `that two entries share does not merge them`() async throws {
    let log = try SQLiteLog(folder: folder["data"])
    let harness = try LogHarness(log)
    await harness.submit([.append("general", "ada", "a1")])
    let database = try SQL(folder["data/relay.db"])
    // As if "a1" had the hash of the next id.
    await harness.submit([.append("general", "ada", "a2")])
    let identity = try database.integer("SELECT identity FROM entries WHERE id = 'a2'")
    try database.run("DELETE FROM entries WHERE id = 'a2'")
    try database.run("UPDATE entries SET identity = \(identity) WHERE position = 1")
    log.stop()
    let again = try SQLiteLog(folder: folder["data"])
    defer { again.stop() }
    let ack = try await LogHarness(again).submit([.append("general", "ada", "a2")]).acks.first
    #expect(ack?.duplicate == false)
    #expect(ack?.seq == 2)
  }
}
