import SQLiteLog
import Testing
import Wire

@Suite struct `An entry's identity` {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  @Test func `is the same in every version, since files have it`() async throws {
    let log = try SQLiteLog(directory: directory["data"])
    try await Desk(log).submit([
      .append("general", "ada", "a1"), .append("general", "ada", "a2"),
      .append("general", "bo", "a1"), .append("other", "ada", "a1"),
    ])
    log.stop()
    let database = try SQL(directory["data/relay.db"])
    let identities = try (1...4).map {
      try database.integer("SELECT identity FROM entries WHERE position = \($0)")
    }
    #expect(
      identities == [
        -7_957_983_251_649_593_957, -7_957_983_251_689_264_488, -2_104_839_199_761_171_045,
        -5_547_081_695_948_505_701,
      ])
    // One sender's entries lie together in the index.
    #expect(identities[0] >> 32 == identities[1] >> 32)
    #expect(Set(identities.map { $0 >> 32 }).count == 3)
  }

  @Test func `that two entries share does not make them one`() async throws {
    let log = try SQLiteLog(directory: directory["data"])
    let desk = try Desk(log)
    await desk.submit([.append("general", "ada", "a1")])
    let database = try SQL(directory["data/relay.db"])
    // As if "a1" had the hash of the id that comes next.
    await desk.submit([.append("general", "ada", "a2")])
    let identity = try database.integer("SELECT identity FROM entries WHERE id = 'a2'")
    try database.run("DELETE FROM entries WHERE id = 'a2'")
    try database.run("UPDATE entries SET identity = \(identity) WHERE position = 1")
    log.stop()
    let again = try SQLiteLog(directory: directory["data"])
    defer { again.stop() }
    let ack = try await Desk(again).submit([.append("general", "ada", "a2")]).acks.first
    #expect(ack?.duplicate == false && ack?.seq == 2)
  }
}
