/// Identifies ephemeral messages of which only the latest matters.
struct EphemeralKey: Hashable {
  enum Kind: UInt8, CaseIterable { case receipt, typing, subscribers, activity, presence }
  let kind: Kind
  /// `nil` for presence.
  let room: Handle<Room>?
  let user: String

  init(_ kind: Kind, _ room: Handle<Room>?, _ user: String) {
    self.kind = kind
    self.room = room
    self.user = user
  }
}
