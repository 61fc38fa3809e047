import Wire

/// A room as the sequencer knows it: the stored state, and who is subscribed just now.
struct SequencedRoom {
  let name: String
  /// The relay's own: nobody belongs to it, and little of it is kept.
  let isReserved: Bool
  /// The store's number; `nil` as long as the room has no entry.
  var number: Int64?
  var head: Int64 = 0
  var first: Int64 = 1
  var lastAt: Int64 = 0
  /// As in `StoredRoom`.
  var changes: Int64 = 0
  var members: [String: MemberMarks] = [:]
  /// How many subscriptions each user has.
  var subscribers: [String: Int] = [:]
  /// Whether the stored part has to be read again before use.
  var isStale = true
  /// The last batch that changed the stored part.
  var touchedIn = 0
  /// The last batch with entries, and which of its spans they are.
  var span = (batch: 0, index: 0)
  /// What loops were last told.
  var toldAudience: Int64 = 0

  init(name: String) {
    self.name = name
    isReserved = RoomName.isReserved(name)
  }

  static let memberListLimit = 50

  var exists: Bool { number != nil || !members.isEmpty }

  /// Distinct subscribed users; more than 50 count as 51.
  var audience: Int64 { Int64(min(subscribers.count, Self.memberListLimit + 1)) }

  var memberList: [Marks]? {
    guard members.count <= Self.memberListLimit else { return nil }
    return members.map { Marks(user: $0.key, read: $0.value.read, received: $0.value.received) }
      .sorted { $0.user < $1.user }
  }

  /// Sets a member's marks.
  /// - Returns: whether the user belongs to the room.
  mutating func setMarks(of user: String, _ marks: MemberMarks) -> Bool {
    guard let index = members.index(forKey: user) else { return false }
    members.values[index] = marks
    return true
  }

  mutating func restore(_ stored: StoredRoom) {
    number = stored.number
    head = stored.head
    first = stored.first
    lastAt = stored.lastAt
    changes = stored.changes
    members = stored.members
    isStale = false
  }

  /// The batch that made the room was not stored: there are no entries to have read.
  mutating func becomeUnstored() {
    number = nil
    head = 0
    first = 1
    lastAt = 0
    changes = 0
    for user in members.keys { members[user] = MemberMarks() }
  }
}
