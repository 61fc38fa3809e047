public import Moderation
public import Wire

/// A failure of the store. Nothing of the batch is stored then.
public struct StoreFailure: Error, Equatable, Sendable, CustomStringConvertible {
  /// What failed and why, for the operator.
  public var description: String
  /// Whether the operator has to change something: another attempt would fail as well.
  public var isConfiguration: Bool
  /// Whether the store may have entries and epochs that the sequencer does not know of: what it does
  /// not know need not be lost.
  package var mayHaveMore = false
  /// What is damaged, if only a part of the store is: only the requests that need it are refused.
  package var damage: Damage?

  package enum Damage: Sendable {
    case entry
    /// What is read of a room before its first use.
    case room
  }

  public init(_ description: String, isConfiguration: Bool = false) {
    self.description = description
    self.isConfiguration = isConfiguration
  }
}

/// What both a `Sequencer` and a reader look up.
public protocol StandingLookup {
  /// Returns what a user is in a room: `Standing.unnamed` if no entry has named them.
  mutating func standing(
    of user: String, inRoom number: Int64
  ) throws(StoreFailure) -> Standing
}

/// What a `Sequencer` looks up in the storage of its rooms. Used by one thread.
public protocol EntryLookup: StandingLookup, FileLookup {
  /// The key of the hashes of its entries. It stays the same as long as there are entries.
  var identityKey: EntryIdentity.Key { get }

  /// Returns the room as it was last committed; `nil` if there is none.
  mutating func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom?

  /// Returns a number that no room has.
  mutating func nextRoomNumber() throws(StoreFailure) -> Int64

  /// Returns the entry that a user has sent to a room with this id, if it is kept.
  /// - Parameter identity: the hash of the room's number, the sender and the id.
  mutating func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry?

  /// Returns the last entry of the room that was written in epoch `number` or earlier, and its
  /// epoch; `nil` if none of these entries is kept, whether or not there were any.
  mutating func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)?

  /// Returns an entry of a room; `nil` if it is not kept.
  mutating func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry?

  /// Returns the last `edit` entry of a room for `target` up to `seq`.
  mutating func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry?

  /// Returns the number of `edit` entries for `target`; counts no further than `limit`.
  mutating func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int

  /// Returns the emoji that `target` has now, from one user or from all; at most `limit` of them.
  mutating func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String>

  /// Returns how many of a room's entries up to `seq` are not content, counted from its very first
  /// entry.
  /// - Parameter total: the number up to the last entry.
  mutating func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64

  /// Returns the run of content that ends with the last text or data up to `seq`; `nil` if that
  /// entry is not kept. The cost does not depend on the length of the run.
  mutating func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun?

  /// Returns at most `limit` rooms that the user belongs to and whose number is greater than
  /// `after`, in ascending order. The cost depends on the number of these rooms, not on the user's
  /// total.
  mutating func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership]

  /// Returns a room with the membership of a user; `nil` if there is no such room.
  mutating func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership?

  /// Returns the number of rooms that the user belongs to.
  mutating func membershipCount(of user: String) throws(StoreFailure) -> Int

  /// Returns the records of reports about these entries of a room that have copies.
  mutating func copies(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [Int64]

  /// Returns records of reports from before a time, in milliseconds since 1970, that have copies; at most
  /// `limit`.
  mutating func copies(before at: Int64, limit: Int) throws(StoreFailure) -> [Int64]

  /// Returns all blocks between users.
  mutating func blocks() throws(StoreFailure) -> BlockTable

  /// Returns the users who are banned from the relay.
  mutating func bans() throws(StoreFailure) -> [BanChange]

  /// Returns the names of a room's members; at most `limit` of them.
  mutating func members(ofRoom number: Int64, limit: Int) throws(StoreFailure) -> [String]
}

/// The storage of a `Sequencer`'s rooms. A conformer never reorders entries.
public protocol EntryStore: EntryLookup {
  /// Stores all of the changes durably, or none.
  mutating func commit(_ changes: StoreChanges) throws(StoreFailure)
}

/// The positions up to which a member has read and received entries.
public struct MemberMarks: Equatable, Sendable {
  public var read: Int64
  public var received: Int64
  /// The member sent no later entry than this one; 0 if none after the read mark. It need not have
  /// sent this one.
  public var sent: Int64

  public init(read: Int64 = 0, received: Int64 = 0, sent: Int64 = 0) {
    self.read = read
    self.received = received
    self.sent = sent
  }

  /// Records an entry of the member's own: it moves a mark if all entries after the mark are the
  /// member's own.
  /// - Parameter others: the last `seq` that the member did not send.
  /// - Returns: whether a mark moved.
  mutating func recordSend(_ seq: Int64, others: Int64) -> Bool {
    sent = seq
    if read >= others { read = seq }
    guard received >= others else { return false }
    received = seq
    return true
  }

  /// Returns the marks of a member, of which only those at an earlier head are stored: an entry
  /// that the member has sent since, with nothing of others after the mark, has moved it. All other
  /// moves are stored; see `StoreChanges.members`.
  /// - Parameter since: the last `seq` of the room when they were stored.
  public func current(
    of user: String, since: Int64, head: Int64, _ last: LastSenders
  ) -> MemberMarks {
    guard user == last.sender, since < head else { return self }
    var marks = self
    _ = marks.recordSend(head, others: last.others)
    return marks
  }
}
