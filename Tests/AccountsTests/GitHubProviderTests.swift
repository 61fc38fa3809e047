import AccountStores
import Testing

@testable import Accounts

/// What GitHub answers, and what becomes of it.
@Suite struct `Signing in at GitHub` {
  private static let attempt = ProviderAttempt(
    state: "st&te", verifier: "verifier", challenge: "challenge", nonce: "",
    redirectURI: "https://chat.example.org/sign-in/github/callback")

  private static func provider(_ organization: String = "") -> GitHubProvider {
    GitHubProvider(
      clientID: "id", clientSecret: "s&cret", organization: organization,
      baseURL: "https://github.com", apiURL: "https://api.github.com")
  }

  private static let token = #"{"access_token":"gho_x","scope":"read:org","token_type":"bearer"}"#
  private static let user = #"{"login":"Mona.Lisa","id":5,"name":"Mona L","type":"User"}"#

  /// Plays an exchange, and returns how it ends.
  private func outcome(
    _ answers: [(Int, String)], organization: String = ""
  ) -> Result<ProviderPerson, SignInFailure>? {
    var exchange = Self.provider(organization).exchange(
      "c0de", from: nil, Self.attempt, now: 0)
    var step = exchange.next(nil)
    for (status, body) in answers {
      guard case .request = step else { return nil }
      step = exchange.next(ProviderAnswer(status: status, body: Array(body.utf8)))
    }
    switch step {
    case .finished(.person(let person)): return .success(person)
    case .failed(let failure, _): return .failure(failure)
    default: return nil
    }
  }

  private static func address(_ organization: String = "") -> String? {
    var exchange = provider(organization).begin(attempt)
    guard case .finished(.browser(let url)) = exchange.next(nil) else { return nil }
    return url
  }

  @Test func `the browser is sent with state and the challenge, and asks for no right but one`()
    throws
  {
    let plain = try #require(Self.address())
    #expect(
      plain == "https://github.com/login/oauth/authorize?client_id=id"
        + "&redirect_uri=https%3A%2F%2Fchat.example.org%2Fsign-in%2Fgithub%2Fcallback&state=st%26te"
        + "&code_challenge=challenge&code_challenge_method=S256")
    #expect(Self.address("org") == plain + "&scope=read%3Aorg")
  }

  @Test func `the code is exchanged with the secret and the verifier`() throws {
    var exchange = Self.provider().exchange("c0de", from: nil, Self.attempt, now: 0)
    guard case .request(let request) = exchange.next(nil) else { throw Wrong() }
    #expect(request.url == "https://github.com/login/oauth/access_token")
    #expect(
      request.content == "client_id=id&client_secret=s%26cret&code=c0de"
        + "&redirect_uri=https%3A%2F%2Fchat.example.org%2Fsign-in%2Fgithub%2Fcallback"
        + "&code_verifier=verifier")
    let next = exchange.next(ProviderAnswer(status: 200, body: Array(Self.token.utf8)))
    guard case .request(let second) = next else { throw Wrong() }
    #expect(second.url == "https://api.github.com/user")
    #expect(second.headers.contains("Authorization: Bearer gho_x"))
    #expect(second.content == nil)
  }

  private struct Wrong: Error {}

  @Test func `the account is bound to the number, not to the login`() throws {
    let person = try #require(try outcome([(200, Self.token), (200, Self.user)])?.get())
    #expect(person.binding == ProviderBinding(issuer: "https://github.com", subject: "5"))
    #expect(person.login == "Mona.Lisa")
    #expect(person.name == "Mona L")
    #expect(person.picture == nil)
    #expect(person.token == "gho_x")
  }

  /// A token of a GitHub App that ends after hours would be taken for one that the person has revoked.
  @Test func `a token that expires is not kept`() throws {
    let token = #"{"access_token":"ghu_x","expires_in":28800,"refresh_token":"ghr_x"}"#
    #expect(try #require(try outcome([(200, token), (200, Self.user)])?.get()).token == nil)
  }

  @Test(arguments: [
    ("https://avatars.githubusercontent.com/u/5?v=4", true), ("https://github.com/mona.png", true),
    ("http://avatars.githubusercontent.com/u/5", false), ("http://169.254.169.254/", false),
    ("file:///etc/passwd", false), ("//github.com/mona.png", false), ("", false),
    ("https://a.example/a b", false), ("https://a.example/\\u00e9", false),
    ("https://a.example/" + String(repeating: "a", count: 494), true),
    ("https://a.example/" + String(repeating: "a", count: 495), false),
  ])
  func `a picture has an https address, and not a long one`(url: String, isTaken: Bool) throws {
    let user = #"{"login":"mona","id":5,"avatar_url":"\#(url)"}"#
    let person = try #require(try outcome([(200, Self.token), (200, user)])?.get())
    #expect(person.picture == (isTaken ? url : nil))
  }

  @Test func `a picture of the configured server itself may have no https`() {
    let own = ["http://127.0.0.1:80"]
    #expect(PictureAddress.admitted("http://127.0.0.1:80/u/5", of: own) != nil)
    for other in [
      "http://127.0.0.1:8080/", "http://127.0.0.1:80", "http://127.0.0.1:80@a.example/",
    ] {
      #expect(PictureAddress.admitted(other, of: own) == nil, "\(other)")
    }
  }

  @Test func `only active members of the organization enter`() {
    let before = [(200, Self.token), (200, Self.user)]
    let answers: [((Int, String), SignInFailure?)] = [
      ((200, #"{"state":"active","role":"member"}"#), nil),
      ((200, #"{"state":"pending","role":"member"}"#), .notAMember),
      ((404, #"{"message":"Not Found"}"#), .notAMember),
      // Not GitHub's: a page of a proxy, a part of an answer.
      ((200, "{}"), .providerRefused), ((200, "<html>"), .providerRefused),
      ((200, #"{"state":"act"#), .providerRefused), ((404, "<html>"), .providerRefused),
      ((403, "{}"), .organizationRefused), ((401, "{}"), .providerRefused),
      ((502, ""), .providerUnavailable), ((429, ""), .providerUnavailable),
      ((302, ""), .providerRefused),
    ]
    for (answer, failure) in answers {
      switch outcome(before + [answer], organization: "org") {
      case .success: #expect(failure == nil, "\(answer)")
      case .failure(let found): #expect(found == failure, "\(answer)")
      case nil: Issue.record("no end after \(answer)")
      }
    }
  }

  @Test(arguments: [
    // Errors come with status 200.
    #"{"error":"bad_verification_code","error_description":"x"}"#,
    #"{"error":"incorrect_client_credentials","access_token":"gho_x"}"#,
    #"{"access_token":""}"#, #"{"access_token":"a b"}"#, #"{"access_token":"a\r\nX: y"}"#,
    #"{"access_token":5}"#, "[]", "", "access_token=gho_x",
  ])
  func `a token that is none is refused`(body: String) {
    #expect(outcome([(200, body)]) == .failure(.providerRefused))
  }

  @Test(arguments: [
    #"{"login":"mona"}"#, #"{"id":0,"login":"mona"}"#, #"{"id":-5,"login":"mona"}"#,
    #"{"id":"5","login":"mona"}"#, #"{"id":5}"#, "null", "",
  ])
  func `a user without number or login is refused`(body: String) {
    #expect(outcome([(200, Self.token), (200, body)]) == .failure(.providerRefused))
  }

  @Test func `a service that is down is not the person's fault`() {
    for status in [500, 502, 503, 504, 429] {
      #expect(outcome([(status, "")]) == .failure(.providerUnavailable))
      #expect(outcome([(200, Self.token), (status, "")]) == .failure(.providerUnavailable))
    }
  }
}

/// RFC 6749 §10.12, RFC 9700 §4.7.
@Suite struct `A browser that goes to a provider and comes back` {
  private let accounts: AccountHarness

  init() throws {
    accounts = try AccountHarness(reserved: ["root"]) {
      $0.providers = [
        GitHubProvider(
          clientID: "id", clientSecret: "secret", organization: "", baseURL: "https://github.com",
          apiURL: "https://api.github.com")
      ]
    }
  }

  private func begin(_ path: String = "/") throws -> (state: String, secret: String) {
    let answer = try accounts.ask(.beginSignIn(method: "github", returnPath: path))
    #expect(answer.status == 302)
    let state = try #require(answer.text.split(separator: "&").first { $0.hasPrefix("state=") })
    guard case .attempt(let secret)? = answer.cookie else { throw Wrong() }
    return (String(state.dropFirst("state=".count)), secret)
  }

  private struct Wrong: Error {}

  private func finish(
    _ state: String, _ secret: String?, code: String? = "c0de", error: String? = nil,
    method: String = "github"
  ) throws -> Result<AccountService.PendingSignIn, SignInFailure> {
    let back = AccountCall.ProviderReturn(state: state, code: code, error: error, issuer: nil)
    let call = AccountCall(
      .finishSignIn(method: method, back), caller: nil, address: "192.0.2.1",
      browserSecret: secret, userAgent: "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")
    return try accounts.service.finishSignIn(method, back, call, now: accounts.now)
  }

  private func failure(_ result: Result<AccountService.PendingSignIn, SignInFailure>)
    -> SignInFailure?
  {
    if case .failure(let failure) = result { failure } else { nil }
  }

  /// Signs a person in, and returns the user.
  private func signIn(_ subject: String, _ login: String, to path: String = "/") throws -> String {
    try accounts.signIn(
      as: ProviderPerson(
        binding: ProviderBinding(issuer: "https://github.com", subject: subject), login: login,
        name: nil), to: path)
  }

  @Test func `is signed in where it was, with a device that is named after it`() throws {
    #expect(try signIn("5", "mona", to: "/join/x?y=z") == "mona")
    #expect(try accounts.store.sessions(of: "mona").map(\.device) == ["Firefox on Linux"])
  }

  @Test func `is refused without the secret of the browser that has begun`() throws {
    let (state, _) = try begin()
    #expect(failure(try finish(state, nil)) == .stateMismatch)
    let (again, _) = try begin()
    let (_, other) = try begin()
    #expect(failure(try finish(again, other)) == .stateMismatch)
  }

  @Test func `uses a state once, in time, and with the provider that it was for`() throws {
    let (state, secret) = try begin()
    #expect(failure(try finish(state, secret)) == nil)
    #expect(failure(try finish(state, secret)) == .expired)
    #expect(failure(try finish("", secret)) == .expired)
    let (late, lateSecret) = try begin()
    accounts.now += 600_000
    #expect(failure(try finish(late, lateSecret)) == .expired)
    let (mixed, mixedSecret) = try begin()
    #expect(failure(try finish(mixed, mixedSecret, method: "oidc")) == .expired)
  }

  @Test func `is told that the person has refused, or that the provider has`() throws {
    let (first, firstSecret) = try begin()
    #expect(failure(try finish(first, firstSecret, error: "access_denied")) == .accessDenied)
    let (second, secondSecret) = try begin()
    #expect(failure(try finish(second, secondSecret, error: "server_error")) == .providerRefused)
    let (third, thirdSecret) = try begin()
    #expect(failure(try finish(third, thirdSecret, code: nil)) == .providerRefused)
  }

  @Test(arguments: [
    "//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil.example", "",
    "/a b", "/a\r\nSet-Cookie: x", "evil", "/\u{E9}",
  ])
  func `returns to a path of the relay and to no other host`(path: String) throws {
    #expect(AccountService.ownPath(path) == "/")
  }

  @Test func `a renamed person stays the account, and a recycled login is another`() throws {
    #expect(try signIn("5", "mona") == "mona")
    #expect(try signIn("5", "lisa") == "mona")
    #expect(try signIn("6", "mona") == "mona-2")
    #expect(try signIn("7", "Mona") == "mona-3")
    #expect(try signIn("6", "mona") == "mona-2")
  }

  @Test func `a name that is reserved, a bot's or no name is folded and numbered`() throws {
    #expect(try signIn("1", "root") == "root-2")
    #expect(try signIn("2", "echo") == "echo-2")
    #expect(try signIn("3", "Ådne Ö") == "-dne-")
    #expect(try signIn("4", "..") == "user")
    #expect(try signIn("5", String(repeating: "x", count: 80)).utf8.count == 64)
  }

  @Test func `a name that cannot be shown is not taken from the provider`() throws {
    let logins = [
      "ada\u{202E}gnp.exe", "\u{1B}[31m", "", "\u{200B}", String(repeating: "x", count: 201),
      String(repeating: "\u{1F1E9}\u{1F1EA}", count: 100_000),
    ]
    for (number, login) in logins.enumerated() {
      let user = try signIn("\(number)", login)
      #expect(try accounts.store.account(user)?.name == user, "\(number)")
    }
  }

  @Test func `a disabled account stays out`() throws {
    _ = try signIn("5", "mona")
    try accounts.service.setDisabled("mona", true, now: accounts.now)
    #expect(try signIn("5", "mona") == "/?sign_in_error=account_disabled")
  }

  @Test func `attempts that do not come back are bounded, and keep no others out`() throws {
    let (first, firstSecret) = try begin()
    accounts.now += 1
    let (second, secondSecret) = try begin()
    accounts.now += 1
    for _ in 0..<AccountSettings.attemptsLimit - 1 { _ = try begin() }
    #expect(try accounts.store.attemptCount() == AccountSettings.attemptsLimit)
    #expect(failure(try finish(first, firstSecret)) == .expired)
    #expect(failure(try finish(second, secondSecret)) == nil)
    accounts.now += 600_001
    try accounts.service.tidy(now: accounts.now)
    #expect(try accounts.store.attemptCount() == 0)
  }

  @Test func `a way to sign in that is not configured does not exist`() throws {
    #expect(try accounts.ask(.beginSignIn(method: "oidc", returnPath: "/")).status == 404)
    #expect(try accounts.ask(.beginSignIn(method: "invite", returnPath: "/")).status == 404)
  }
}
