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
  /// The rooms of a `join` that are not subscribed yet.
  var joins: PendingJoins?
  /// The `ref` of each join that the log has not answered.
  var joinRefs: [Slot<Subscription>: String] = [:]
  /// The entries that end subscriptions, until the client has got them.
  var departures: [Slot<Subscription>: ServerMessage.Departure] = [:]
  /// The `ref` of the request whose answer is awaited: see `Session.awaitsReply`.
  var replyRef: String?
}
