import DequeModule
import Wire

/// What only some sessions have.
final class SessionExtras {
  var holds = Holds()
  /// The latest of everything that does not wait in a log, while the client does not read; empty where
  /// it is made when it can be told.
  var ephemera: [EphemeralKey: [UInt8]] = [:]
  /// Whether it has asked for `rooms`, and is told of activity since.
  var watchesRooms = false
  /// The `rooms` that waits for the user's list.
  var roomsRequest: ClientMessage.RoomsRequest?
  /// Names the question to the log behind whose answer the page is made; 0 while the list is loaded.
  var roomsTicket: UInt32 = 0
  var paging: RoomsPaging?
  /// The answer to `rooms` while the last entries are being read.
  var summaries: [ServerMessage.RoomSummary] = []
  /// Whether it has asked for people.
  var asksForPeople = false
  /// The answer to `people` while it is looked up when those were there who are not.
  var people: PeopleAnswer?
  /// Whose presence it is told, the latest last.
  var watchedUsers = Deque<Slot<WatchedUser>>()
  var watchedUserSet: Set<Slot<WatchedUser>> = []
}
