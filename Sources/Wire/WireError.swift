/// What an `error` message says went wrong; the raw value is what stands on the wire.
public enum ErrorCode: String, Sendable, CaseIterable {
  case badJSON = "bad_json"
  case badField = "bad_field"
  case unknownType = "unknown_type"
  case tooLarge = "too_large"
  case unauthorized = "unauthorized"
  case tokenExpired = "token_expired"
  case forbidden = "forbidden"
  case noSuchRoom = "no_such_room"
  case noSuchEntry = "no_such_entry"
  case notJoined = "not_joined"
  case tooManyRooms = "too_many_rooms"
  case limitReached = "limit_reached"
  case rateLimited = "rate_limited"
  case directoryLimited = "directory_limited"
  case directoryFailed = "directory_failed"
  case unavailable = "unavailable"
}

/// Why the relay ends a connection: the close codes of its own beside those of RFC 6455 §7.4.
public enum CloseReason: UInt16, Sendable {
  case normal = 1000
  case goingAway = 1001
  case protocolError = 1002
  case unsupportedData = 1003
  case policyViolation = 1008
  case tooBig = 1009
  case internalError = 1011
  case restart = 1012
  case overloaded = 1013
  case notAuthenticated = 4401
  case forbidden = 4403
  case authenticationTimeout = 4408
  case abuse = 4429
}

/// The `error` message: what went wrong, with what, and what to do.
public struct WireError: Error, Equatable, Sendable {
  public var code: ErrorCode
  /// For a person: what happened, to what, and what to do.
  public var message: String
  /// The type of the message that it answers.
  public var re: String?
  public var room: String?
  public var id: String?
  public var field: String?
  public var retryAfterMilliseconds: Int64?
  /// Milliseconds since 1970.
  public var resetAt: Int64?
  /// An id for whoever is asked for help.
  public var support: String?

  public init(
    _ code: ErrorCode, _ message: String, re: String? = nil, room: String? = nil,
    id: String? = nil, field: String? = nil, retryAfterMilliseconds: Int64? = nil
  ) {
    self.code = code
    self.message = message
    self.re = re
    self.room = room
    self.id = id
    self.field = field
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }
}
