import Mixing
import Testing

@testable import Server

@Suite struct `JWK Sets, RFC 7517` {
  /// Made once for all tests.
  private static let made = Result { (try KeyPair.rsa(), try KeyPair.ec()) }
  private let rsa: KeyPair
  private let ec: KeyPair

  init() throws { (rsa, ec) = try Self.made.get() }

  private func set(_ keys: String..., secrets: Bool = false) throws -> JSONWebKeySet {
    try JSONWebKeySet(
      Array(#"{"keys":[\#(keys.joined(separator: ","))]}"#.utf8), allowsSecrets: secrets)
  }

  /// What is said about a key that is skipped.
  private func note(_ key: String, secrets: Bool = false) throws -> String {
    let error = #expect(throws: JSONWebKeySet.Unusable.self) { try set(key, secrets: secrets) }
    return error?.found ?? ""
  }

  @Test func `RSA and EC stand beside each other, and are the same keys as in PEM`() throws {
    let keys = try set(
      rsa.jwk(["kid": #""r""#, "use": #""sig""#, "alg": #""RS256""#]),
      ec.jwk(["key_ops": #"["sign","verify"]"#])
    ).keys
    #expect(keys.map(\.name) == ["r", nil])
    #expect(keys.map(\.key.algorithm) == [.rs256, .es256])
    #expect(
      keys.map(\.key.thumbprint) == [
        try TokenKey(publicKey: rsa.publicKey).thumbprint,
        try TokenKey(publicKey: ec.publicKey).thumbprint,
      ])
  }

  @Test func `a key for another purpose is skipped, and the others are used`() throws {
    let good = try ec.jwk(["kid": #""good""#])
    for (more, reason) in [
      (["use": #""enc""#], "(use)"), (["use": "null"], "(use)"), (["use": #""SIG""#], "(use)"),
      (["key_ops": #"["encrypt"]"#], "(key_ops)"), (["key_ops": "[]"], "(key_ops)"),
      (["key_ops": #""verify""#], "(key_ops)"),
      (["alg": #""RSA-OAEP""#], "RSA-OAEP"), (["alg": #""PS256""#], "PS256"),
      (["alg": #""HS256""#], "HS256"), (["alg": #""none""#], "none"), (["alg": "7"], "algorithm"),
      (["kty": #""OKP""#], "(kty)"), (["kty": "null"], "(kty)"), (["kty": #""rsa""#], "(kty)"),
      (["kid": "7"], "kid"), (["kid": "null"], "kid"), (["kid": #"["good"]"#], "kid"),
      (["kid": #""\#(String(repeating: "k", count: 257))""#], "kid"),
      (["d": #""AQAB""#], "is a private key"), (["n": "null"], "lacks n"),
      (["n": #""A=""#], "lacks n"), (["e": #""""#], "lacks e"), (["n": "7"], "lacks n"),
      (["e": #""AQ""#], "numbers that no RS256 key has"),
      (["e": #""BA""#], "numbers that no RS256 key has"),
      (["n": #""\#(SignedToken.base64URL([UInt8](repeating: 0xFF, count: 128)))""#], "1024 bits"),
      (["n": #""\#(SignedToken.base64URL([UInt8](repeating: 0xFF, count: 2048)))""#], "16384 bits"),
    ] {
      let skipped = try set(rsa.jwk(more), good)
      #expect(skipped.keys.map(\.name) == ["good"], "\(more)")
      #expect(skipped.notes.count == 1)
      #expect(skipped.notes[0].contains(reason), "\(skipped.notes)")
    }
  }

  @Test func `a point that is not on P-256 is skipped`() throws {
    let zero = #""\#(SignedToken.base64URL([UInt8](repeating: 0, count: 32)))""#
    let short = #""\#(SignedToken.base64URL([UInt8](repeating: 1, count: 31)))""#
    #expect(try note(ec.jwk(["crv": #""P-384""#])).contains("P-256"))
    #expect(try note(ec.jwk(["crv": #""secp256k1""#])).contains("P-256"))
    #expect(try note(ec.jwk(["x": zero])).contains("numbers that no such key has"))
    #expect(try note(ec.jwk(["y": short])).contains("not of 32 bytes"))
  }

  /// All who can read the URL could sign tokens with it.
  @Test func `a secret is used from a file, and never from a URL`() throws {
    let secret = SignedToken.base64URL(SignedToken.secret)
    let key = #"{"kty":"oct","k":"\#(secret)"}"#
    #expect(try note(key).contains("everyone who can read its URL could sign tokens"))
    let keys = try set(key, secrets: true).keys
    #expect(keys.map(\.key.thumbprint) == [TokenKey(secret: SignedToken.secret).thumbprint])
    #expect(try note(#"{"kty":"oct","k":"aHVzaA"}"#, secrets: true).contains("fewer than 32"))
    #expect(
      try note(#"{"kty":"oct","alg":"HS512","k":"\#(secret)"}"#, secrets: true).contains("HS512"))
  }

  @Test func `a note shows no name that could harm a terminal or fill a log`() throws {
    let names = [#"\u001b[31m"#, String(repeating: "k", count: 200), "../../etc/passwd"]
    let notes = try names.map { try note(#"{"kty":"OKP","kid":"\#($0)"}"#) }
    #expect(notes[0].contains("(something else)"))
    #expect(notes[1].contains("(something else)"))
    #expect(notes[2].contains("(../../etc/passwd)"))
  }

  @Test(arguments: [
    "", "{}", "[]", "null", #"{"keys":{}}"#, #"{"keys":null}"#, #"{"keys":[]}"#, #"{"keys":[7]}"#,
    #"{"keys":[]"#, "<html></html>", #"{"KEYS":[]}"#,
  ])
  func `what is no set, or has no key, is refused`(document: String) {
    #expect(throws: JSONWebKeySet.Unusable.self) {
      try JSONWebKeySet(Array(document.utf8), allowsSecrets: true)
    }
  }

  @Test func `too many keys, and a document that is too long, are refused`() throws {
    let key = try ec.jwk()
    let many = Array(repeating: key, count: JSONWebKeySet.keysLimit + 1).joined(separator: ",")
    #expect(try note(many).contains("has 101 keys; at most 100"))
    let space = String(repeating: " ", count: JSONWebKeySet.documentBytesLimit)
    #expect(try note(key + space).contains("is longer than 1048576 bytes"))
  }

  @Test func `no garbage traps`() throws {
    let valid = Array(#"{"keys":[\#(try rsa.jwk()),\#(try ec.jwk())]}"#.utf8)
    var random = SplitMix64(seed: 11)
    for _ in 0..<3000 {
      var bytes = valid
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let at = Int.random(in: 0..<bytes.count, using: &random)
        if Bool.random(using: &random) {
          bytes[at] = UInt8(random.next() % 128)
        } else {
          bytes.removeSubrange(at..<min(bytes.count, at + Int(random.next() % 40)))
        }
      }
      let keys = (try? JSONWebKeySet(bytes, allowsSecrets: true))?.keys ?? []
      #expect(keys.count <= 2)
    }
  }
}
