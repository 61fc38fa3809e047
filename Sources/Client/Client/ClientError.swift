public import Platform
public import TLS
public import WebSocket

/// Why there is no connection; prints as a sentence without a full stop.
///
/// What the relay or whoever answered in its place wrote is part of some: pass it through
/// ``TerminalText/line(_:)`` before it is shown.
public enum ClientError: Error, Equatable, Sendable {
  /// No such host, or nobody to ask.
  case unresolved(host: String, reason: String)
  /// Nobody answers at any of the host's addresses; the last one's refusal.
  case unreachable(SystemError)
  /// Connected, or not even that, but no `welcome` in time.
  case noWelcome(afterMilliseconds: Int)
  /// The host's certificate does not prove that it is the host.
  case untrusted(host: String, reason: String)
  /// There is no encrypted connection; why.
  case notEncrypted(TLSFailure)
  /// The authorities to trust cannot be read; a sentence that names the file.
  case noAuthorities(TLSFileError)
  /// HTTP instead of a WebSocket: the status, and what the server said.
  case refused(status: Int, body: String)
  /// The answer to the opening handshake is no such answer.
  case handshake(HandshakeFailure)
  /// Close code 4401, or 4408: not authenticated.
  case notAuthenticated(reason: String)
  /// Close code 4403: the user is banned.
  case forbidden(reason: String)
  /// The relay closed the connection.
  case closed(CloseCode, reason: String)
  /// The connection ended without a close; why, if the system knows.
  case lost(SystemError?)
  /// Nothing came for so long, not even an answer to a ping.
  case silent(milliseconds: Int)
  /// A line was in flight for so long without any answer.
  case unacknowledged(milliseconds: Int)
  /// The relay broke the WebSocket protocol.
  case violation(ProtocolViolation)
  /// The relay left out an entry, again, after it was asked for it.
  case gap(room: String, after: Int64)
  /// `Client.close()` was called.
  case closedByClient

  /// Whether another attempt would meet the same.
  public var isFinal: Bool {
    switch self {
    case .notAuthenticated, .forbidden, .closedByClient, .untrusted, .noAuthorities: true
    // Too many requests, and what a proxy says while the relay is away, pass.
    case .refused(let status, body: _): !(status == 408 || status == 429 || status >= 500)
    default: false
    }
  }

  /// Whether the relay knows who is asking, or does not want to, and does not let them in.
  public var isNotLetIn: Bool {
    switch self {
    case .notAuthenticated, .forbidden, .refused(status: 401, body: _),
      .refused(status: 403, body: _):
      true
    default: false
    }
  }

  /// What a close code means for a client of relay.v1.
  init(closeCode code: CloseCode, reason: String) {
    switch code.rawValue {
    case 4401: self = .notAuthenticated(reason: reason.isEmpty ? "the token is not valid" : reason)
    case 4408: self = .notAuthenticated(reason: "the relay wants a user or a token")
    case 4403: self = .forbidden(reason: reason.isEmpty ? "this user is banned" : reason)
    default: self = .closed(code, reason: reason)
    }
  }
}

extension ClientError: CustomStringConvertible {
  /// One line for a person.
  public var description: String {
    switch self {
    case .unresolved(let host, let reason): "cannot find the host \(host): \(reason)"
    case .unreachable(let error): "cannot connect: \(error)"
    case .noWelcome(let milliseconds):
      "no relay answered within \(Self.seconds(milliseconds)); is it the right address?"
    case .untrusted(let host, let reason): "the certificate of \(host) is not trusted: \(reason)"
    case .notEncrypted(let failure): "no encrypted connection: \(failure)"
    case .noAuthorities(let error): "\(error)"
    case .refused(let status, let body):
      body.isEmpty
        ? "the server answered with HTTP status \(status) instead of a WebSocket"
        : "the server answered with HTTP status \(status): \(body)"
    case .handshake(let failure): "no WebSocket there: \(failure)"
    case .notAuthenticated(let reason): "not let in: \(reason)"
    case .forbidden(let reason): "not let in: \(reason)"
    case .closed(let code, let reason):
      reason.isEmpty
        ? "the relay closed the connection with code \(code.rawValue)"
        : "the relay closed the connection with code \(code.rawValue): \(reason)"
    case .lost(let error):
      error.map { "the connection was lost: \($0)" } ?? "the connection was lost"
    case .silent(let milliseconds): "no sign of life for \(Self.seconds(milliseconds))"
    case .unacknowledged(let milliseconds):
      "nothing was acknowledged for \(Self.seconds(milliseconds))"
    case .violation(let violation): "the relay broke the protocol: \(violation)"
    case .gap(let room, let after): "the relay left out entry \(after + 1) of room \(room), twice"
    case .closedByClient: "closed"
    }
  }

  private static func seconds(_ milliseconds: Int) -> String {
    milliseconds % 1000 == 0 ? "\(milliseconds / 1000) s" : "\(milliseconds) ms"
  }
}
