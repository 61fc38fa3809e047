/// Identifies ephemeral messages of which only the latest matters.
struct EphemeralKey: Hashable {
  enum Kind: UInt8, CaseIterable { case receipt, typing, subscribers, activity, presence }
  var kind: Kind
  /// `nil` for presence.
  var room: Handle<Room>?
  var user: String
}
