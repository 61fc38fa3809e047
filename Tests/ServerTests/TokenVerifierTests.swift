import CJWT
import Mixing
import Relay
import RelayConfiguration
import Testing
import Wire

@testable import Server

@Suite struct `Tokens: signatures and claims` {
  static let wall: Int64 = 1_763_650_000_000
  static let now = 1_763_650_000
  static let bySecret = TokenVerifier(key: TokenKey(secret: SignedToken.secret), reserved: ["echo"])

  private func refusal(_ token: String, _ verifier: TokenVerifier = bySecret) -> String? {
    do throws(TokenVerifier.Refusal) {
      _ = try verifier.verify(token, wall: Self.wall)
      return nil
    } catch {
      let error = error.error
      let hasExpired = error.message == "The token has expired."
      #expect(error.code == (hasExpired ? .tokenExpired : .unauthorized))
      #expect(error.re == .auth)
      return error.message
    }
  }

  /// What a token says, without its issuance.
  private func identity(_ token: String, _ verifier: TokenVerifier = bySecret) throws -> Identity {
    var identity = try verifier.verify(token, wall: Self.wall)
    #expect(identity.issuance != nil)
    identity.issuance = nil
    return identity
  }

  // MARK: Signatures

  @Test func `RS256 and ES256 are verified with a public key, whose kind says which`() throws {
    for (keys, named, algorithm) in [
      (try KeyPair.rsa(), TokenKey.Algorithm.rs256, JWT_ALG_RS256),
      (try KeyPair.ec(), .es256, JWT_ALG_ES256),
    ] {
      let key = try TokenKey(publicKey: keys.publicKey)
      #expect(key.algorithm == named)
      let verifier = TokenVerifier(key: key, reserved: [])
      let token = try SignedToken.make(#"{"sub":"ada"}"#, algorithm, key: keys.privateKey)
      #expect(try identity(token, verifier) == Identity(user: "ada"))
      // The same key with another hash.
      let other = algorithm == JWT_ALG_RS256 ? JWT_ALG_RS512 : JWT_ALG_ES384
      let stronger = try SignedToken.make(#"{"sub":"ada"}"#, other, key: keys.privateKey)
      #expect(
        refusal(stronger, verifier)?.contains("is not signed with \(named.rawValue), ") == true)
      // The public key, which everyone knows, as if it were a secret.
      let confused = try SignedToken.make(#"{"sub":"ada"}"#, key: keys.publicKey)
      #expect(refusal(confused, verifier)?.contains("is not signed with") == true)
    }
  }

  @Test func `signatures by a key of another pair or of another kind are refused`() throws {
    let (mine, theirs) = (try KeyPair.ec(), try KeyPair.ec())
    let verifier = TokenVerifier(key: try TokenKey(publicKey: mine.publicKey), reserved: [])
    let other = try SignedToken.make(#"{"sub":"ada"}"#, JWT_ALG_ES256, key: theirs.privateKey)
    #expect(refusal(other, verifier) == "The token is not signed with ES256 by the right key.")
    for (token, algorithm) in [
      (
        try SignedToken.make(#"{"sub":"ada"}"#, JWT_ALG_RS256, key: try KeyPair.rsa().privateKey),
        "RS256"
      ),
      (try SignedToken.make(#"{"sub":"ada"}"#), "HS256"),
    ] {
      #expect(
        refusal(token, verifier)
          == "The token is not signed with ES256, which this relay's key is for: its alg is \(algorithm)."
      )
    }
  }

  /// A token with any header and payload, signed with the secret.
  private func signed(_ header: String, _ payload: String = #"{"sub":"ada"}"#) throws -> String {
    let content = "\(SignedToken.base64URL(header)).\(SignedToken.base64URL(payload))"
    let code = try KeyPair.output(
      of: "printf %s '\(content)' | openssl dgst -sha256 -hmac '\(SignedToken.secret)' -binary"
        + " | base64 -w0 | tr '+/' '-_' | tr -d =")
    return "\(content).\(code)"
  }

  @Test(arguments: ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "application/jwt"])
  func `an access token may say what it is (RFC 9068)`(type: String) throws {
    let token = try signed(#"{"alg":"HS256","typ":"\#(type)"}"#)
    #expect(try identity(token) == Identity(user: "ada"))
    #expect(refusal(try signed(#"{"alg":"HS256"}"#)) == nil)
  }

  @Test func `each refusal names its own reason`() throws {
    let valid = try SignedToken.make(#"{"sub":"ada"}"#)
    for (token, reason) in [
      ("opaque", "is not a JWT"), ("a.b", "is not a JWT"), ("\(valid)=", "is not a JWT"),
      ("Bearer \(valid)", "is not a JWT"), ("\(valid).AAAA.AAAA", "is encrypted (JWE)"),
      ("AAAA.\(valid.split(separator: ".")[1]).AAAA", "header is not a JSON object"),
      (try signed("[1]"), "header is not a JSON object"),
      (try signed(#"{"typ":"JWT"}"#), "its alg is missing"),
      (try signed(#"{"alg":["HS256"]}"#), "its alg is something else"),
      (try signed(#"{"alg":"\u001b[31m"}"#), "its alg is something else"),
      (try signed(#"{"alg":"HS256","typ":"dpop+jwt"}"#), "typ is dpop+jwt"),
      (try signed(#"{"alg":"HS256","typ":null}"#), "typ is missing"),
      (try signed(#"{"alg":"HS256","crit":["exp"]}"#), "requires extensions (crit)"),
      (valid.dropLast(4) + "AAAA", "is not signed with HS256 by the right key"),
      (try signed(#"{"alg":"HS256"}"#, #"["ada"]"#), "payload is not a JSON object"),
      (try signed(#"{"alg":"HS256"}"#, #"{"sub":"ada""#), "payload is not a JSON object"),
    ] {
      #expect(refusal(String(token))?.contains(reason) == true, "\(token): \(reason)")
    }
  }

  @Test func `a key with something else beside it is refused`() throws {
    let (one, other) = (try KeyPair.ec().publicKey, try KeyPair.rsa().publicKey)
    let error = #expect(throws: ServerError.self) { try TokenKey(publicKey: one + other) }
    #expect(error?.description.contains("holds 2 blocks (PUBLIC KEY, PUBLIC KEY)") == true)
    #expect(throws: Never.self) { try TokenKey(publicKey: "a comment\n\(one)\n") }
  }

  @Test func `with a secret only HS256 is accepted`() throws {
    #expect(refusal(try SignedToken.make(#"{"sub":"ada"}"#)) == nil)
    for algorithm in [JWT_ALG_HS384, JWT_ALG_HS512] {
      #expect(refusal(try SignedToken.make(#"{"sub":"ada"}"#, algorithm)) != nil)
    }
    let others = try SignedToken.make(#"{"sub":"ada"}"#, key: SignedToken.secret + "0")
    #expect(refusal(others) != nil)
  }

  @Test(arguments: ["none", "None", "NONE", "nOnE", "hs256", "", "HS256 ", "RS256"])
  func `no token chooses its algorithm`(named: String) throws {
    let claims = #"{"sub":"ada"}"#
    let parts = try SignedToken.make(claims).split(separator: ".")
    let header = SignedToken.base64URL(#"{"alg":"\#(named)","typ":"JWT"}"#)
    for signature in ["", "AAAA", String(parts[2])] {
      #expect(refusal("\(header).\(parts[1]).\(signature)") != nil)
    }
    // Even its signature is valid, and only the case of the name is wrong.
    let spelt = try SignedToken.make(claims, headers: #"{"kid":"1"}"#)
    #expect(refusal(spelt) == nil)
  }

  @Test func `an altered payload, header or signature is refused, wherever a character changes`()
    throws
  {
    let token = Array(try SignedToken.make(#"{"sub":"ada","exp":4102444800}"#).utf8)
    #expect(refusal(String(decoding: token, as: UTF8.self)) == nil)
    for index in token.indices {
      var altered = token
      altered[index] = token[index] == UInt8(ascii: "B") ? UInt8(ascii: "C") : UInt8(ascii: "B")
      #expect(refusal(String(decoding: altered, as: UTF8.self)) != nil, "at \(index)")
      let cut = token[..<index]
      #expect(refusal(String(decoding: cut, as: UTF8.self)) != nil, "cut at \(index)")
    }
  }

  // MARK: Times

  @Test func `a token is valid for 30 s after its exp, and 30 s before its nbf`() throws {
    for (claims, isValid) in [
      (#""exp":\#(Self.now - 29)"#, true), (#""exp":\#(Self.now - 30)"#, false),
      (#""exp":\#(Self.now + 1)"#, true), (#""nbf":\#(Self.now + 30)"#, true),
      (#""nbf":\#(Self.now + 31)"#, false), (#""nbf":0,"exp":4102444800"#, true),
      (#""exp":0"#, false), (#""exp":-1"#, false), (#""exp":-9223372036854775808"#, false),
      (#""exp":9223372036854775807"#, true), (#""nbf":9223372036854775807"#, false),
      (#""exp":1e300"#, true), (#""nbf":1e300"#, false), (#""exp":-1e300"#, false),
      (#""exp":\#(Self.now - 29).5"#, true), (#""exp":\#(Self.now - 31).5"#, false),
    ] {
      let token = try SignedToken.make(#"{"sub":"ada",\#(claims)}"#)
      #expect((refusal(token) == nil) == isValid, "\(claims)")
    }
    let expired = try SignedToken.make(#"{"sub":"ada","exp":\#(Self.now - 30)}"#)
    #expect(refusal(expired) == "The token has expired.")
    let bot = try SignedToken.make(#"{"sub":"echo","exp":\#(Self.now - 30)}"#)
    #expect(refusal(bot)?.hasPrefix("echo is a bot") == true, "a new token would not help")
    let early = try SignedToken.make(#"{"sub":"ada","nbf":\#(Self.now + 31)}"#)
    #expect(refusal(early) == "The token is not valid yet.")
  }

  @Test(arguments: ["\"1795000000\"", "null", "true", "[1795000000]", "{}", "\"\"", "\"-1\""])
  func `a time that is not a number is refused, not ignored`(value: String) throws {
    for claim in ["exp", "nbf"] {
      let token = try SignedToken.make(#"{"sub":"ada","\#(claim)":\#(value)}"#)
      #expect(refusal(token)?.hasPrefix("The token's \(claim) must be a number") == true)
    }
  }

  @Test func `the reported expiry is that of the token, to the millisecond`() throws {
    for (value, told) in [("1795000000", 1_795_000_000_000), ("1795000000.25", 1_795_000_000_250)] {
      let token = try SignedToken.make(#"{"sub":"ada","exp":\#(value)}"#)
      #expect(try Self.bySecret.verify(token, wall: Self.wall).expires == Int64(told))
    }
  }

  // MARK: Claims

  @Test(arguments: [
    "{}", #"{"sub":null}"#, #"{"sub":7}"#, #"{"sub":""}"#, #"{"sub":["ada"]}"#, #"{"user":"ada"}"#,
  ])
  func `sub must name a user`(claims: String) throws {
    #expect(
      refusal(try SignedToken.make(claims)) == "The token's sub must be a text that names the user."
    )
  }

  @Test func `a sub that is no user name is folded`() throws {
    let token = try SignedToken.make(#"{"sub":"Ada@Example.org"}"#)
    #expect(try identity(token).user == "ada-example.org-jqis4sqf")
  }

  @Test func `another claim names the user, if so configured`() throws {
    var rule = TokenRule()
    rule.userClaim = "email"
    let keys = KeySet([NamedTokenKey(key: TokenKey(secret: SignedToken.secret))])
    let verifier = TokenVerifier(keys: keys, rule: rule, reserved: [])
    let token = try SignedToken.make(#"{"sub":"7","email":"ada"}"#)
    #expect(try identity(token, verifier).user == "ada")
    #expect(
      refusal(try SignedToken.make(#"{"sub":"ada"}"#), verifier)
        == "The token's email must be a text that names the user.")
  }

  @Test func `a bot cannot be claimed`() throws {
    #expect(refusal(try SignedToken.make(#"{"sub":"echo"}"#))?.contains("is a bot") == true)
  }

  @Test func `the name is kept if it can be displayed`() throws {
    for (name, kept) in [
      (#""Ada Lovelace""#, "Ada Lovelace"), (#""Zoë 👩🏽‍🚀""#, "Zoë 👩🏽‍🚀"), (#""two\nlines""#, nil),
      (#""\u001b[31m""#, nil), ("7", nil), ("null", nil), (#""   ""#, nil),
      (#""\#(String(repeating: "n", count: 201))""#, nil),
    ] {
      let token = try SignedToken.make(#"{"sub":"ada","name":\#(name)}"#)
      #expect(try Self.bySecret.verify(token, wall: Self.wall).name == kept)
    }
  }

  @Test func `rooms are read as two lists, each of which may be missing`() throws {
    for (rooms, rights) in [
      (#"{"join":["a","b:*"],"send":["?"]}"#, Rights(join: ["a", "b:*"], send: ["?"])),
      (#"{"join":[]}"#, Rights(join: [], send: nil)), (#"{"send":[""]}"#, Rights(send: [""])),
      ("{}", Rights.all), (#"{"read":["x"]}"#, .all),
      (
        #"{"join":["true","7","~","null","\\\"","é","<<"]}"#,
        Rights(join: ["true", "7", "~", "null", "\\\"", "é", "<<"])
      ),
    ] {
      let token = try SignedToken.make(#"{"sub":"ada","rooms":\#(rooms)}"#)
      #expect(try Self.bySecret.verify(token, wall: Self.wall).rights == rights, "\(rooms)")
    }
  }

  @Test(arguments: [
    "null", "[]", "7", #""*""#, #"{"join":null}"#, #"{"join":"*"}"#, #"{"join":{"a":1}}"#,
    #"{"join":[null]}"#, #"{"join":["a",7]}"#, #"{"send":[["a"]]}"#, #"{"send":[true]}"#,
    #"{"join":["\#(String(repeating: "a", count: 141))"]}"#,
    #"{"join":[\#(Array(repeating: #""a""#, count: 129).joined(separator: ","))]}"#,
    #"{"join":\#(String(repeating: "[", count: 50))\#(String(repeating: "]", count: 50))}"#,
  ])
  func `invalid rooms allow nothing`(rooms: String) throws {
    let token = try SignedToken.make(#"{"sub":"ada","rooms":\#(rooms)}"#)
    #expect(refusal(token)?.hasPrefix("The token's rooms") == true, "\(rooms)")
  }

  @Test func `critical extensions are refused`() throws {
    for critical in [#"["b64"]"#, "[]", "null", #""exp""#] {
      let token = try SignedToken.make(
        #"{"sub":"ada"}"#, headers: #"{"crit":\#(critical),"b64":true}"#)
      #expect(refusal(token)?.contains("(crit)") == true)
    }
  }

  // MARK: Garbage

  @Test func `a token that is too long is refused unread`() throws {
    let long = String(repeating: "n", count: 7000)
    let token = try SignedToken.make(#"{"sub":"ada","x":"\#(long)"}"#)
    #expect(token.utf8.count > TokenVerifier.tokenBytesLimit)
    #expect(refusal(token) == "The token is longer than 8192 bytes.")
    #expect(refusal(try SignedToken.make(#"{"sub":"ada","x":"\#(long.prefix(5000))"}"#)) == nil)
  }

  @Test func `no garbage is accepted, and none does harm`() throws {
    let valid = Array(
      try SignedToken.make(#"{"sub":"ada","exp":4102444800,"rooms":{"join":["*"]}}"#).utf8)
    var random = SplitMix64(seed: 7)
    let pieces = [
      "", ".", "..", "...", "=", "A", "eyJ", "e30", "W10", "bnVsbA", "\u{0}", "é", " ", "\n",
      String(repeating: "W1tb", count: 2000), String(repeating: ".", count: 8192),
      String(repeating: "A", count: 8192),
    ].map { Array($0.utf8) }
    for _ in 0..<5000 {
      var bytes = valid
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        let at = Int.random(in: 0...bytes.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where at < bytes.count: bytes[at] = UInt8(random.next() % 128)
        case 1: bytes.insert(contentsOf: pieces[Int(random.next() % UInt64(pieces.count))], at: at)
        case 2: bytes.removeSubrange(at..<min(bytes.count, at + Int(random.next() % 40)))
        default: bytes = Array(bytes[at...] + bytes[..<at])
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect((refusal(text) == nil) == (bytes == valid))
    }
    for piece in pieces {
      for other in pieces {
        let text = String(decoding: piece + [UInt8(ascii: ".")] + other, as: UTF8.self)
        #expect(refusal(text) != nil)
        #expect(refusal("\(text).\(text)") != nil)
        #expect(refusal(".\(text).") != nil)
      }
    }
  }

  // MARK: Keys

  @Test func `an unsuitable key is refused with what to do`() throws {
    for (key, complaint) in [
      (
        try KeyPair.rsa(bits: 1024).publicKey,
        "is an RSA key of 1024 bits; 2048 to 8192 are supported"
      ),
      (try KeyPair.ec("P-384").publicKey, "is not on the curve P-256"),
      (try KeyPair.ed25519().publicKey, "neither an RSA key (RS256) nor one on the curve P-256"),
      (try KeyPair.ec().privateKey, "is a private key, which the relay must not have"),
      (
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "is not a public key in PEM"
      ),
      ("/nowhere/key.pem", "auth.public_key (/nowhere/key.pem) cannot be opened: No such file"),
      ("/dev/null", "is not a public key in PEM"),
    ] {
      let error = #expect(throws: ServerError.self) { try TokenKey(publicKey: key) }
      #expect(error?.description.contains(complaint) == true, "\(String(describing: error))")
    }
  }

  // MARK: Issuing

  @Test func `the relay accepts the tokens that it signs, with the requested claims`() throws {
    var configuration = Configuration()
    configuration.auth.secret = SignedToken.secret
    var claims = TokenIssuer.Claims(user: "ada", seconds: 60)
    claims.name = "Ada \"L\" \\ é"
    claims.join = ["a*", "\"\\"]
    claims.send = []
    let token = try TokenIssuer(configuration).sign(claims, now: Self.now)
    #expect(
      try identity(token)
        == Identity(
          user: "ada", name: "Ada \"L\" \\ é", rights: Rights(join: ["a*", "\"\\"], send: []),
          expires: Self.wall + 60_000))
    claims.user = "Ada"
    #expect(throws: ServerError.self) { try TokenIssuer(configuration).sign(claims, now: Self.now) }
    configuration.auth.secret = ""
    configuration.auth.publicKey = "key.pem"
    let error = #expect(throws: ServerError.self) { try TokenIssuer(configuration) }
    #expect(error?.description.contains("cannot sign") == true)
  }
}
