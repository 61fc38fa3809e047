/// Identifies ephemeral messages of which only the latest matters.
struct EphemeralKey: Hashable, Comparable {
  enum Kind: UInt8 { case receipt, typing, subscribers, activity, presence }
  var kind: Kind
  var room: Link<Room>
  /// Of the room, because another room may use its slot later.
  var generation: UInt32
  var user: String

  static func < (a: Self, b: Self) -> Bool {
    (a.room, a.kind.rawValue, a.user) < (b.room, b.kind.rawValue, b.user)
  }
}
