import Wire

/// A user whose presence somebody here is told.
struct WatchedUser {
  let name: String
  /// Of the shard and not of the slot, which may be another user's later.
  let generation: UInt32
  var presence: Presence
  /// When it became so, in milliseconds since 1970; `nil` where nobody knows.
  var at: Int64?
  /// Those who watch, and some who have ceased to.
  var watchers: [SessionID] = []
  /// A change was told a moment ago, and whether there was another since.
  var isHeld = false
  var hasChanged = false

  init(name: String, generation: UInt32, presence: Presence) {
    self.name = name
    self.generation = generation
    self.presence = presence
  }
}
