public import Wire

/// The store could not do what was asked; nothing of the batch is kept.
public struct StoreFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// What failed and why, for the operator.
  public var description: String
  public init(_ description: String) { self.description = description }
}

/// What a `Sequencer` keeps its rooms in. Used by one thread.
///
/// A conformer never reorders, and `commit` is all or nothing.
public protocol EntryStore {
  /// What its entries are hashed with. The same for as long as it has entries.
  var identityKey: EntryIdentity.Key { get }

  /// The room as it was last committed; `nil` if there is none.
  mutating func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom?

  /// A number that no room has.
  mutating func nextRoomNumber() throws(StoreFailure) -> Int64

  /// The entry that a user sent to a room under this id, if it is kept.
  /// - Parameter identity: of just these.
  mutating func find(
    _ identity: EntryIdentity, room: Int64, sender: String, id: String
  ) throws(StoreFailure) -> (seq: Int64, at: Int64)?

  /// The last `seq` of the room that was written in epoch `number` or an earlier one; 0 if none of
  /// these entries is kept, whether there were any or not.
  mutating func lastSeq(room: Int64, throughEpoch number: Int64) throws(StoreFailure) -> Int64

  /// An entry of a room; `nil` where it is not kept.
  mutating func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry?

  /// The last `edit` entry of a room that is about `target`.
  mutating func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry?

  /// How many `edit` entries are about `target`; counts no further than `limit`.
  mutating func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int

  /// The emoji that are given to `target` now, by one user or by anyone; at most `limit` of them.
  mutating func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String>

  /// How many of a room's entries up to `seq` are not content, counted from its very first entry on.
  /// - Parameter total: how many there are up to the last.
  mutating func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64

  /// At most `limit` rooms that the user belongs to, of those whose number is beyond `after`, in rising
  /// number. What it costs depends on how many these are, and not on how many there are in all.
  mutating func belongings(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredBelonging]

  /// A room as a user stands to it; `nil` if there is none.
  mutating func belonging(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredBelonging?

  /// How many rooms the user belongs to.
  mutating func belongingCount(of user: String) throws(StoreFailure) -> Int

  /// Stores all of it durably, or nothing.
  mutating func commit(_ changes: StoreChanges) throws(StoreFailure)
}

/// Reads what is committed, beside the one that writes. Used by one thread.
public protocol EntryReader {
  /// The room's number, oldest kept and last `seq`; `nil` if the store has no such room.
  mutating func bounds(
    of room: String
  ) throws(StoreFailure) -> (number: Int64, first: Int64, head: Int64)?

  /// Calls `body` with the entries of a room in rising `seq` until it returns `false`.
  mutating func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>,
    _ body: (Entry) -> Bool
  ) throws(StoreFailure)

  /// How many of a room's entries up to `seq` are not content, counted from its very first entry on.
  mutating func changes(inRoom number: Int64, through seq: Int64) throws(StoreFailure) -> Int64

  /// The first of these entries that others are about.
  mutating func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64?

  /// The last `edit` entry of a room that is about `target`.
  mutating func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry?

  /// The emoji that are given to `target` now and by how many users, in the order of the oldest of
  /// each. Where there are more than `Reaction.emojiLimit`, those whose UTF-8 comes first.
  mutating func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)]

  /// Calls `body` with the users who give an emoji to `target`, in the order in which they did, until
  /// it returns `false`.
  mutating func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64, _ body: (String) -> Bool
  ) throws(StoreFailure)

  /// When a user was last there, in milliseconds since 1970; `nil` where that is not known.
  mutating func lastSeen(_ user: String) throws(StoreFailure) -> Int64?
}

/// A room as the store has it.
public struct StoredRoom: Sendable {
  /// The store's own number of the room.
  public var number: Int64
  /// The last `seq`, 0 if there is no entry.
  public var head: Int64
  /// The oldest `seq` that is kept; head + 1 if none is.
  public var first: Int64
  /// When the last entry was made, in milliseconds since 1970.
  public var lastAt: Int64
  /// Who belongs to the room, and how far they are; the senders' marks include what they sent.
  public var members: [String: MemberMarks]
  /// How many of its entries were not content, those among them that are no longer kept.
  public var changes: Int64

  public init(
    number: Int64, head: Int64, first: Int64, lastAt: Int64, members: [String: MemberMarks],
    changes: Int64 = 0
  ) {
    self.number = number
    self.head = head
    self.first = first
    self.lastAt = lastAt
    self.members = members
    self.changes = changes
  }
}

/// A room as the store has it, without all who belong to it: for one user.
public struct StoredBelonging: Sendable {
  /// As in `StoredRoom`.
  public var number: Int64
  public var room: String
  public var head: Int64
  public var first: Int64
  public var lastAt: Int64
  public var changes: Int64
  /// The user's, what was sent among it; `nil` where the user does not belong to the room.
  public var marks: MemberMarks?

  public init(
    number: Int64, room: String, head: Int64, first: Int64, lastAt: Int64, changes: Int64,
    marks: MemberMarks?
  ) {
    self.number = number
    self.room = room
    self.head = head
    self.first = first
    self.lastAt = lastAt
    self.changes = changes
    self.marks = marks
  }
}

extension StoredBelonging {
  /// As `StoredRoom.checked`.
  func checked() throws(StoreFailure) -> StoredBelonging {
    let stored = StoredRoom(
      number: number, head: head, first: first, lastAt: lastAt,
      members: marks.map { ["": $0] } ?? [:], changes: changes)
    _ = try stored.checked(room)
    return self
  }
}

extension StoredRoom {
  /// As it is, if its numbers are such as the relay gives: what is computed from them cannot overflow.
  func checked(_ name: String) throws(StoreFailure) -> StoredRoom {
    let seqs = 0...Entry.sequenceLimit
    guard seqs.contains(head), (1...head + 1).contains(first), seqs.contains(changes),
      members.values.allSatisfy({ seqs.contains($0.read) && seqs.contains($0.received) })
    else {
      throw StoreFailure("the room \(name) has numbers that cannot be; `relay verify` tells more")
    }
    return self
  }
}

/// How far a member has come.
public struct MemberMarks: Equatable, Sendable {
  public var read: Int64
  public var received: Int64

  public init(read: Int64 = 0, received: Int64 = 0) {
    self.read = read
    self.received = received
  }
}

/// What one batch changes in the store.
public struct StoreChanges: Sendable {
  /// An entry with what the store needs to know besides.
  public struct NewEntry: Sendable {
    public var room: Int64
    public var identity: EntryIdentity
    public var entry: Entry
    /// Where the entry is about another one.
    public var change: Change?

    public init(room: Int64, identity: EntryIdentity, entry: Entry, change: Change? = nil) {
      self.room = room
      self.identity = identity
      self.entry = entry
      self.change = change
    }
  }

  /// That an entry is about another one.
  public struct Change: Equatable, Sendable {
    /// The other one's `seq`.
    public var target: Int64
    /// How many of the room's entries up to this one are not content.
    public var number: Int64

    public init(target: Int64, number: Int64) {
      self.target = target
      self.number = number
    }
  }

  /// Rooms to be made, with the number that they get. A room is stored with its first entry: one
  /// that has none lives as long as it has subscribers, and those are gone after a restart.
  public var newRooms: [(number: Int64, name: String)] = []
  /// New entries, each with its room's number, in commit order.
  public var entries: [NewEntry] = []
  /// Members to be added or whose marks moved by a `mark`, and the room's last `seq` with this batch.
  /// The marks that only sends have moved are not among them: the store derives those from the
  /// entries behind that `seq`.
  public var members: [(room: Int64, user: String, marks: MemberMarks, head: Int64)] = []
  /// Members to be removed, before `members` are written.
  public var formerMembers: [(room: Int64, user: String)] = []
  /// Entries before `first` are to be deleted.
  public var trims: [(room: Int64, first: Int64)] = []
  /// Earlier entries that are deleted, and what they say from now on. From this commit on every reader
  /// is shown these so, and every edit of them without its text, wherever these are stored; the store
  /// may take its time to overwrite the edits.
  public var blanks: [(room: Int64, seq: Int64, body: [UInt8])] = []
  /// Users who came or went, and when, in milliseconds since 1970.
  public var seen: [(user: String, at: Int64, isHere: Bool)] = []

  public init() {}

  public var isEmpty: Bool {
    newRooms.isEmpty && entries.isEmpty && members.isEmpty && formerMembers.isEmpty
      && trims.isEmpty && blanks.isEmpty && seen.isEmpty
  }
}

/// The epochs of a log: one for each start.
public struct Lineage: Sendable {
  public struct Epoch: Equatable, Sendable {
    /// 1 for the first start, one more for each.
    public var number: Int64
    /// At least 64 random bits.
    public var name: String

    public init(number: Int64, name: String) {
      self.number = number
      self.name = name
    }
  }
  public private(set) var epochs: [Epoch]

  /// - Parameter epochs: the last is the current one; there is at least one.
  public init(_ epochs: [Epoch]) {
    precondition(!epochs.isEmpty, "a log that is open has an epoch")
    self.epochs = epochs
  }

  public var current: Epoch { epochs[epochs.count - 1] }

  public func find(_ name: String) -> Epoch? { epochs.last { $0.name == name } }

  /// 66 random bits as 11 characters that need no escaping anywhere.
  public static func randomName(using generator: inout some RandomNumberGenerator) -> String {
    let alphabet = Array(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    let characters = (0..<11).map { _ in alphabet[Int.random(in: 0..<64, using: &generator)] }
    return String(decoding: characters, as: UTF8.self)
  }
}
