public import Wire

/// The reason for which a request about accounts is refused.
public struct AccountProblem: Error, Equatable, Sendable {
  public var status: Int
  public var code: ErrorCode
  /// For a person: what happened, to what, and what to do.
  public var detail: String
  /// The part of the request that is wrong.
  public var field: String?
  public var retryAfterMilliseconds: Int64?

  init(
    _ status: Int, _ code: ErrorCode, _ detail: String, field: String? = nil,
    retryAfterMilliseconds: Int64? = nil
  ) {
    self.status = status
    self.code = code
    self.detail = detail
    self.field = field
    self.retryAfterMilliseconds = retryAfterMilliseconds
  }

  static func bad(_ field: String, _ detail: String) -> Self {
    Self(400, .badField, detail, field: field)
  }

  static func forbidden(_ detail: String) -> Self { Self(403, .forbidden, detail) }

  static let signInFirst = Self(401, .unauthorized, "Sign in first.")

  static func disabled(_ user: String) -> Self { .forbidden("The account of \(user) is disabled.") }

  static let notJSON = Self(400, .badJSON, "The content must be a JSON object.")

  /// A used, an expired and an unknown code are answered alike, so that nothing can be learned by
  /// trying.
  static let noInvitation = Self(
    404, .noSuchEntry,
    "This invitation is unknown, used or expired; ask the person who sent it for a new one.")
  static let noDeviceCode = Self(
    404, .noSuchEntry,
    "No device waits with this code. Codes expire after ten minutes; compare it with the device.")
  static let noSession = Self(404, .noSuchEntry, "You have no such session.")

  static func nameTaken(_ user: String) -> Self {
    Self(409, .nameTaken, "The name \(user) is taken; choose another.", field: "user")
  }

  static func tooMany(_ what: String, wait: Int64) -> Self {
    Self(
      429, .rateLimited, "Too many \(what); retry in \((wait + 999) / 1000) s.",
      retryAfterMilliseconds: wait)
  }

  public static let unavailable = Self(
    503, .unavailable, "The accounts cannot be read or written now. Nothing was changed; retry.",
    retryAfterMilliseconds: 1000)
}
