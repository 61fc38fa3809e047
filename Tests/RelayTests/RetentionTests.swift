import Testing

@testable import Relay

@Suite struct `Rules of retention` {
  @Test(arguments: [
    ("general", "general", true), ("general", "general2", false), ("*", "any.room", true),
    ("logs:*", "logs:web:1", true), ("logs:*", "logs", false), ("*:a", "x:a:a", true),
    ("*ab*b", "aababb", true), ("*ab*c", "aababb", false), ("logs-?", "logs-7", true),
    ("logs-?", "logs-", false), ("dm:*", "dm:ada:bo", true), ("**", "r", true),
  ])
  func `a pattern matches a room`(_ pattern: String, _ room: String, _ isMatch: Bool) {
    #expect(RoomPattern(pattern).matches(room) == isMatch)
  }

  @Test func `a pattern of many stars is matched in time of the product of both lengths`() {
    let pattern = RoomPattern(String(repeating: "*a", count: 70))
    #expect(!pattern.matches(String(repeating: "a", count: 69) + String(repeating: "b", count: 71)))
  }

  @Test func `the first rule that matches counts, and the number for all rooms is the last rule`() {
    let retention = Retention(
      [
        .init(rooms: RoomPattern("logs:web"), entries: 5),
        .init(rooms: RoomPattern("logs:*"), milliseconds: 1000, bytes: 10),
      ], keepEntriesPerRoom: 100)
    #expect(retention.rule(for: "logs:web")?.entries == 5)
    #expect(retention.rule(for: "logs:web")?.milliseconds == nil)
    #expect(retention.rule(for: "logs:db")?.bytes == 10)
    #expect(retention.rule(for: "logs:db")?.entries == nil)
    #expect(retention.rule(for: "general")?.entries == 100)
    #expect(Retention().rule(for: "general") == nil)
  }

  @Test(arguments: [
    ("*", "logs:*", true), ("logs:*", "logs:web", true), ("logs:*", "logs:*:a", true),
    ("logs:*", "*", false), ("logs:*", "log*", false), ("a?", "a*", false), ("a?*", "a*", false),
    ("a*", "a?", true), ("a?", "a?", true), ("a?", "ab", true), ("ab", "a?", false),
    ("*", "sys:*", false), ("sys:*", "sys:audit", true),
  ])
  func `a rule is hidden by one whose pattern matches all of its rooms`(
    _ earlier: String, _ later: String, _ isHidden: Bool
  ) {
    let retention = Retention(
      [earlier, later].map { .init(rooms: RoomPattern($0), entries: 1) })
    #expect(retention.hiddenRules.map { [$0.rule, $0.by] } == (isHidden ? [[1, 0]] : []))
  }

  @Test func `only a pattern that begins with sys matches a room of the relay`() {
    let all = Retention([.init(rooms: .all, milliseconds: 1)], keepEntriesPerRoom: 7)
    #expect(all.rule(for: "sys:audit") == nil)
    #expect(all.rule(for: "sys:reports")?.milliseconds == nil)
    #expect(all.rule(for: "sys:reports")?.entries == 10_000)
    #expect(all.rule(for: "sys:ready")?.entries == 16)
    let named = Retention([
      .init(rooms: RoomPattern("sys:audit"), milliseconds: 5),
      .init(rooms: RoomPattern("sys:*"), entries: 20_000),
    ])
    #expect(named.rule(for: "sys:audit")?.milliseconds == 5)
    #expect(named.rule(for: "sys:audit")?.entries == nil)
    #expect(named.rule(for: "sys:reports")?.entries == 10_000)
  }
}

@Suite struct `The clock of retention` {
  private static let hour = RetentionClock.trustMilliseconds

  @Test func `it is the wall clock, which may be slewed and set back`() {
    var clock = RetentionClock(wall: 1_000_000, monotonic: 0, newest: 900_000)
    #expect(clock.now(wall: 1_015_000, monotonic: 15_000) == 1_015_000)
    #expect(clock.now(wall: 1_060_000, monotonic: 30_000) == 1_060_000)
    #expect(clock.now(wall: 500_000, monotonic: 45_000) == 500_000)
    #expect(!clock.doubts)
  }

  @Test func `a jump ahead is not followed for an hour`() {
    var clock = RetentionClock(wall: 1_000_000, monotonic: 0, newest: nil)
    let jump = Self.hour * 24 * 365
    #expect(clock.now(wall: 1_015_000 + jump, monotonic: 15_000) == 1_015_000)
    #expect(clock.doubts)
    let almost = 14_000 + Self.hour
    #expect(clock.now(wall: 1_000_000 + jump + almost, monotonic: almost) == 1_000_000 + almost)
    let later = 15_000 + Self.hour
    #expect(
      clock.now(wall: 1_000_000 + jump + later, monotonic: later) == 1_000_000 + jump + later)
    #expect(!clock.doubts)
  }

  @Test func `a clock that is wrong for a moment changes nothing`() {
    var clock = RetentionClock(wall: 1_000_000, monotonic: 0, newest: nil)
    _ = clock.now(wall: .max / 2, monotonic: 15_000)
    #expect(clock.now(wall: 1_030_000, monotonic: 30_000) == 1_030_000)
    // The hour begins again with the next jump.
    _ = clock.now(wall: .max / 2, monotonic: 40_000)
    #expect(clock.now(wall: .max / 2 + Self.hour - 1, monotonic: 39_999 + Self.hour) < .max / 4)
  }

  @Test func `at a start a clock is doubted that is an hour ahead of the newest entry`() {
    var believed = RetentionClock(wall: Self.hour + 5, monotonic: 0, newest: 5)
    #expect(believed.now(wall: Self.hour + 5, monotonic: 0) == Self.hour + 5)
    var doubted = RetentionClock(wall: Self.hour + 6, monotonic: 7, newest: 5)
    #expect(doubted.now(wall: Self.hour + 7, monotonic: 8) == 6)
    #expect(doubted.doubts)
    let later = 7 + Self.hour
    #expect(doubted.now(wall: 2 * Self.hour + 6, monotonic: later) == 2 * Self.hour + 6)
  }
}
