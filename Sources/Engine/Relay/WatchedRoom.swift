/// A room in a user's list: one that the user belongs to, or a listed one.
struct WatchedRoom {
  /// -1 where the place is free.
  var watch: Int32 = -1
  /// Of the shard and not of the place, which may be another's later.
  var generation: UInt32 = 0
  var room: Int32 = -1
  /// Where it stands among the room's watchers.
  var place: Int32 = -1
  /// Neighbours in the order of activity.
  var newer: Int32 = -1
  var older: Int32 = -1
  /// Falls from the newest to the oldest.
  var stamp: Int64 = 0
  /// When the last entry was made, in milliseconds since 1970.
  var lastAt: Int64 = 0
  /// The user's mark, and what others have said since.
  var read: Int64 = 0
  var unread: Int64 = 0
  /// Activity is told no earlier, in milliseconds.
  var nextAt: Int64 = 0
  /// How many of the connections that asked for `rooms` have joined it: entries come to these, and no
  /// activity.
  var joined: Int32 = 0
  var isPending = false
  var belongs = false
}
