/// A room as the store has it, without all who belong to it: for one user.
public struct StoredMembership: Sendable {
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

extension StoredMembership {
  /// As `StoredRoom.checked`.
  func checked() throws(StoreFailure) -> StoredMembership {
    let stored = StoredRoom(
      number: number, head: head, first: first, lastAt: lastAt,
      members: marks.map { ["": $0] } ?? [:], changes: changes)
    _ = try stored.checked(room)
    return self
  }
}
