import AccountStores
import Testing

@testable import Accounts

/// What GitHub says about a person who has signed in, and what becomes of the sessions.
@Suite struct `A person who may no longer sign in` {
  private static let day: Int64 = 86_400_000
  private static let mona = ProviderBinding(issuer: "https://github.com", subject: "5")

  private let accounts: AccountHarness

  init() throws {
    accounts = try AccountHarness {
      $0.providers = [Self.provider("app")]
      $0.everyoneInvites = true
    }
  }

  private static func provider(_ clientID: String, organization: String = "") -> GitHubProvider {
    GitHubProvider(
      clientID: clientID, clientSecret: "s:cret", organization: organization,
      baseURL: "https://github.com", apiURL: "https://api.github.com")
  }

  private func signIn(_ token: String? = "gho_1") throws {
    let user = try accounts.signIn(
      as: ProviderPerson(binding: Self.mona, login: "mona", name: nil, token: token))
    #expect(user == "mona")
  }

  private func sessionCount(_ user: String = "mona") throws -> Int {
    try accounts.store.sessions(of: user).count
  }

  private func ask(
    _ outcome: Result<ProviderOutcome, SignInFailure>
  ) throws -> String? {
    let pending = try #require(try accounts.service.nextConfirmation(now: accounts.now))
    return try accounts.service.complete(pending, outcome, now: accounts.now)
  }

  private var nothingIsDue: Bool {
    get throws { try accounts.service.nextConfirmation(now: accounts.now) == nil }
  }

  @Test func `is asked about thrice a day, by one relay`() throws {
    try signIn()
    #expect(try nothingIsDue)
    for _ in 0..<3 {
      accounts.now += Self.day / 3 - 1
      #expect(try nothingIsDue)
      accounts.now += 1
      #expect(try ask(.success(.confirmed)) == nil)
      #expect(try nothingIsDue)
    }
    #expect(try sessionCount() == 1)
  }

  @Test func `is signed out on every device, and the links and codes of theirs let nobody in`()
    throws
  {
    try accounts.signUp()
    try signIn()
    accounts.now += Self.day / 3
    let own = try accounts.invite(as: "mona")
    let kept = try accounts.invite()
    let code = try accounts.ask(.startDevice, #"{"device":"tv"}"#)
    #expect(
      try accounts.ask(
        .decideDevice(code: #require(code["user_code"])), #"{"allow":true}"#, as: "mona"
      ).status
        == 204)
    let last = try accounts.store.lastChange()
    #expect(
      try ask(.success(.gone("GitHub says so")))
        == "mona is signed out (sessions: 1): GitHub says so")
    #expect(try sessionCount() == 0)
    #expect(try accounts.store.changes(after: last, limit: 9).map(\.user) == ["mona"])
    #expect(try accounts.ask(.showInvitation(code: own)).status == 404)
    #expect(try accounts.ask(.showInvitation(code: kept)).status == 200)
    let poll = try accounts.ask(
      .pollDevice, #"{"device_code":"\#(#require(code["device_code"]))"}"#)
    #expect(poll.text.contains("access_denied"))
    #expect(try sessionCount("ada") == 1)
    #expect(try accounts.store.providerToken(of: "mona") == nil)
    // The account is not disabled: who is a member again signs in again.
    try signIn("gho_2")
    #expect(try sessionCount() == 1)
  }

  @Test func `stays for three days while the provider gives no answer`() throws {
    try signIn()
    // However long the relay was off: the days begin with the first question.
    accounts.now += 30 * Self.day
    #expect(try ask(.failure(.providerUnavailable)) == nil)
    let first = accounts.now
    while accounts.now + 3_600_000 < first + 3 * Self.day {
      accounts.now += 3_600_000 - 1
      #expect(try nothingIsDue)
      accounts.now += 1
      #expect(try ask(.failure(.providerRefused)) == nil)
    }
    #expect(try sessionCount() == 1)
    accounts.now += 3_600_000
    #expect(try ask(.failure(.organizationRefused))?.contains("three days") == true)
    #expect(try sessionCount() == 0)
  }

  @Test func `gets three days again after an answer`() throws {
    try signIn()
    accounts.now += Self.day
    #expect(try ask(.failure(.providerUnavailable)) == nil)
    accounts.now += 2 * Self.day
    #expect(try ask(.success(.confirmed)) == nil)
    accounts.now += Self.day
    #expect(try ask(.failure(.providerUnavailable)) == nil)
    accounts.now += Self.day / 4
    #expect(try ask(.failure(.providerUnavailable)) == nil)
    #expect(try sessionCount() == 1)
  }

  @Test func `is not signed out for days on which the relay was off`() throws {
    try signIn()
    accounts.now += Self.day
    #expect(try ask(.failure(.providerUnavailable)) == nil)
    accounts.now += 4 * Self.day
    #expect(try ask(.failure(.providerUnavailable)) == nil)
    #expect(try sessionCount() == 1)
  }

  @Test func `is not signed out by an answer about an earlier sign-in`() throws {
    try signIn()
    accounts.now += Self.day
    let pending = try #require(try accounts.service.nextConfirmation(now: accounts.now))
    try signIn("gho_2")
    #expect(
      try accounts.service.complete(pending, .success(.gone("x")), now: accounts.now) == nil)
    #expect(try sessionCount() == 2)
  }

  @Test func `is not asked about without a session, a token, or the client that has got it`() throws
  {
    try signIn(nil)
    accounts.now += Self.day
    #expect(try nothingIsDue)
    try signIn("gho_2")
    #expect(try accounts.service.endSessions(of: "mona", now: accounts.now) == 2)
    accounts.now += Self.day
    #expect(try nothingIsDue)
    #expect(try accounts.store.providerToken(of: "mona") == nil)

    let other = try AccountHarness { $0.providers = [Self.provider("another")] }
    try other.store.put(
      Account(user: "mona", name: "Mona", binding: Self.mona, createdAt: other.now))
    try other.store.add(
      DeviceSession(
        id: "s", hash: #require(SecretHash([UInt8](repeating: 7, count: 32))), user: "mona",
        device: "d", createdAt: other.now, usedAt: other.now, address: "192.0.2.1"))
    try other.store.put(
      ProviderToken(user: "mona", clientID: "app", token: "gho_1", askAt: other.now))
    // Another client would be told 404.
    #expect(try other.service.nextConfirmation(now: other.now) == nil)
    #expect(try other.store.sessions(of: "mona").count == 1)
  }

  @Test(arguments: AccountPlace.allCases)
  func `has a token in the store that the next one replaces`(place: AccountPlace) throws {
    let store = try AccountHarness(place).store
    let first = ProviderToken(user: "mona", clientID: "app", token: "gho_1", askAt: 5)
    let later = ProviderToken(
      user: "bo", clientID: "app", token: "gho_2", askAt: 7, failingSince: 3)
    try store.put(later)
    try store.put(first)
    #expect(try store.providerToken(dueAt: 4) == nil)
    #expect(try store.providerToken(dueAt: 9) == first)
    #expect(try store.providerToken(of: "bo") == later)
    let second = ProviderToken(user: "mona", clientID: "app", token: "gho_3", askAt: 8)
    try store.put(second)
    #expect(try store.providerToken(of: "mona") == second)
    #expect(try store.providerToken(dueAt: 9) == later)
    try store.removeProviderToken(of: "bo")
    #expect(try store.providerToken(dueAt: 9) == second)
  }

  // MARK: - GitHub's answers

  private enum End: Equatable {
    case confirmed, gone
    case failed(SignInFailure)
  }

  private static func end(_ answers: [(Int, String)], organization: String = "org") -> End? {
    var exchange = provider("a p", organization: organization).confirm("gho_1")
    var step = exchange.next(nil)
    for (status, body) in answers {
      guard case .request = step else { return nil }
      step = exchange.next(ProviderAnswer(status: status, body: Array(body.utf8)))
    }
    return switch step {
    case .finished(.confirmed): .confirmed
    case .finished(.gone): .gone
    case .failed(let failure, _): .failed(failure)
    default: nil
    }
  }

  @Test func `has revoked the application at GitHub, or left the organization`() throws {
    var exchange = Self.provider("a p").confirm("gho_1")
    guard case .request(let request) = exchange.next(nil) else { throw Unasked() }
    #expect(request.url == "https://api.github.com/applications/a%20p/token")
    #expect(request.content == #"{"access_token":"gho_1"}"#)
    #expect(request.basic == "a p:s:cret")
    #expect(request.headers.contains("Content-Type: application/json"))
    let missing = #"{"message":"Not Found","documentation_url":"https://docs.github.com"}"#
    let answers: [([(Int, String)], End)] = [
      ([(404, missing)], .gone), ([(200, "{}"), (404, missing)], .gone),
      ([(200, "{}"), (200, #"{"state":"pending"}"#)], .gone),
      ([(200, "{}"), (200, #"{"state":"active"}"#)], .confirmed),
      // The relay's secret is wrong, or something before GitHub answers.
      ([(404, "<html>")], .failed(.providerRefused)),
      ([(200, "<html>")], .failed(.providerRefused)),
      ([(200, "{}"), (404, "{}")], .failed(.providerRefused)),
      ([(200, "{}"), (200, #"{"state":"act"#)], .failed(.providerRefused)),
      ([(200, "{}"), (200, "<html>")], .failed(.providerRefused)),
      ([(401, "{}")], .failed(.providerRefused)), ([(403, "{}")], .failed(.providerRefused)),
      ([(422, "{}")], .failed(.providerRefused)), ([(302, "")], .failed(.providerRefused)),
      ([(503, "")], .failed(.providerUnavailable)), ([(429, "")], .failed(.providerUnavailable)),
      ([(200, "{}"), (502, "")], .failed(.providerUnavailable)),
      ([(200, "{}"), (401, "")], .failed(.providerRefused)),
      ([(200, "{}"), (403, "{}")], .failed(.organizationRefused)),
    ]
    for (given, end) in answers { #expect(Self.end(given) == end, "\(given)") }
    #expect(Self.end([(200, "{}")], organization: "") == .confirmed)
  }

  private struct Unasked: Error {}
}
