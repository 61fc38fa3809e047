import Testing

@testable import Accounts

/// What a provider of OpenID Connect answers, and what becomes of it. Signatures, and all that is wrong with a
/// token, are tested with a provider and a relay: `accounts_oidc.py`.
@Suite struct `Signing in by OpenID Connect` {
  private static let issuer = "https://id.example.org"
  private static let now: Int64 = 1_790_000_000_000
  private static let attempt = ProviderAttempt(
    state: "state", verifier: "verifier", challenge: "challenge", nonce: "nonce",
    redirectURI: "https://chat.example.org/sign-in/oidc/callback")
  private static let metadata = """
    {"issuer":"https://id.example.org","authorization_endpoint":"https://id.example.org/a?x=y",
    "token_endpoint":"https://tokens.example.org/t","jwks_uri":"https://id.example.org/k",
    "userinfo_endpoint":"https://id.example.org/u","scopes_supported":["openid","groups"]}
    """
  private static let tokens = #"{"id_token":"a.b.c","access_token":"secret"}"#

  /// - Parameter claims: those of the ID token; its signature is right if the keys are "new".
  private static func provider(
    _ claims: String = "{}", issuer: String = issuer, secret: String = "s:cret",
    userClaim: String = "preferred_username", groups: [String] = []
  ) -> OIDCProvider {
    OIDCProvider(
      title: "Company", issuer: issuer, clientID: "i d", clientSecret: secret,
      userClaim: userClaim, groups: groups, groupsClaim: "groups"
    ) { _, keys in
      keys == Array("new".utf8) ? .claims(Array(claims.utf8)) : .refused("not known")
    }
  }

  private static func claims(_ more: String) -> String {
    let seconds = now / 1000
    return #"{"iss":"\#(issuer)","aud":"i d","sub":"5","nonce":"nonce","exp":\#(seconds + 60),"#
      + #""iat":\#(seconds)\#(more.isEmpty ? "" : ",")\#(more)}"#
  }

  private struct Play {
    var requests: [ProviderRequest] = []
    var end: ProviderStep?

    var person: ProviderPerson? {
      if case .finished(.person(let person))? = end { person } else { nil }
    }
    var failure: SignInFailure? {
      if case .failed(let failure, _)? = end { failure } else { nil }
    }
    var reason: String {
      if case .failed(_, let reason)? = end { reason } else { "" }
    }
  }

  /// Plays an exchange until it asks for more than there are answers.
  private func play(_ exchange: any ProviderExchange, _ answers: [String]) -> Play {
    var exchange = exchange
    var play = Play()
    var step = exchange.next(nil)
    for answer in answers {
      guard case .request(let request) = step else { break }
      play.requests.append(request)
      let parts = answer.split(separator: " ", maxSplits: 1)
      let status = parts.first.flatMap { Int($0) }
      let body = status == nil ? answer : String(parts.last ?? "")
      step = exchange.next(ProviderAnswer(status: status ?? 200, body: Array(body.utf8)))
    }
    play.end = step
    return play
  }

  private func play(
    _ provider: OIDCProvider, from issuer: String? = nil, _ answers: [String]
  ) -> Play {
    play(provider.exchange("c0de", from: issuer, Self.attempt, now: Self.now), answers)
  }

  /// Plays a sign-in with these claims of the ID token.
  private func signIn(
    _ more: String, userinfo: String = "404 {}", userClaim: String = "preferred_username",
    groups: [String] = []
  ) -> Play {
    play(
      Self.provider(Self.claims(more), userClaim: userClaim, groups: groups),
      [Self.metadata, Self.tokens, "new", userinfo])
  }

  @Test func `the browser is sent to where the provider says, with all that is checked later`() {
    let play = play(Self.provider(groups: ["staff"]).begin(Self.attempt), [Self.metadata])
    #expect(
      play.requests.map(\.url) == ["https://id.example.org/.well-known/openid-configuration"])
    #expect(play.requests.map(\.maxAgeSeconds) == [86_400])
    guard case .finished(.browser(let url))? = play.end else {
      Issue.record("\(play)")
      return
    }
    #expect(
      url == "https://id.example.org/a?x=y&response_type=code&client_id=i%20d"
        + "&redirect_uri=https%3A%2F%2Fchat.example.org%2Fsign-in%2Foidc%2Fcallback"
        + "&scope=openid%20profile%20email%20groups&state=state&nonce=nonce"
        + "&code_challenge=challenge&code_challenge_method=S256")
  }

  @Test func `the client proves itself as the provider has it`() {
    let basic = play(Self.provider(), [Self.metadata, Self.tokens]).requests.last
    #expect(basic?.url == "https://tokens.example.org/t")
    #expect(basic?.basic == "i%20d:s%3Acret")
    #expect(basic?.content?.contains("code_verifier=verifier") == true)
    #expect(basic?.content?.contains("client_") == false)
    let methods = String(Self.metadata.dropLast(1)) + #","token_endpoint_auth_methods_supported":"#
    let post = play(Self.provider(), [methods + #"["x","client_secret_post"]}"#, ""]).requests.last
    #expect(post?.basic == nil)
    #expect(post?.content?.hasSuffix("&client_id=i%20d&client_secret=s%3Acret") == true)
    let none = play(Self.provider(), [methods + #"["private_key_jwt"]}"#, ""])
    #expect(none.requests.count == 1)
    #expect(none.failure == .providerRefused)
    let isPublic = play(Self.provider(secret: ""), [Self.metadata, ""]).requests.last
    #expect(isPublic?.basic == nil)
    #expect(isPublic?.content?.hasSuffix("&client_id=i%20d") == true)
  }

  @Test func `a key that is not known is looked for once more, in newer keys`() {
    let person = #""preferred_username":"mona""#
    let found = play(
      Self.provider(Self.claims(person)), [Self.metadata, Self.tokens, "old", "new"])
    #expect(found.person?.login == "mona")
    #expect(found.requests.map(\.maxAgeSeconds) == [86_400, nil, 86_400, 30])
    let lost = play(
      Self.provider(Self.claims(person)), [Self.metadata, Self.tokens, "old", "old", "new"])
    #expect(lost.failure == .providerRefused)
    #expect(lost.requests.count == 4)
  }

  @Test(arguments: [
    "not json", "[]", "404 {}", #"{"issuer":"https://id.example.org/"}"#,
    metadata.replacing("\"https://tokens.example.org/t\"", with: "\"http://tokens.example.org/t\""),
    metadata.replacing("\"https://id.example.org/k\"", with: "\"file:///etc/passwd\""),
    metadata.replacing("\"https://id.example.org/u\"", with: "\"https://id.example.org/u x\""),
    metadata.replacing("\"https://id.example.org/a?x=y\"", with: "7"),
  ])
  func `a discovery document that is none, of another or leads elsewhere is refused`(text: String) {
    #expect(play(Self.provider(), [text]).failure == .providerRefused)
    #expect(play(Self.provider().begin(Self.attempt), [text]).failure == .providerRefused)
  }

  @Test
  func `addresses of the issuer's own origin may be without TLS, and no others that look like it`()
  {
    let issuer = "http://127.0.0.1:80/realms/x"
    #expect(OIDCMetadata.isUsable("http://127.0.0.1:80/t", issuer: issuer))
    #expect(!OIDCMetadata.isUsable("http://127.0.0.1:8080/t", issuer: issuer))
    #expect(!OIDCMetadata.isUsable("http://127.0.0.1:80@evil.example/t", issuer: issuer))
    #expect(!OIDCMetadata.isUsable("http://127.0.0.1:80.evil.example/t", issuer: issuer))
  }

  @Test func `a provider that is down is not the person's fault`() {
    let answers = [Self.metadata, Self.tokens, "new", "{}"]
    for index in answers.indices {
      for status in ["500 ", "503 {}", "429 {}"] {
        let play = play(Self.provider(Self.claims("")), answers.prefix(index) + [status])
        #expect(play.failure == .providerUnavailable, "\(index) \(status)")
      }
    }
  }

  @Test func `the redirect names the provider, where it says that it does`() {
    let answers = [Self.metadata, Self.tokens]
    #expect(play(Self.provider(), from: Self.issuer, answers).failure == nil)
    #expect(
      play(Self.provider(), from: "https://evil.example", answers).failure == .providerRefused)
    let names =
      String(Self.metadata.dropLast(1))
      + #","authorization_response_iss_parameter_supported":true}"#
    #expect(play(Self.provider(), from: Self.issuer, [names, Self.tokens]).failure == nil)
    #expect(play(Self.provider(), from: nil, [names, Self.tokens]).failure == .providerRefused)
  }

  @Test func `the claims that are missing come from userinfo, if it is about the same person`() {
    let play = signIn("", userinfo: #"{"sub":"5","preferred_username":"mona","name":"Mona L"}"#)
    #expect(play.requests.last?.headers.first == "Authorization: Bearer secret")
    #expect(play.person?.binding == ProviderBinding(issuer: Self.issuer, subject: "5"))
    #expect(play.person?.login == "mona")
    #expect(play.person?.name == "Mona L")
    let other = signIn("", userinfo: #"{"sub":"6","preferred_username":"mona"}"#)
    #expect(other.failure == .providerRefused)
    for (url, isAdmitted) in [
      ("https://cdn.example.org/5.png", true), ("https://id.example.org/5.png", true),
      ("http://cdn.example.org/5.png", false), ("javascript:alert(1)", false),
    ] {
      let pictured = signIn(#""preferred_username":"mona","picture":"\#(url)""#)
      #expect(pictured.person?.picture == (isAdmitted ? url : nil))
    }
    // What the ID token says is not replaced.
    let both = signIn(
      #""preferred_username":"mona""#,
      userinfo: #"{"sub":"5","groups":["staff"],"preferred_username":"eve"}"#,
      groups: ["staff"])
    #expect(both.person?.login == "mona")
  }

  @Test func `a claim that is missing is named`() {
    let play = signIn("", userinfo: #"{"sub":"5"}"#)
    #expect(play.failure == .providerRefused)
    #expect(play.reason.contains("\"preferred_username\""))
  }

  @Test(arguments: [
    (#""groups":["x","staff"]"#, true), (#""groups":"staff""#, true),
    (#""groups":["Staff"]"#, false),
    (#""groups":[]"#, false), (#""groups":["staffs"]"#, false), (#""groups":{"staff":1}"#, false),
    (#""groups":null"#, false), (#""x":1"#, false),
  ])
  func `only members of a group enter`(groups: String, mayEnter: Bool) {
    let play = signIn(
      #""preferred_username":"mona",\#(groups)"#, userinfo: #"{"sub":"5"}"#,
      groups: ["staff", "boss"])
    #expect(play.failure == (mayEnter ? nil : .notAMember))
    #expect((play.person != nil) == mayEnter)
  }

  @Test(arguments: [
    ("true", "mona"), (#""true""#, "mona"), ("false", nil), ("null", nil), (#""yes""#, nil),
  ])
  func `an e-mail address names a person only if it is verified`(verified: String, login: String?) {
    let play = signIn(
      #""email":"mona@example.org","email_verified":\#(verified)"#, userinfo: #"{"sub":"5"}"#,
      userClaim: "email")
    #expect(play.person?.login == login)
  }
}
