import Wire

/// A user whose presence sessions of this loop receive.
struct WatchedUser {
  let name: String
  var presence: Presence
  /// When the presence changed, in milliseconds since 1970; `nil` if unknown.
  var at: Int64?
  /// The watching sessions, and some that no longer watch.
  var watchers: [SessionID] = []

  init(name: String, presence: Presence) {
    self.name = name
    self.presence = presence
  }
}
