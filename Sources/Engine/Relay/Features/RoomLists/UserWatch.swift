/// A user's rooms in one loop, shared by all of the user's connections that have requested `rooms`,
/// from the first such request until the last of these connections ends.
struct UserWatch {
  enum State: UInt8 {
    /// The log has to be asked, or asked again.
    case idle
    /// The log is being asked, slice by slice.
    case loading
    case loaded
  }
  let user: String
  var state = State.idle
  /// Identifies the current load; answers to earlier ones are ignored.
  var ticket: UInt32 = 0
  /// The number of listed rooms that were requested, and the start of the next slice of the others.
  var listedAsked = 0
  var after = MembershipsCursor.start
  /// The connections that have requested `rooms`, and those that are paging.
  var sessions: Int32 = 0
  var pagings: Int32 = 0
  /// The user's rooms, each with its place in the list.
  var rooms: [Slot<Room>: Slot<WatchedRoom>] = [:]
  /// The first of the list in the order of activity.
  var newest = OptionalSlot<WatchedRoom>.none
  /// Counts the moves to the front.
  var stamp: Int64 = 0

  init(user: String) { self.user = user }
}
