import Relay
import RelayConfiguration
import Testing

@Suite struct `Rules of retention in a configuration` {
  @Test func `rules are read in their order, and shown so that they are read again`() throws {
    let loaded = try ConfigurationFixture(
      """
      log: { keep_entries_per_room: 500 }
      retention:
        - { rooms: "logs:*", days: 30, entries: 1000, bytes: 1GB }
        - { rooms: dm:*, days: 0.5 }
        - { rooms: "sys:audit", bytes: 123 }
      """
    ).load().get()
    let day: Int64 = 86_400_000
    #expect(
      loaded.retention == [
        .init(
          rooms: RoomPattern("logs:*"), milliseconds: 30 * day, entries: 1000, bytes: 1_000_000_000),
        .init(rooms: RoomPattern("dm:*"), milliseconds: day / 2),
        .init(rooms: RoomPattern("sys:audit"), bytes: 123),
      ])
    #expect(loaded.retained.rule(for: "general")?.entries == 500)
    #expect(try ConfigurationFixture(loaded.described()).load().get() == loaded)
    let changed = loaded.changedKeys(from: Configuration())
    #expect(changed == ["log.keep_entries_per_room", "retention"])
  }

  @Test func `rules that never apply are named, with the one that hides them`() throws {
    let loaded = try ConfigurationFixture(
      """
      log: { keep_entries_per_room: 500 }
      retention: [{ rooms: a, days: 1 }, { rooms: "*", days: 30 }, { rooms: "logs:*", days: 1 }]
      """
    ).load().get()
    let reason = "never applies, because the earlier rule for \"*\" matches all of its rooms."
    #expect(
      loaded.hiddenRetentionRules == [
        "The rule of retention for \"logs:*\" \(reason) Move it before that rule, or remove it.",
        "log.keep_entries_per_room \(reason) Remove one of the two.",
      ])
  }

  @Test(arguments: [
    ("all", "retention is \"all\"; expected a list of rules"),
    ("[{ days: 3 }]", "retention[0].rooms is missing; expected a room, or a pattern"),
    ("[{ rooms: General, days: 3 }]", "retention[0].rooms is \"General\"; expected a room"),
    (
      "[{ rooms: a }]",
      "retention[0].days of the rule for \"a\" is missing; expected at least one of days, entries and bytes"
    ),
    (
      "[{ rooms: a, days: 0 }]",
      "retention[0].days of the rule for \"a\" is \"0\"; expected a number"
    ),
    (
      "[{ rooms: a, entries: 0 }]",
      "retention[0].entries of the rule for \"a\" is \"0\"; expected a whole"
    ),
    (
      "[{ rooms: a, bytes: 1gb }]",
      "retention[0].bytes of the rule for \"a\" is \"1gb\"; expected a whole"
    ),
    ("[{ rooms: a, bytes: 9999999999GB }]", "retention[0].bytes of the rule for \"a\" is"),
    (
      "[{ rooms: a, day: 3 }]",
      "retention[0].day is not a known key; did you mean retention[0].days?"
    ),
  ])
  func `a faulty rule is named with what is wrong`(_ yaml: String, _ sentence: String) throws {
    guard case .failure(let sentences) = try ConfigurationFixture("retention: \(yaml)").load()
    else {
      Issue.record("It was accepted.")
      return
    }
    #expect(sentences.lines.contains { $0.hasPrefix(":1: \(sentence)") }, "\(sentences)")
  }
}
