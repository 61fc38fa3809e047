/// Identifies ephemeral messages of which only the latest matters.
struct EphemeralKey: Hashable {
  enum Kind: UInt8, CaseIterable { case receipt, typing, subscribers, activity, presence, blocks }
  let kind: Kind
  /// `nil` for presence and blocks.
  let room: Handle<Room>?
  let user: String

  init(_ kind: Kind, _ room: Handle<Room>?, _ user: String) {
    self.kind = kind
    self.room = room
    self.user = user
  }
}
