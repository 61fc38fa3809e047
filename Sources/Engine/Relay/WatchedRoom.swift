/// A room in a user's list: one that the user belongs to, or a listed one.
struct WatchedRoom {
  let watch: Slot<UserWatch>
  /// Of the shard and not of the place, which may be another's later.
  let generation: UInt32
  let room: Slot<Room>
  /// Where it stands among the room's watchers.
  var place: Int32
  /// Neighbours in the order of activity.
  var newer = Link<WatchedRoom>.none
  var older = Link<WatchedRoom>.none
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

  init(watch: Slot<UserWatch>, generation: UInt32, room: Slot<Room>, place: Int32) {
    self.watch = watch
    self.generation = generation
    self.room = room
    self.place = place
  }
}
