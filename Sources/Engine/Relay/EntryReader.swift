public import Moderation
public import Wire

/// What a reader finds of a room before it reads entries.
public struct ReadableRoom: Sendable {
  /// The store's number of the room.
  public var number: Int64
  /// The oldest `seq` that is kept; head + 1 if none is.
  public var first: Int64
  public var head: Int64
  /// As in `StoredRoom`.
  public var rules: RoomRules?
  /// As in `StoredRoom`.
  public var direct = DirectState()

  public init(number: Int64, first: Int64, head: Int64, rules: RoomRules? = nil) {
    self.number = number
    self.first = first
    self.head = head
    self.rules = rules
  }
}

/// Reads committed entries, concurrently with the store that writes them. Used by one thread.
public protocol EntryReader: StandingLookup, FileLookup {
  /// Returns what the store has of a room; `nil` if it has no such room.
  mutating func room(_ name: String) throws(StoreFailure) -> ReadableRoom?

  /// Returns the first of these entries that changes the room, or the last.
  mutating func notice(
    inRoom number: Int64, in seqs: ClosedRange<Int64>, last: Bool
  ) throws(StoreFailure) -> Int64?

  /// Calls `body` with the entries of a room in ascending `seq` until it returns `false`.
  mutating func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>,
    _ body: (Entry) -> Bool
  ) throws(StoreFailure)

  /// Returns the last of these entries that was written in epoch `number` or earlier; `nil` if none
  /// was.
  /// - Parameter seqs: from the oldest kept to the last one, as in `bounds`.
  mutating func lastSeq(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64?

  /// Returns how many of a room's entries up to `seq` are not content, counted from its very first
  /// entry.
  mutating func changes(inRoom number: Int64, through seq: Int64) throws(StoreFailure) -> Int64

  /// Returns the first of these entries that an edit, a deletion or a reaction refers to.
  mutating func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64?

  /// Returns the last `edit` entry of a room for `target` up to `seq`.
  mutating func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry?

  /// Returns the emoji that `target` has now and the number of users of each, in the order of the
  /// oldest reaction of each. If there are more than `Reaction.emojiLimit`, only those whose UTF-8
  /// sorts first.
  mutating func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)]

  /// Calls `body` with the users who give an emoji to `target`, each with the `seq` of the reaction, in
  /// their order, until it returns `false`.
  mutating func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64,
    _ body: (_ user: String, _ seq: Int64) -> Bool
  ) throws(StoreFailure)

  /// Returns the records of the last reports about a room, the newest first.
  mutating func reports(ofRoom number: Int64, limit: Int) throws(StoreFailure) -> [Int64]

  /// Returns when a user was last online, in milliseconds since 1970; `nil` if unknown.
  mutating func lastSeen(_ user: String) throws(StoreFailure) -> Int64?

  /// Returns the first `limit` users after `user` that `lastSeen` knows, in the store's order of names.
  mutating func users(after user: String, limit: Int) throws(StoreFailure) -> [String]
}
