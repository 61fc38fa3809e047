internal import TLS

/// The signature of a request to S3 (AWS Signature Version 4,
/// <https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html>).
///
/// Not libcurl's own: in the version of Debian 12 it leaves out ports, and in others it treats paths, queries and
/// the digest of the content differently.
struct S3Signature {
  /// What a request is signed with. Never in a message.
  let credentials: S3Credentials
  let region: String

  /// Returns the headers of a request, its signature included.
  /// - Parameters:
  ///   - path: percent-encoded.
  ///   - query: percent-encoded, in the order of the names.
  ///   - time: `20261127T222207Z`.
  func headers(
    method: String, host: String, path: String, query: String, content: [UInt8], time: String
  ) -> [String] {
    let digest = SHA256Digest.hex(SHA256Digest.of(content))
    var headers = [("host", host), ("x-amz-content-sha256", digest), ("x-amz-date", time)]
    if let token = credentials.sessionToken { headers.append(("x-amz-security-token", token)) }
    let names = headers.map(\.0).joined(separator: ";")
    let lines = headers.map { "\($0.0):\($0.1)\n" }.joined()
    let request = "\(method)\n\(path)\n\(query)\n\(lines)\n\(names)\n\(digest)"

    let day = String(time.prefix(8))
    let scope = "\(day)/\(region)/s3/aws4_request"
    let requestDigest = SHA256Digest.hex(SHA256Digest.of(Array(request.utf8)))
    var key = Array("AWS4\(credentials.secret)".utf8)
    for part in [day, region, "s3", "aws4_request"] { key = SHA256Digest.code(of: part, key: key) }
    let signature = SHA256Digest.code(
      of: "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(requestDigest)", key: key)
    return headers.map { "\($0.0): \($0.1)" } + [
      "authorization: AWS4-HMAC-SHA256 Credential=\(credentials.keyID)/\(scope), "
        + "SignedHeaders=\(names), Signature=\(SHA256Digest.hex(signature))"
    ]
  }

  /// Percent-encodes a text (RFC 3986); a path keeps its slashes.
  static func encoded(_ text: String, keeping kept: String = "") -> String {
    let plain = Set(
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~\(kept)".utf8)
    return text.utf8.map { byte in
      plain.contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + SHA256Digest.hex([byte]).uppercased()
    }.joined()
  }
}

/// The credentials for S3, from the environment.
public struct S3Credentials: Sendable {
  let keyID: String
  let secret: String
  let sessionToken: String?

  /// `nil` if the environment has none.
  public init?(_ environment: [String: String]) {
    guard let keyID = environment["AWS_ACCESS_KEY_ID"], !keyID.isEmpty,
      let secret = environment["AWS_SECRET_ACCESS_KEY"], !secret.isEmpty
    else { return nil }
    self.keyID = keyID
    self.secret = secret
    sessionToken = environment["AWS_SESSION_TOKEN"].flatMap { $0.isEmpty ? nil : $0 }
  }
}
