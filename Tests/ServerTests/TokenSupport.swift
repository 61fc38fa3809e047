import CJWT
import Glibc
import Testing
import WebSocket
import Wire

@testable import Gateway
@testable import Server

/// Tokens as anyone can make them, valid or not.
enum SignedToken {
  static let secret = String(repeating: "0123456789abcdef", count: 2)

  /// Made by libjwt, whose encoder has no part in verifying.
  /// - Parameters:
  ///   - claims: a JSON object, and so are the further headers.
  static func make(
    _ claims: String, headers: String = "{}", _ algorithm: jwt_alg_t = JWT_ALG_HS256,
    key: String = secret
  ) throws -> String {
    var made: OpaquePointer?
    try #require(unsafe jwt_new(&made) == 0)
    let token = try unsafe #require(unsafe made)
    defer { unsafe jwt_free(token) }
    let bytes = Array(key.utf8)
    try #require(unsafe jwt_set_alg(token, algorithm, bytes, Int32(bytes.count)) == 0)
    try #require(unsafe jwt_add_grants_json(token, claims) == 0)
    try #require(unsafe jwt_add_headers_json(token, headers) == 0)
    let text = try unsafe #require(unsafe jwt_encode_str(token))
    defer { unsafe free(text) }
    return unsafe String(cString: text)
  }

  /// The encoding in a token: base64url without padding (RFC 7515 §2).
  static func base64URL(_ text: String) -> String { base64URL(Array(text.utf8)) }

  static func base64URL(_ bytes: [UInt8]) -> String {
    String(
      Base64.encode(bytes).compactMap { character -> Character? in
        switch character {
        case "+": "-"
        case "/": "_"
        case "=": nil
        default: character
        }
      })
  }
}

/// A pair of keys, in PEM, created by the openssl command.
struct KeyPair {
  let privateKey: String
  let publicKey: String

  static func rsa(bits: Int = 2048) throws -> KeyPair {
    try KeyPair("-algorithm RSA -pkeyopt rsa_keygen_bits:\(bits)")
  }

  static func ec(_ curve: String = "P-256") throws -> KeyPair {
    try KeyPair("-algorithm EC -pkeyopt ec_paramgen_curve:\(curve)")
  }

  static func ed25519() throws -> KeyPair { try KeyPair("-algorithm ED25519") }

  private init(_ options: String) throws {
    privateKey = try Self.output(of: "openssl genpkey \(options) 2>/dev/null")
    publicKey = try Self.output(of: "echo '\(privateKey)' | openssl pkey -pubout")
  }

  static func output(of command: String) throws -> String {
    let pipe = try unsafe #require(unsafe popen(command, "re"))
    var bytes: [UInt8] = []
    while case let byte = unsafe getc(pipe), byte != EOF { bytes.append(UInt8(byte)) }
    try #require(unsafe pclose(pipe) == 0, "\(command) failed")
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension KeyPair {
  /// The public key as a JWK (RFC 7517), cut out of its DER. A value of `more` replaces a member.
  func jwk(_ more: [String: String] = [:]) throws -> String {
    let der = try #require(PublicKey(pem: Array(publicKey.utf8))).der
    var members: [String: String]
    if der.count < 100 {
      members = [
        "kty": #""EC""#, "crv": #""P-256""#, "x": Self.shown(der[27..<59]),
        "y": Self.shown(der[59..<91]),
      ]
    } else {
      // Of 2048 bits: a modulus of 256 bytes after 33, and the exponent 65537.
      members = ["kty": #""RSA""#, "n": Self.shown(der[33..<289]), "e": #""AQAB""#]
    }
    members.merge(more) { $1 }
    let pairs = members.sorted { $0.key < $1.key }.map { #""\#($0.key)":\#($0.value)"# }
    return "{\(pairs.joined(separator: ","))}"
  }

  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    #""\#(SignedToken.base64URL(Array(bytes)))""#
  }
}

extension Authenticator {
  /// - Parameter verifier: `nil` in open mode.
  convenience init(
    verifier: TokenVerifier?, botUsers: Set<String>, banned: Set<String> = [],
    operators: Set<String> = []
  ) {
    var verify: Verification?
    if let verifier {
      verify = { token, wall, _ throws(WireError) in
        do throws(TokenVerifier.Refusal) {
          return try verifier.verify(token, wall: wall)
        } catch {
          throw error.error
        }
      }
    }
    self.init(verify: verify, botUsers: botUsers, banned: banned, operators: operators)
  }
}
