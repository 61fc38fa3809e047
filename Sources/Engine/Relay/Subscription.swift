/// A cursor: the position of one connection in one room's log.
struct Subscription {
  enum State: UInt8 {
    /// The log has been asked for the room.
    case subscribing
    /// As `subscribing`, but the client has left since: it gets no answer.
    case abandoned
    /// As `subscribing`, but the client has joined again since: it gets the answer, and the
    /// subscription ends.
    case replaced
    /// At the head: gets entries when they are committed.
    case live
    /// Before the head: gets pages when the socket takes them.
    case lagging
  }
  var state = State.subscribing
  var wantsSubscribers = false
  /// Whether the client was told `joined`; it stays true while the room is subscribed again.
  var isJoined = false
  /// Whether an entry ends the subscription as soon as the client has got it.
  var isEnding = false
  let session: Slot<Session>
  let room: Slot<Room>
  /// The next subscription of the session.
  var next = OptionalSlot<Subscription>.none
  /// The last `seq` that was handed to the connection.
  var cursor: Int64 = 0
  /// The index in the room's list, from the log's answer on.
  var place: Int32?

  init(session: Slot<Session>, room: Slot<Room>) {
    self.session = session
    self.room = room
  }

  /// Whether the client has neither left nor joined again since.
  var isWanted: Bool { state != .abandoned && state != .replaced }
  /// Whether the log's answer is outstanding.
  var isUnanswered: Bool { state == .subscribing || !isWanted }
  /// Whether the log counts the subscription.
  var isSubscribed: Bool { state == .live || state == .lagging }
}
