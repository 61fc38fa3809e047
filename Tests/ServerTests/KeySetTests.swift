import CJWT
import Relay
import Testing
import Wire

@testable import Server

/// Several keys beside each other, and tokens of those who would like another key or algorithm.
@Suite struct `Several keys for tokens` {
  private static let wall: Int64 = 1_763_650_000_000
  /// Made once for all tests.
  private static let made = Result { (try KeyPair.rsa(), try KeyPair.ec(), try KeyPair.ec()) }
  private let rsa: KeyPair
  private let ec: KeyPair
  private let other: KeyPair

  init() throws { (rsa, ec, other) = try Self.made.get() }

  private static func named(_ name: String?, _ pair: KeyPair) throws -> NamedTokenKey {
    NamedTokenKey(name: name, key: try TokenKey(publicKey: pair.publicKey))
  }

  private func outcome(
    _ token: String, _ keys: [NamedTokenKey], rule: TokenRule = TokenRule()
  ) -> String {
    do throws(TokenVerifier.Refusal) {
      return try TokenVerifier(keys: KeySet(keys), rule: rule, reserved: [])
        .verify(token, wall: Self.wall).user
    } catch {
      return (error.isKeyUnknown ? "unknown: " : "") + error.error.message
    }
  }

  private func token(_ pair: KeyPair, _ headers: String = "{}") throws -> String {
    let algorithm = pair.publicKey == rsa.publicKey ? JWT_ALG_RS256 : JWT_ALG_ES256
    return try SignedToken.make(
      #"{"sub":"ada"}"#, headers: headers, algorithm, key: pair.privateKey)
  }

  // MARK: Choosing

  @Test func `with several keys, the one is used that the header names`() throws {
    let keys = [
      try Self.named("r", rsa), try Self.named("e", ec),
      NamedTokenKey(name: "s", key: TokenKey(secret: SignedToken.secret)),
    ]
    #expect(outcome(try token(rsa, #"{"kid":"r"}"#), keys) == "ada")
    #expect(outcome(try token(ec, #"{"kid":"e"}"#), keys) == "ada")
    let secret = try SignedToken.make(#"{"sub":"ada"}"#, headers: #"{"kid":"s"}"#)
    #expect(outcome(secret, keys) == "ada")
    #expect(
      outcome(try token(ec), keys)
        == "The token's header must name its key (kid): this relay has several.")
    #expect(
      outcome(try token(ec, #"{"kid":"r"}"#), keys)
        == "The token is not signed with RS256, which this relay's key is for: its alg is ES256.")
    #expect(
      outcome(try token(other, #"{"kid":"e"}"#), keys)
        == "The token is not signed with ES256 by the right key.")
  }

  @Test func `a name that is not known may be that of a new key`() throws {
    let keys = [try Self.named("r", rsa), try Self.named("e", ec)]
    #expect(
      outcome(try token(ec, #"{"kid":"f"}"#), keys)
        == "unknown: The token names a key that this relay does not know: its kid is f.")
    #expect(
      outcome(try token(ec, #"{"kid":"f"}"#), [keys[1]]).hasPrefix("unknown: "),
      "the only key has another name")
    #expect(outcome(try token(ec), []).hasPrefix("unknown: "))
  }

  @Test func `the only key is for tokens that name none, and one without a name for all`() throws {
    #expect(outcome(try token(ec), [try Self.named("e", ec)]) == "ada")
    #expect(outcome(try token(ec, #"{"kid":"x"}"#), [try Self.named(nil, ec)]) == "ada")
    // It may be by a key that is still to be fetched.
    let secret = [NamedTokenKey(key: TokenKey(secret: SignedToken.secret))]
    #expect(outcome(try token(ec, #"{"kid":"x"}"#), secret).hasPrefix("unknown: "))
  }

  @Test func `tokens without a name are for the keys without one, each with its algorithm`() throws
  {
    let keys = [
      try Self.named(nil, rsa), try Self.named(nil, ec), try Self.named(nil, other),
      try Self.named("e", try KeyPair.ec()),
    ]
    for pair in [rsa, ec, other] { #expect(outcome(try token(pair), keys) == "ada") }
    // The key may have been replaced.
    #expect(outcome(try token(try KeyPair.ec()), keys).hasPrefix("unknown: "))
  }

  @Test func `no more than eight keys without a name are tried`() throws {
    let keys = try (0..<9).map { _ in try KeyPair.ec() }
    let set = KeySet(try keys.map { try Self.named(nil, $0) })
    #expect(set.thumbprints.count == KeySet.unnamedLimit)
    #expect(set.notes == ["More than 8 keys have no kid; the others are not used."])
  }

  @Test func `the first of two keys with one name counts, unless their algorithms differ`() throws {
    let keys = [
      try Self.named("k", ec), try Self.named("k", other), try Self.named("k", rsa),
      try Self.named("k", ec),
    ]
    #expect(outcome(try token(ec, #"{"kid":"k"}"#), keys) == "ada")
    #expect(outcome(try token(rsa, #"{"kid":"k"}"#), keys) == "ada")
    #expect(outcome(try token(other, #"{"kid":"k"}"#), keys).contains("by the right key"))
    #expect(KeySet(keys).notes == ["Two different ES256 keys are called k; the first is used."])
  }

  // MARK: Attacks

  @Test(arguments: ["7", "null", "true", #"["e"]"#, #"{"e":1}"#])
  func `a kid that is no string is refused, also with one key`(kid: String) throws {
    // libjwt writes no such header.
    let header = SignedToken.base64URL(#"{"alg":"ES256","kid":\#(kid)}"#)
    let rest = try token(ec).drop { $0 != "." }
    for keys in [
      [try Self.named(nil, ec)],
      [try Self.named("e", ec), try Self.named("r", rsa)],
    ] {
      #expect(outcome(header + rest, keys) == "The token's kid must be a string.")
    }
  }

  /// Some libraries read a file or ask a database with it.
  @Test(arguments: [
    "../../../../dev/null", "/etc/passwd", "e' UNION SELECT 'secret", "|id", "e\\u0001", "",
    "file:///dev/null", "http://127.0.0.1/key",
  ])
  func `a kid is only compared`(kid: String) throws {
    let keys = [try Self.named("e", ec), try Self.named("r", rsa)]
    // Signed with an empty secret, which is what such a library would have found.
    let forged = try SignedToken.make(#"{"sub":"ada"}"#, headers: #"{"kid":"\#(kid)"}"#, key: "x")
    #expect(outcome(forged, keys).hasPrefix("unknown: "))
  }

  @Test func `a kid of kilobytes is refused, and not repeated`() throws {
    let keys = [try Self.named("e", ec), try Self.named("r", rsa)]
    let long = String(repeating: "k", count: 5000)
    #expect(
      outcome(try token(ec, #"{"kid":"\#(long)"}"#), keys)
        == "unknown: The token names a key that this relay does not know: its kid is something else."
    )
    let longer = String(repeating: "k", count: 8192)
    #expect(
      outcome(try token(ec, #"{"kid":"\#(longer)"}"#), keys).contains("longer than 8192"))
  }

  /// RFC 8725 §2.1: a public key as a secret, and no signature at all.
  @Test func `no key verifies another algorithm than its own`() throws {
    let keys = [
      try Self.named("r", rsa), try Self.named("e", ec),
      NamedTokenKey(name: "s", key: TokenKey(secret: SignedToken.secret)),
    ]
    for (kid, pem) in [("r", rsa.publicKey), ("e", ec.publicKey)] {
      let confused = try SignedToken.make(
        #"{"sub":"ada"}"#, headers: #"{"kid":"\#(kid)"}"#, key: pem)
      #expect(outcome(confused, keys).hasSuffix("its alg is HS256."), "\(kid)")
      let aimed = try SignedToken.make(#"{"sub":"ada"}"#, headers: #"{"kid":"s"}"#, key: pem)
      #expect(outcome(aimed, keys).contains("by the right key"))
    }
    let payload = SignedToken.base64URL(#"{"sub":"ada"}"#)
    for kid in ["r", "e", "s"] {
      for name in ["none", "None", "HS384", "RS512", "PS256", "ES384"] {
        let header = SignedToken.base64URL(#"{"alg":"\#(name)","kid":"\#(kid)"}"#)
        for signature in ["", "AAAA"] {
          #expect(outcome("\(header).\(payload).\(signature)", keys) != "ada")
        }
      }
    }
  }

  /// RFC 7515 §4.1.2, §4.1.3, §4.1.5: whoever makes the token chooses them.
  @Test func `keys in the header, and addresses of keys, are ignored`() throws {
    let attacker = other
    for header in [
      #"{"jwk":\#(try attacker.jwk())}"#, #"{"kid":"e","jwk":\#(try attacker.jwk())}"#,
      #"{"kid":"e","jku":"http://127.0.0.1:1/jwks"}"#, #"{"kid":"e","x5u":"http://127.0.0.1:1/c"}"#,
      #"{"kid":"e","x5c":["AAAA"]}"#,
    ] {
      let keys = [try Self.named("e", ec)]
      #expect(outcome(try token(attacker, header), keys).contains("by the right key"), "\(header)")
      #expect(outcome(try token(ec, header), keys) == "ada", "\(header)")
    }
  }

  // MARK: Conditions

  private func outcome(_ claims: String, _ configure: (inout TokenRule) -> Void) throws -> String {
    var rule = TokenRule()
    configure(&rule)
    return outcome(
      try SignedToken.make(claims), [NamedTokenKey(key: TokenKey(secret: SignedToken.secret))],
      rule: rule)
  }

  @Test(arguments: [
    (#""iss":"https://id.example.org""#, true), (#""iss":"https://id.example.org/""#, false),
    (#""iss":"HTTPS://id.example.org""#, false), (#""iss":["https://id.example.org"]"#, false),
    (#""iss":null"#, false), (#""x":1"#, false), (#""iss":"https:\/\/id.example.org""#, true),
  ])
  func `iss is compared byte by byte, and must be there`(claim: String, isAccepted: Bool) throws {
    let answer = try outcome(#"{"sub":"ada",\#(claim)}"#) {
      $0.issuer = Array("https://id.example.org".utf8)
    }
    #expect(
      answer == (isAccepted ? "ada" : "The token's iss is not the issuer that this relay accepts."))
  }

  @Test func `an iss that only looks the same is another one`() throws {
    let answer = try outcome(#"{"sub":"ada","iss":"e\u0301"}"#) { $0.issuer = Array("é".utf8) }
    #expect(answer != "ada")
  }

  @Test(arguments: [
    (#""aud":"chat""#, true), (#""aud":["wiki","chat"]"#, true), (#""aud":"wiki""#, false),
    (#""aud":["wiki"]"#, false), (#""aud":[]"#, false), (#""aud":"chat2""#, false),
    (#""aud":{"chat":1}"#, false), (#""aud":[["chat"]]"#, false), (#""x":1"#, false),
    (#""aud":[7,"chat"]"#, true),
  ])
  func `aud is a text or a list, and must name the relay`(claim: String, isAccepted: Bool) throws {
    let answer = try outcome(#"{"sub":"ada",\#(claim)}"#) { $0.audience = Array("chat".utf8) }
    #expect(answer == (isAccepted ? "ada" : "The token's aud does not name this relay."))
  }

  @Test(arguments: [
    (#""iat":1763649999"#, false), (#""iat":1763649999.9"#, false), (#""iat":1763650000"#, true),
    (#""iat":1763650001"#, true), (#""iat":"1763650001""#, false), (#""x":1"#, false),
    (#""iat":null"#, false), (#""iat":-1"#, false),
  ])
  func `tokens of a user must not be older than not_before`(claim: String, isAccepted: Bool) throws
  {
    for user in ["ada", "bo"] {
      let answer = try outcome(#"{"sub":"\#(user)",\#(claim)}"#) {
        $0.notBefore = ["ada": 1_763_650_000_000]
      }
      let isFree = user == "bo" || isAccepted
      #expect((answer == user) == isFree, "\(answer)")
      #expect(isFree || answer.hasPrefix("Tokens of ada are accepted from 1763650000 s"))
    }
  }

  @Test func `an expired token that is also for another relay is not worth renewing`() throws {
    let answer = try outcome(#"{"sub":"ada","exp":1}"#) { $0.audience = Array("chat".utf8) }
    #expect(answer == "The token's aud does not name this relay.")
  }

  // MARK: Memory

  @Test func `tokens of one issuer share what they have in common`() throws {
    let verifier = TokenVerifier(key: TokenKey(secret: SignedToken.secret), reserved: [])
    func origin(_ claims: String) throws -> TokenOrigin? {
      try verifier.verify(try SignedToken.make(claims), wall: Self.wall).issuance?.origin
    }
    let one = try origin(#"{"sub":"ada","iss":"i","aud":"a","iat":1}"#)
    #expect(try origin(#"{"sub":"bo","iss":"i","aud":["a"],"iat":2}"#) === one)
    #expect(try origin(#"{"sub":"bo","iss":"j","aud":"a"}"#) !== one)
    // The key, the name and the algorithm of a token are no part of it.
    #expect(MemoryLayout<Issuance?>.size == 16)
  }
}
