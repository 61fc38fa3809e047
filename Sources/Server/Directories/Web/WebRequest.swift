/// What is asked of an HTTP server.
struct WebRequest {
  var url: String
  /// `Name: value`, without line breaks.
  var headers: [String] = []
  /// Sent by POST, as application/x-www-form-urlencoded; `nil` is a GET.
  var form: String?
  /// Shown by HTTP's basic scheme (RFC 7617).
  var login: (user: String, password: String)?
  /// The longest body that is taken.
  var limitBytes = 8 << 20
}

/// What an HTTP server answered, after all redirects.
struct WebAnswer: Sendable {
  var status = 0
  var headers = WebHeaders()
  var body: [UInt8] = []
}

/// Why there is no answer.
enum WebFailure: Error, Equatable {
  /// The directory ends.
  case stopped
  /// The answer is longer than that.
  case tooLong(limitBytes: Int)
  /// What went wrong, in a few words for everyone, and more of it for the operator.
  case network(String, detail: String)
}

extension StringProtocol {
  /// Without white space at its ends.
  var trimmed: String {
    let space: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
    return String(drop(while: space).reversed().drop(while: space).reversed())
  }
}
