/// The code of an `error` message; the raw value is the name on the wire.
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
  case superseded = "superseded"
  case limitReached = "limit_reached"
  case rateLimited = "rate_limited"
  case directoryLimited = "directory_limited"
  case directoryFailed = "directory_failed"
  case unavailable = "unavailable"
  case idConflict = "id_conflict"
  /// Over HTTP only: the name of a new account is taken.
  case nameTaken = "name_taken"
  /// A code of a later relay, as a client reads it; never sent. It is permanent for its request,
  /// unless the error has a `retry_after_ms`.
  case unknown

  /// All codes that a relay sends.
  public static let sent = allCases.filter { $0 != .unknown }
}
