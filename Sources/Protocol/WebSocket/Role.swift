/// The endpoint of a connection: clients mask their frames, servers do not (RFC 6455 §5.1).
public enum Role: Sendable {
  /// The endpoint that accepted the connection.
  case server
  /// The endpoint that opened the connection.
  case client
}
