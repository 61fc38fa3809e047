import Wire

/// A user whose presence somebody here is told.
struct WatchedUser {
  /// Empty where the place is free.
  var name = ""
  var generation: UInt32 = 0
  var presence = Presence.offline
  /// When it became so, in milliseconds since 1970; `nil` where nobody knows.
  var at: Int64?
  /// Those who watch, and some who have ceased to.
  var watchers: [SessionID] = []
  /// A change was told a moment ago, and whether there was another since.
  var isHeld = false
  var hasChanged = false
}
