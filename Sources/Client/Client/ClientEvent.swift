public import Wire

/// What a client tells whoever uses it.
public enum ClientEvent: Equatable, Sendable {
  /// Let in; rooms are joined again and unacknowledged lines sent again by themselves.
  case welcomed(ServerMessage.Welcome)
  /// A subscription stands, and how it relates to what was delivered before: `ok` goes on,
  /// `truncated` leaves a hole before `after + 1`, `diverged` means that entries after `after`
  /// are to be dropped, `reset` that all are.
  case joined(ServerMessage.Joined)
  /// A subscription is not to be had; it is not asked for again.
  case joinRefused(room: String, WireError)
  /// A subscription ended: asked for by `leave`, or a right was lost.
  case left(room: String)
  /// The next entry of a joined room: each once, in the order of `seq`.
  case entry(Entry)
  /// One of our lines is durable.
  case acknowledged(ServerMessage.Ack)
  /// One of our lines was refused for good, and will not be sent again.
  case refused(ClientMessage.Send, WireError)
  /// Everything else that the relay says: typing, receipts, answers to requests, errors.
  case message(ServerMessage)
  /// Another token is to be given to `renew`, where the settings say that there are more: the one in
  /// use ends soon, or was not taken, for this reason; then nothing happens until there is another.
  case tokenWanted(refused: String?)
  /// The connection ended, or there was none; another attempt follows.
  case disconnected(ClientError, retryMilliseconds: Int)
  /// Nothing more will come.
  case ended(ClientError)
}
