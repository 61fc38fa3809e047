/// Identifies ephemeral messages of which only the latest matters.
struct EphemeralKey: Hashable, Comparable {
  enum Kind: UInt8 { case receipt, typing, subscribers, activity, presence }
  var kind: Kind
  /// `nil` for presence.
  var room: Handle<Room>?
  var user: String

  static func < (a: Self, b: Self) -> Bool {
    (a.place, a.kind.rawValue, a.user) < (b.place, b.kind.rawValue, b.user)
  }

  private var place: Int32 { room?.slot.place ?? -1 }
}
