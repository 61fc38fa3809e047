/// An HTTP request.
struct WebRequest {
  var url: String
  /// `Name: value`, without line breaks.
  var headers: [String] = []
  /// The path of a Unix socket to connect to, instead of the URL's host.
  var unixSocket: String?
  /// Sent by POST, as application/x-www-form-urlencoded if no header says otherwise; `nil` = a GET.
  var content: String?
  /// Instead of GET or POST.
  var method: String?
  /// The credentials for HTTP basic authentication (RFC 7617).
  var login: (user: String, password: String)?
  /// The maximum length of the response's body.
  var limitBytes = 8 << 20
}

/// An HTTP response, after all redirects.
struct WebAnswer: Sendable {
  var status = 0
  var headers = WebHeaders()
  var body: [UInt8] = []
}

/// Why there is no response.
enum WebFailure: Error, Equatable {
  /// The directory is being stopped.
  case stopped
  /// The response is longer than the limit.
  case tooLong(limitBytes: Int)
  /// The answer leads to an origin that may not be connected to; see `WebReach`.
  case refused(origin: String)
  /// A network error, in a few words for users, with details for the operator, and the errno if the request's Unix
  /// socket cannot be connected to.
  case network(String, detail: String, socketError: Int32? = nil)
}

extension StringProtocol {
  /// Without leading and trailing white space.
  var trimmed: String {
    let space: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
    return String(drop(while: space).reversed().drop(while: space).reversed())
  }
}
