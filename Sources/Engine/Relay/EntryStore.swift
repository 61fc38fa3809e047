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
  mutating func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership]

  /// A room as a user stands to it; `nil` if there is none.
  mutating func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership?

  /// How many rooms the user belongs to.
  mutating func membershipCount(of user: String) throws(StoreFailure) -> Int

  /// Stores all of it durably, or nothing.
  mutating func commit(_ changes: StoreChanges) throws(StoreFailure)
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
