import Wire

/// Which entries a log keeps: the first rule that matches a room decides.
public struct Retention: Equatable, Sendable {
  /// The limits of some rooms. An entry goes when any of them says so.
  public struct Rule: Equatable, Sendable {
    public var rooms: RoomPattern
    /// The age in milliseconds from which on an entry goes.
    public var milliseconds: Int64?
    /// The number of entries that a room keeps.
    public var entries: Int64?
    /// The size that a room's entries have together.
    public var bytes: Int64?

    public init(
      rooms: RoomPattern, milliseconds: Int64? = nil, entries: Int64? = nil, bytes: Int64? = nil
    ) {
      self.rooms = rooms
      self.milliseconds = milliseconds
      self.entries = entries
      self.bytes = bytes
    }
  }

  /// The number of entries that one batch trims: the cost of a trim grows with them, and a batch holds
  /// up those that follow it.
  public static let trimmedAtOnce: Int64 = 4096
  /// The number of reports that are kept.
  static let reportsLimit: Int64 = 10_000
  /// The number of entries that each of the relay's own rooms keeps, but for those that operators read.
  static let reservedEntriesLimit: Int64 = 16

  public private(set) var rules: [Rule]

  /// - Parameter keepEntriesPerRoom: of rooms that no rule matches; 0 = all.
  public init(_ rules: [Rule] = [], keepEntriesPerRoom: Int64 = 0) {
    self.rules = rules
    if keepEntriesPerRoom > 0 {
      self.rules.append(Rule(rooms: .all, entries: keepEntriesPerRoom))
    }
  }

  /// Keeps this number of entries of each room; 0 = all.
  public static func keeping(_ entries: Int64) -> Retention {
    Retention(keepEntriesPerRoom: entries)
  }

  /// Whether entries go because of their age.
  public var removesByAge: Bool { rules.contains { $0.milliseconds != nil } }

  /// The rules that can decide for no room, because an earlier one matches all of theirs, each with the first such
  /// one: indices of `rules`.
  public var hiddenRules: [(rule: Int, by: Int)] {
    rules.indices.compactMap { place in
      let rooms = rules[place].rooms
      let earlier = rules[..<place].firstIndex {
        $0.rooms.covers(rooms) && (!rooms.namesReserved || $0.rooms.namesReserved)
      }
      return earlier.map { (place, $0) }
    }
  }

  /// Returns the rule of a room; `nil` if it keeps everything. The rooms of the relay have limits of
  /// their own as well, and are matched only by a pattern that names them.
  public func rule(for room: String) -> Rule? {
    let isReserved = RoomName.isReserved(room)
    let found = rules.first { $0.rooms.matches(room) && (!isReserved || $0.rooms.namesReserved) }
    guard isReserved, room != RoomName.audit else { return found }
    var rule = found ?? Rule(rooms: RoomPattern(room))
    let limit = room == RoomName.reports ? Self.reportsLimit : Self.reservedEntriesLimit
    rule.entries = min(rule.entries ?? limit, limit)
    return rule
  }
}

/// The first entry that a room keeps from now on.
public struct RoomTrim: Equatable, Sendable {
  public var room: String
  public var first: Int64
  /// The last entry that was known: in a log that has lost entries since, it means nothing.
  public var head: Int64

  public init(room: String, first: Int64, head: Int64) {
    self.room = room
    self.first = first
    self.head = head
  }
}
