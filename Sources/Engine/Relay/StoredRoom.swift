import Wire

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
