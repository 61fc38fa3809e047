/// A cursor: one room's log, as far as one connection has it.
struct Subscription {
  enum State: UInt8 {
    /// The log has been asked for the room.
    case subscribing
    /// As `subscribing`, but the client has left meanwhile: nothing more is told of it.
    case abandoned
    /// As `subscribing`, but the client has joined again meanwhile: it is answered, and then over.
    case replaced
    /// At the head: gets entries as they come.
    case live
    /// Gets pages as the socket drains.
    case lagging
  }
  var state: State
  var wantsSubscribers: Bool
  /// The client was told `joined`, also while the room is subscribed anew.
  var isJoined = false
  let session: Slot<Session>
  let room: Slot<Room>
  /// The last `seq` that was handed to the connection.
  var cursor: Int64
  /// Whether the client wants it, or has another by now or none.
  var isWanted: Bool { state != .abandoned && state != .replaced }
  /// Whether the log has yet to answer.
  var isUnanswered: Bool { state == .subscribing || !isWanted }
  /// The next one of the same session.
  var next: Link<Subscription>
  /// Where it stands in its room's list, once it is there.
  var place: Int32?
}
