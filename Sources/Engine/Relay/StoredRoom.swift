public import Moderation
import Wire

/// A room in the store, with its members.
public struct StoredRoom: Sendable {
  /// The store's number of the room.
  public var number: Int64
  /// The last `seq`; 0 if there is no entry.
  public var head: Int64
  /// The oldest `seq` that is kept; head + 1 if none is.
  public var first: Int64
  /// The time of the last entry, in milliseconds since 1970.
  public var lastAt: Int64
  /// The members of the room and their marks, which include their own sends; only the last sender,
  /// if that is a member, where there are more than `membersLimit`.
  public var members: CompactDictionary<String, MemberMarks>
  /// The number of members that are not in `members`.
  public var otherMembers = 0
  /// What its entries have made of it; `nil` for a room of which none has said so.
  public var rules: RoomRules?
  /// What is hidden in a direct room, and whether it is a request.
  public var direct = DirectState()
  /// The number of its entries that were not content, including those that are no longer kept.
  public var changes: Int64
  /// Who sent its last entries.
  public var last: LastSenders

  /// The number of members up to which all are read with their room: the cost is bounded, and the
  /// members of a larger room are read one by one.
  public static let membersLimit = SequencedRoom.memberListLimit

  public init(
    number: Int64, head: Int64, first: Int64, lastAt: Int64,
    members: CompactDictionary<String, MemberMarks>, changes: Int64 = 0,
    last: LastSenders = LastSenders()
  ) {
    self.number = number
    self.head = head
    self.first = first
    self.lastAt = lastAt
    self.members = members
    self.changes = changes
    self.last = last
  }
}

extension StoredRoom {
  /// Returns the room if its numbers are in the range that the relay assigns, so that computations
  /// with them cannot overflow.
  func checked(_ name: String) throws(StoreFailure) -> StoredRoom {
    let seqs = 0...Entry.sequenceLimit
    guard seqs.contains(head), (1...head + 1).contains(first), seqs.contains(changes),
      seqs.contains(last.others), seqs.contains(last.content.last),
      seqs.contains(last.content.others),
      members.values.allSatisfy({ seqs.contains($0.read) && seqs.contains($0.received) })
    else {
      throw StoreFailure("room \(name) has invalid numbers; run `relay verify` for details")
    }
    return self
  }
}
