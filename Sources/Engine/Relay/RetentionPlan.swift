/// What retention would remove now, room by room: for an operator, beside the relay that does it.
public struct RetentionPlan {
  /// A room that a rule matches.
  public struct Row: Equatable, Sendable {
    public var room: String
    /// The pattern of the rule.
    public var rule: String
    /// What would go.
    public var entries = 0
    public var bytes: Int64 = 0
    /// What would stay.
    public var keptEntries: Int
    public var keptBytes: Int64
    /// The oldest entry that would stay, and its time in milliseconds since 1970.
    public var oldest: (seq: Int64, at: Int64)?

    public static func == (a: Self, b: Self) -> Bool {
      a.room == b.room && a.rule == b.rule && a.entries == b.entries && a.bytes == b.bytes
        && a.keptEntries == b.keptEntries && a.keptBytes == b.keptBytes
        && a.oldest?.seq == b.oldest?.seq && a.oldest?.at == b.oldest?.at
    }
  }

  private let retention: Retention
  private let now: Int64
  private var rooms: [Int64: (rule: Retention.Rule, row: Row)] = [:]

  /// The rooms in the order of their names.
  public var rows: [Row] { rooms.values.map(\.row).sorted { $0.room < $1.room } }

  /// - Parameter now: milliseconds since 1970.
  package init(_ retention: Retention, now: Int64) {
    self.retention = retention
    self.now = now
  }

  /// Adds a room with the number and the size of its entries. Its entries follow.
  package mutating func add(room: String, number: Int64, entries: Int, bytes: Int64) {
    guard let rule = retention.rule(for: room) else { return }
    rooms[number] = (
      rule, Row(room: room, rule: rule.rooms.text, keptEntries: entries, keptBytes: bytes)
    )
  }

  /// Takes the next entry of a room.
  package mutating func take(_ entry: RetainedEntry, ofRoom number: Int64) {
    guard let (rule, row) = rooms[number], row.oldest == nil else { return }
    if rule.entries.map({ row.keptEntries > $0 }) ?? false
      || rule.bytes.map({ row.keptBytes > $0 }) ?? false
      || rule.milliseconds.map({ entry.at + $0 <= now }) ?? false
    {
      rooms[number]?.row.entries += 1
      rooms[number]?.row.bytes += entry.bytes
      rooms[number]?.row.keptEntries -= 1
      rooms[number]?.row.keptBytes -= entry.bytes
    } else {
      rooms[number]?.row.oldest = (entry.seq, entry.at)
    }
  }
}
