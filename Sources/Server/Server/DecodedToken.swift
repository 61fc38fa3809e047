internal import CJWT
internal import COpenSSL
internal import Glibc
internal import YAML

/// A JWT (RFC 7519) decoded by libjwt.
///
/// libjwt 1.10 takes the algorithm from the token and checks no times: the caller has to compare
/// `algorithm`, and to check the times.
@safe struct DecodedToken: ~Copyable {
  private let token: OpaquePointer

  /// Decodes a token and verifies its signature by the algorithm in its header; `nil` if that
  /// fails. Never returns a token without a signature: libjwt rejects those if there is a key.
  init?(_ text: String, key: [UInt8]) {
    guard !key.isEmpty, Self.isWellFormed(text) else { return nil }
    // Errors that OpenSSL queued for a bad signature must not be attributed to a TLS connection on
    // this thread.
    defer { ERR_clear_error() }
    var decoded: OpaquePointer?
    guard unsafe jwt_decode(&decoded, text, key, Int32(key.count)) == 0,
      let decoded = unsafe decoded
    else { return nil }
    unsafe token = decoded
  }

  deinit { unsafe jwt_free(token) }

  /// Three parts of base64url, none empty (RFC 7515 §7.1): libjwt skips invalid characters.
  private static func isWellFormed(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    return parts.count == 3
      && parts.allSatisfy { part in
        !part.isEmpty && part.count % 4 != 1
          && part.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
              UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
              true
            default: false
            }
          }
      }
  }

  /// The `alg` header, case-sensitive (RFC 7515 §4.1.1).
  var algorithm: String? {
    unsafe jwt_get_header(token, "alg").map { unsafe String(cString: $0) }
  }

  /// Whether the header lists extensions that must be understood (RFC 7515 §4.1.11).
  var hasCriticalExtensions: Bool {
    guard let json = unsafe jwt_get_headers_json(token, "crit") else { return false }
    unsafe free(json)
    return true
  }

  /// Returns a string claim; `nil` if it is absent or not a string.
  func string(_ claim: String) -> String? {
    unsafe jwt_get_grant(token, claim).map { unsafe String(cString: $0) }
  }

  /// Returns a claim as JSON, normalized by libjwt; `nil` if it is absent.
  func json(_ claim: String) -> String? {
    guard let json = unsafe jwt_get_grants_json(token, claim) else { return nil }
    defer { unsafe free(json) }
    return unsafe String(cString: json)
  }

  /// Returns a claim as a tree. JSON is YAML, too, and the source of the text is signed.
  func tree(_ claim: String) -> YAMLNode? {
    json(claim).flatMap { YAMLDocument(Array($0.utf8)).root }
  }
}
