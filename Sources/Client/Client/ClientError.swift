public import Platform
public import TLS
public import WebSocket

/// Why there is no connection; prints as a sentence without a full stop.
///
/// Some cases contain text from the relay, or from a server that answered in its place: pass it
/// through ``TerminalText/line(_:)`` before it is shown.
public enum ClientError: Error, Equatable, Sendable {
  /// There is no such host, or no name server to ask.
  case unresolved(host: String, reason: String)
  /// No address of the host accepts a connection; the error of the last one.
  case unreachable(SystemError)
  /// No `welcome` in time, whether or not the connection was established.
  case noWelcome(afterMilliseconds: Int)
  /// The host's certificate is not valid for the host.
  case untrusted(host: String, reason: String)
  /// The TLS connection failed.
  case notEncrypted(TLSFailure)
  /// The file of trusted authorities cannot be read; a sentence that names the file.
  case noAuthorities(TLSFileError)
  /// The server answered with HTTP instead of a WebSocket: the status and the body.
  case refused(status: Int, body: String)
  /// The answer to the opening handshake is invalid.
  case handshake(HandshakeFailure)
  /// Close code 4401 or 4408: not authenticated.
  case notAuthenticated(reason: String)
  /// Close code 4403: the user is banned.
  case forbidden(reason: String)
  /// The relay closed the connection.
  case closed(CloseCode, reason: String)
  /// The connection ended without a close frame; the reason, if the system knows it.
  case lost(SystemError?)
  /// Nothing was received for this long, not even an answer to a ping.
  case silent(milliseconds: Int)
  /// A line was in flight for this long without an answer.
  case unacknowledged(milliseconds: Int)
  /// The relay broke the WebSocket protocol.
  case violation(ProtocolViolation)
  /// The relay skipped an entry again after the client had asked for it.
  case gap(room: String, after: Int64)
  /// `Client.close()` was called.
  case closedByClient
  /// `Client.reconnect()` has dropped the connection.
  case reconnecting

  /// Whether another attempt would fail in the same way.
  public var isFinal: Bool {
    switch self {
    case .notAuthenticated, .forbidden, .closedByClient, .untrusted, .noAuthorities: true
    // Rate limits and a proxy's errors while the relay is down are temporary.
    case .refused(let status, body: _): !(status == 408 || status == 429 || status >= 500)
    default: false
    }
  }

  /// Whether the relay refuses this user, or refuses clients that do not authenticate.
  public var isAccessDenied: Bool {
    switch self {
    case .notAuthenticated, .forbidden, .refused(status: 401, body: _),
      .refused(status: 403, body: _):
      true
    default: false
    }
  }

  /// Translates a close code of relay.v1.
  init(closeCode code: CloseCode, reason: String) {
    switch code.rawValue {
    case 4401: self = .notAuthenticated(reason: reason.isEmpty ? "the token is invalid" : reason)
    case 4408: self = .notAuthenticated(reason: "the relay requires a user or a token")
    case 4403: self = .forbidden(reason: reason.isEmpty ? "this user is banned" : reason)
    default: self = .closed(code, reason: reason)
    }
  }
}

extension ClientError: CustomStringConvertible {
  /// A single line for the user.
  public var description: String {
    switch self {
    case .unresolved(let host, let reason): "cannot find the host \(host): \(reason)"
    case .unreachable(let error): "cannot connect: \(error)"
    case .noWelcome(let milliseconds):
      "no relay answered within \(Self.seconds(milliseconds)); check the address"
    case .untrusted(let host, let reason): "the certificate of \(host) is not trusted: \(reason)"
    case .notEncrypted(let failure): "cannot encrypt the connection: \(failure)"
    case .noAuthorities(let error): "\(error)"
    case .refused(let status, let body):
      body.isEmpty
        ? "the server responded with HTTP status \(status) instead of a WebSocket handshake"
        : "the server responded with HTTP status \(status): \(body)"
    case .handshake(let failure): "not a WebSocket server: \(failure)"
    case .notAuthenticated(let reason): "access denied: \(reason)"
    case .forbidden(let reason): "access denied: \(reason)"
    case .closed(let code, let reason):
      reason.isEmpty
        ? "the relay closed the connection with code \(code.rawValue)"
        : "the relay closed the connection with code \(code.rawValue): \(reason)"
    case .lost(let error):
      error.map { "the connection was lost: \($0)" } ?? "the connection was lost"
    case .silent(let milliseconds): "nothing was received for \(Self.seconds(milliseconds))"
    case .unacknowledged(let milliseconds):
      "nothing was acknowledged for \(Self.seconds(milliseconds))"
    case .violation(let violation): "the relay violated the protocol: \(violation)"
    case .gap(let room, let after): "the relay skipped entry \(after + 1) of room \(room) twice"
    case .closedByClient: "closed"
    case .reconnecting: "reconnecting, as asked"
    }
  }

  private static func seconds(_ milliseconds: Int) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }
}
