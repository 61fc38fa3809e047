public import Wire

/// What a client reports to its handler.
public enum ClientEvent: Equatable, Sendable {
  /// The relay has sent `welcome`; rooms are joined again and unacknowledged lines sent again
  /// automatically.
  case welcomed(ServerMessage.Welcome)
  /// A subscription is active, and how it relates to the entries delivered before: `ok` continues,
  /// `truncated` leaves a gap before `after + 1`, `diverged` means that entries after `after` are
  /// to be dropped, `reset` that all are.
  case joined(ServerMessage.Joined)
  /// A subscription was refused; it is not requested again.
  case joinRefused(room: String, WireError)
  /// A subscription ended, because of `leave`, or because the user lost a right: by an entry, if there is
  /// a departure.
  case left(room: String, ServerMessage.Departure? = nil)
  /// The next entry of a joined room: each once, in the order of `seq`.
  case entry(Entry)
  /// One of the client's lines is durable.
  case acknowledged(ServerMessage.Ack)
  /// One of the client's lines was refused for good and will not be sent again.
  case refused(ClientMessage.Send, WireError)
  /// A request has taken effect: `ref` is what ``Client/block(_:)`` or another call has returned. One that
  /// is refused is a `message` with an `error` of this `ref`.
  case answered(ref: String)
  /// Every other message of the relay: typing, receipts, answers to requests, errors.
  case message(ServerMessage)
  /// Asks for another token, to be passed to `renew`, if the settings say that tokens can be
  /// renewed. The current token ends soon; or it was refused, for this reason, and the client waits
  /// for another one.
  case tokenWanted(refused: String?)
  /// The connection ended or could not be established; another attempt follows.
  case disconnected(ClientError, retryMilliseconds: Int)
  /// The client has ended; no event follows.
  case ended(ClientError)
}
