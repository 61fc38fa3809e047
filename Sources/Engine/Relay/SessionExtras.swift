import Wire

/// State that only some sessions have.
final class SessionExtras {
  var holds = Holds()
  /// The connection that an HTTP request counts as while it lasts. It is charged by the owner, so it
  /// is not `Session.budget`.
  var connection: (UserBudget, rank: UInt64)?
  /// The latest of each ephemeral message while the client does not read; empty for messages that
  /// are built only when they can be sent.
  var ephemera = LatestQueue<EphemeralKey, [UInt8]>()
  /// Whether the session has requested `rooms`, and receives `activity` since.
  var watchesRooms = false
  /// The `rooms` request that waits for the user's list.
  var roomsRequest: ClientMessage.RoomsRequest?
  /// Identifies the question to the log after whose answer the page is built; 0 while the list is
  /// loaded.
  var roomsTicket: UInt32 = 0
  var paging: RoomsPaging?
  /// The answer to `rooms` while the last entries are being read.
  var summaries: [ServerMessage.RoomSummary] = []
  /// The rooms of a `join` that are not subscribed yet.
  var joins: PendingJoins?
  /// The `ref` of each join that the log has not answered.
  var joinRefs: [Slot<Subscription>: String] = [:]
  /// The `ref` of the request whose answer is awaited: see `Session.awaitsReply`.
  var replyRef: String?
}
