/// A room in a user's list: a listed one, or one of which the user is a member.
struct WatchedRoom {
  let watch: Slot<UserWatch>
  let room: Slot<Room>
  /// The index among the room's watchers.
  var place: Int32
  /// The neighbors in the order of activity.
  var newer = OptionalSlot<WatchedRoom>.none
  var older = OptionalSlot<WatchedRoom>.none
  /// Decreases from the newest to the oldest.
  var stamp: Int64 = 0
  /// The time of the last entry, in milliseconds since 1970.
  var lastAt: Int64 = 0
  /// The user's mark, and the entries of others since.
  var read: Int64 = 0
  var unread = Unread()
  /// The number of connections that requested `rooms` and have joined this one: they get the
  /// entries, and no `activity`.
  var joined: Int32 = 0
  var belongs = false
  /// As in `RoomSummary`, where the log has told it since the list was loaded, or a page has shown it.
  var isRequest = false
  /// Whether the next `activity` says that it is no request any more: connections that have joined the
  /// room get that one, too, since no entry tells it.
  var isAccepted = false

  /// The number of unread entries that are still kept.
  func unread(within bounds: RoomBounds) -> (count: Int64, isMore: Bool) {
    let kept = bounds.head - bounds.firstKept + 1
    return (max(0, min(unread.count, kept)), unread.isMore && unread.count < kept)
  }

  init(watch: Slot<UserWatch>, room: Slot<Room>, place: Int32) {
    self.watch = watch
    self.room = room
    self.place = place
  }
}
