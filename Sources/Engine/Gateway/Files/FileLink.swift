import WebSocket

/// An address of a file that needs no other credentials, for where a browser sends none: it names a user and says until
/// when, and the relay's signature under both and the file.
struct FileLink: Equatable {
  static let milliseconds: Int64 = 60_000

  var user: String
  /// Milliseconds since 1970.
  var until: Int64
  var signature: String

  /// Returns the code of a text, with a key that only the relay has (HMAC-SHA-256).
  typealias Code = @Sendable (String) -> [UInt8]

  init(to id: String, for user: String, until: Int64, _ code: Code) {
    (self.user, self.until) = (user, until)
    signature = Self.sign(id, user, until, code)
  }

  /// Reads the query of a request; `nil` if it is no link.
  init?(_ request: HTTPRequest) {
    guard let signature = request.query("sig"), let user = request.query("by"),
      let until = request.query("until").flatMap(Int64.init)
    else { return nil }
    (self.user, self.until, self.signature) = (user, until, signature)
  }

  /// Whether the relay has made it for this file, and it has not expired.
  func isValid(for id: String, now: Int64, _ code: Code) -> Bool {
    now < until && signature.equals(secret: Self.sign(id, user, until, code))
  }

  /// The query of the address.
  var query: String { "by=\(PercentCoding.encode(user))&until=\(until)&sig=\(signature)" }

  /// A user name and an id have no line break, so a text stands for one link only.
  private static func sign(_ id: String, _ user: String, _ until: Int64, _ code: Code) -> String {
    Base64.encodeForURL(code("\(user)\n\(until)\n\(id)"))
  }
}
