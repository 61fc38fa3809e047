/// A room in the store with the membership of one user, without the other members.
public struct StoredMembership: Sendable {
  /// As in `StoredRoom`.
  public var number: Int64
  public var room: String
  public var head: Int64
  public var first: Int64
  public var lastAt: Int64
  public var changes: Int64
  /// The user's marks, which include the user's own sends; `nil` if the user is not a member.
  public var marks: MemberMarks?
  /// As in `StoredRoom`.
  public var direct = DirectState()

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
  /// Returns the membership if its numbers are valid; see `StoredRoom.checked`.
  func checked() throws(StoreFailure) -> StoredMembership {
    let stored = StoredRoom(
      number: number, head: head, first: first, lastAt: lastAt,
      members: marks.map { ["": $0] } ?? [:], changes: changes)
    _ = try stored.checked(room)
    return self
  }
}
