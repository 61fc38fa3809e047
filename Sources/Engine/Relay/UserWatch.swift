/// A user's rooms as one loop knows them, from the first `rooms` of one of the user's connections on
/// until the last of those that asked has gone: what each of them costs is there once for all.
struct UserWatch {
  enum State: UInt8 {
    /// The log has to be asked, or asked again.
    case idle
    /// The log is being asked, a slice at a time.
    case loading
    case loaded
  }
  let user: String
  var state = State.idle
  /// Names the load that is under way; answers to an earlier one are not for this.
  var ticket: UInt32 = 0
  /// How many of the listed rooms were asked for, and where the next slice of the others begins.
  var listedAsked = 0
  var after = MembershipsCursor.start
  /// Connections that have asked for `rooms`, and those that are on their way through the pages.
  var sessions: Int32 = 0
  var pagings: Int32 = 0
  /// The user's rooms and where they stand in the shard's table.
  var rooms: [Slot<Room>: Slot<WatchedRoom>] = [:]
  /// Both ends of the list in the order of activity.
  var newest = Link<WatchedRoom>.none
  var oldest = Link<WatchedRoom>.none
  /// Counts what moved to the front.
  var stamp: Int64 = 0

  init(user: String) { self.user = user }
}
