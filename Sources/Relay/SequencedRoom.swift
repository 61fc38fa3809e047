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

/// Where a client that comes with a position continues (PROTOCOL: `resume`).
struct Resumption {
  var after: Int64
  var resume: ServerMessage.Resume

  /// - Parameters:
  ///   - after: the last `seq` that the client has.
  ///   - limit: the last `seq` of the client's epoch or an earlier one; 0 if no entry of these is
  ///     kept; `nil` if that epoch is not in the lineage.
  ///
  /// Where retention has deleted everything of an epoch, nobody knows any more where it ended: only
  /// that it was before `first`. A client of it whose last `seq` is before `first` as well is believed:
  /// what it lacks was deleted (`truncated`), which happens to everyone who stays away for long, whereas
  /// an entry that this log has lost is, if there is one, among those that it would not keep anyway.
  /// One whose last `seq` is `first` or more holds such entries for certain, and the first of them is
  /// not known: it has to drop all (`reset`).
  init(after: Int64, limit: Int64?, first: Int64) {
    guard let limit else {
      self.init(after: first - 1, resume: .reset)
      return
    }
    let isKnown = limit > 0 || first == 1
    if after > (isKnown ? limit : first - 1) {
      if isKnown, limit >= first - 1 {
        self.init(after: limit, resume: .diverged)
      } else {
        self.init(after: first - 1, resume: .reset)
      }
    } else if after < first - 1 {
      self.init(after: first - 1, resume: .truncated)
    } else {
      self.init(after: after, resume: .ok)
    }
  }

  init(after: Int64, resume: ServerMessage.Resume) {
    self.after = after
    self.resume = resume
  }
}
