/// Timeouts and limits of a session.
public struct SessionSettings: Equatable, Sendable {
  /// The bound of the first wait before reconnecting.
  public var firstBackoffMilliseconds = 200
  /// The maximum wait between two attempts, unless the relay demands a longer one in `closing`.
  public var backoffLimitMilliseconds = 10_000
  /// The maximum wait that the relay may demand in `closing`.
  public var reconnectAfterLimitMilliseconds = 60_000
  /// From the start of an attempt to `welcome`.
  public var welcomeTimeoutMilliseconds = 10_000
  /// The back-off is reset after a connection that lasted this long.
  public var goodAfterMilliseconds = 5_000
  /// The silence after which a ping is sent.
  public var pingAfterMilliseconds = 15_000
  /// The silence after that ping after which the connection is considered lost.
  public var pongTimeoutMilliseconds = 10_000
  /// How long lines may be in flight without any answer before the connection is abandoned.
  public var acknowledgementTimeoutMilliseconds = 30_000
  /// The maximum number of lines in flight.
  public var window = 256
  /// The minimum interval between two `received` or two `read` messages of one room.
  public var markIntervalMilliseconds = 500
  /// Whether tokens can be renewed: if so, `tokenWanted` asks for another one before the current
  /// one ends, and when one is refused.
  public var renewsTokens = false
  /// A token is renewed this long before it ends, or when a fifth of its lifetime is left.
  public var renewBeforeMilliseconds = 60_000
  /// How long `close()` waits for the relay's close frame.
  public var closeTimeoutMilliseconds = 1_000

  /// Creates the defaults.
  public init() {}
}
