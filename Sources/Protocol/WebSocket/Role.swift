/// Which end of a connection this is: clients mask what they send, servers do not
/// (RFC 6455 §5.1).
public enum Role: Sendable {
  /// The end that accepted the connection.
  case server
  /// The end that opened the connection.
  case client
}
