/// Times and bounds of a session.
public struct SessionSettings: Equatable, Sendable {
  /// The bound of the first wait before connecting again.
  public var firstBackoffMilliseconds = 200
  /// No two attempts are further apart, unless the relay says so in `closing`.
  public var backoffLimitMilliseconds = 10_000
  /// What the relay may say in `closing` at most.
  public var reconnectAfterLimitMilliseconds = 60_000
  /// From the start of an attempt to `welcome`.
  public var welcomeTimeoutMilliseconds = 10_000
  /// A connection that lived so long was good: the back-off begins anew.
  public var goodAfterMilliseconds = 5_000
  /// Silence after which a ping asks whether the relay is there.
  public var pingAfterMilliseconds = 15_000
  /// Silence after that ping which says that it is not.
  public var pongTimeoutMilliseconds = 10_000
  /// Lines are in flight and none is answered: something is wrong with this connection.
  public var acknowledgementTimeoutMilliseconds = 30_000
  /// Lines in flight at once.
  public var window = 256
  /// `received` and `read` of one room are sent at most this often.
  public var markIntervalMilliseconds = 500
  /// Whether there are more tokens where the first came from: then `tokenWanted` asks for another
  /// before the one in use ends, and when one is not taken.
  public var renewsTokens = false
  /// A token is renewed this long before it ends, or when a fifth of its time is left.
  public var renewBeforeMilliseconds = 60_000
  /// How long `close()` waits for the relay's close.
  public var closeTimeoutMilliseconds = 1_000

  /// The defaults.
  public init() {}
}
