public import Wire

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
