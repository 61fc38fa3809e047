import Wire

/// The sequencer's copy of a room: its stored state and its current subscribers.
struct SequencedRoom {
  let name: String
  /// One of the relay's own rooms: it has no members and keeps few entries.
  let isReserved: Bool
  /// The room's number in the store; `nil` until the room has an entry.
  var number: Int64?
  var head: Int64 = 0
  var first: Int64 = 1
  var lastAt: Int64 = 0
  /// As in `StoredRoom`.
  var changes: Int64 = 0
  /// Whether its entries have made rules for it, which `Sequencer.governed` has.
  var isGoverned = false
  /// As in `StoredRoom`.
  var direct = DirectState()
  /// Filled by the first join.
  var epochs: RoomEpochs?
  /// Those of a large room are read when they are needed; see `Sequencer.room(_:knowing:_:)`.
  var members: CompactDictionary<String, MemberMarks> = [:]
  /// The number of members that have not been read.
  var otherMembers = 0
  /// The users who ceased to be members in a batch that may not be stored yet, if there are members who have
  /// not been read.
  private var formerMembers: (batch: Int, users: Set<String>) = (0, [])
  /// Who sent the last entries.
  var last = LastSenders()
  /// Whether the last sender's marks moved by sends, which the store derives until another user
  /// sends an entry.
  var hasDerivedMarks = false
  var subscribers = Subscribers()
  /// Whether the stored state has to be read again before use.
  var isStale = true
  /// The number of entries that the room keeps, by the rules of a version.
  var retention: (version: Int, entries: Int64?) = (0, nil)
  /// The number of the last batch that changed the stored state.
  var touchedIn = 0
  /// The last batch that had entries of this room, and the index of their span in it.
  var span = (batch: 0, index: 0)
  /// The audience that was last published to the loops.
  var publishedAudience: Int64 = 0

  init(name: String) {
    self.name = name
    isReserved = RoomName.isReserved(name)
  }

  static let memberListLimit = 50
  /// The number of members from which on a room without entries is stored: what its first entry stores,
  /// and what is forgotten with its last subscriber, is bounded.
  static let unstoredMembersLimit = 500

  var exists: Bool { number != nil || !members.isEmpty }

  /// The number of distinct subscribed users; more than 50 count as 51.
  var audience: Int64 { Int64(min(subscribers.count, Self.memberListLimit + 1)) }

  var memberCount: Int { members.count + otherMembers }

  /// Whether the members have become so few that all are to be read.
  var lacksMembers: Bool { otherMembers > 0 && memberCount <= Self.memberListLimit }

  var memberList: [Marks]? {
    guard otherMembers == 0, members.count <= Self.memberListLimit else { return nil }
    return zip(members.keys, members.values)
      .map { Marks(user: $0, read: $1.read, received: $1.received) }
      .sorted { $0.user < $1.user }
  }

  /// The marks with which a membership begins now: nothing before it is unread. A direct room has
  /// been both users' from the first entry on.
  var firstMarks: MemberMarks {
    RoomName.isDirect(name) ? MemberMarks(sent: head) : MemberMarks(read: head, received: head)
  }

  /// Moves the marks of the last entry's sender, if they move.
  /// - Parameter member: the place of that user in `members`.
  mutating func recordSend(by member: Int) {
    if members[place: member].recordSend(head, others: last.others) { hasDerivedMarks = true }
  }

  /// The same by name: nothing if the user is not a member.
  mutating func recordSend(by user: String) {
    if let member = members.place(of: user) { recordSend(by: member) }
  }

  /// Whether the store has to be asked for the membership of a user.
  func mustRead(_ user: String, batch: Int) -> Bool {
    otherMembers > 0 && members[user] == nil
      && !(formerMembers.batch == batch && formerMembers.users.contains(user))
  }

  /// - Returns: whether the user was a member.
  mutating func removeMember(_ user: String, batch: Int) -> Bool {
    guard members.removeValue(forKey: user) != nil else { return false }
    if otherMembers > 0 {
      if formerMembers.batch != batch { formerMembers = (batch, []) }
      formerMembers.users.insert(user)
    }
    return true
  }

  mutating func restore(_ stored: StoredRoom) {
    number = stored.number
    head = stored.head
    first = stored.first
    lastAt = stored.lastAt
    changes = stored.changes
    isGoverned = stored.rules != nil
    direct = stored.direct
    members = stored.members
    otherMembers = stored.otherMembers
    formerMembers = (0, [])
    last = stored.last
    hasDerivedMarks = members[last.sender]?.received == head
    isStale = false
  }

  /// Resets the room after the batch that created it was not stored: it has no entries to mark as
  /// read.
  mutating func becomeUnstored() {
    number = nil
    head = 0
    first = 1
    lastAt = 0
    changes = 0
    isGoverned = false
    direct = DirectState()
    last = LastSenders()
    hasDerivedMarks = false
    otherMembers = 0
    for member in 0..<members.count { members[place: member] = MemberMarks() }
  }
}
