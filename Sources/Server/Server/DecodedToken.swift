internal import COpenSSL
internal import WebSocket
internal import Wire

/// The claims of a JWT (RFC 7519), a JWS in compact form (RFC 7515), whose signature was verified.
/// Times are not checked.
struct DecodedToken {
  /// What is wrong with a token, as a sentence.
  struct Refusal: Error {
    var text: String
    /// Whether the token may be signed by a key that its issuer has published, but which is not known
    /// here yet.
    var isKeyUnknown = false
  }

  let claims: JSONNode
  /// The claims as they were signed.
  let payload: [UInt8]
  /// The key that signed it.
  let key: TokenKey

  /// Verifies the signature with the algorithm of the key; the one in the header must be the same.
  init(_ token: String, keys: KeySet) throws(Refusal) {
    let parts = token.utf8.split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    if parts.count == 5 {
      throw Refusal(text: "The token is encrypted (JWE); this relay accepts signed tokens only.")
    }
    let bytes = parts.compactMap { Self.decode($0) }
    guard parts.count == 3, bytes.count == 3 else {
      throw Refusal(
        text: "The token is not a JWT, which has three parts of base64url with dots between them.")
    }
    guard let header = JSONNode(bytes[0]), header.isObject else {
      throw Refusal(text: "The token's header is not a JSON object.")
    }
    let choice = try keys.choose(for: header)
    // RFC 8725 §3.11: tokens for other purposes may be signed by the same key.
    guard header.member("typ").map({ Self.isAccessToken($0.string) }) ?? true else {
      throw Refusal(
        text: "The token's typ is \(Self.shown(header["typ"])); this relay accepts JWT and at+jwt.")
    }
    guard header.member("crit") == nil else {
      throw Refusal(
        text: "The token requires extensions (crit), which this relay does not support.")
    }
    let signed = Array(token.utf8.prefix(parts[0].count + 1 + parts[1].count))
    // Errors that OpenSSL queues must not be attributed to a TLS connection on this thread.
    defer { ERR_clear_error() }
    guard let key = choice.keys.first(where: { $0.verify(bytes[2], of: signed) }) else {
      throw Refusal(
        text:
          "The token is not signed with \(choice.keys[0].algorithm.rawValue) by the right key.",
        isKeyUnknown: !choice.isByName)
    }
    self.key = key
    guard let claims = JSONNode(bytes[1]), claims.isObject else {
      throw Refusal(text: "The token's payload is not a JSON object.")
    }
    self.claims = claims
    payload = bytes[1]
  }

  /// Decodes base64url without padding (RFC 7515 §2); `nil` for anything else.
  static func decode(_ part: Substring.UTF8View) -> [UInt8]? {
    guard !part.isEmpty, !part.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
    var text = part.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return Base64.decode(String(decoding: text, as: UTF8.self))
  }

  /// Whether it is the media type of a JWT (RFC 7519 §5.1) or of an access token (RFC 9068 §2.1),
  /// whose prefix may be omitted.
  private static func isAccessToken(_ type: String?) -> Bool {
    guard var type = type?.lowercased() else { return false }
    if type.hasPrefix("application/") { type.removeFirst("application/".count) }
    return type == "jwt" || type == "at+jwt"
  }

  /// Returns a field of the header for a message: it may contain anything.
  static func shown(_ value: JSONNode?) -> String {
    guard let value else { return "missing" }
    return shown(value.string ?? "")
  }

  static func shown(_ text: String) -> String {
    let isShort = (1...32).contains(text.utf8.count)
    return isShort && text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) ? text : "something else"
  }
}
