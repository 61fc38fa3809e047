import AccountStores
import Testing
import Wire

@testable import Accounts

/// RFC 8628.
@Suite struct `Devices that ask to be let in` {
  private let accounts: AccountHarness

  init() throws {
    accounts = try AccountHarness()
    try accounts.signUp()
  }

  private func start() throws -> (device: String, user: String) {
    let answer = try accounts.ask(.startDevice, #"{"device":"wschat on box"}"#, from: "203.0.113.7")
    return (try #require(answer["device_code"]), try #require(answer["user_code"]))
  }

  private func poll(_ code: String) throws -> String {
    let answer = try accounts.ask(.pollDevice, #"{"device_code":"\#(code)"}"#)
    return answer["error"] ?? "\(answer.status)"
  }

  @Test(arguments: AccountPlace.allCases)
  func `a confirmed device is signed in once, by its next poll`(place: AccountPlace) throws {
    let accounts = try AccountHarness(place)
    try accounts.signUp()
    let answer = try accounts.ask(.startDevice, #"{"device":"wschat on box"}"#)
    let (device, user) = (try #require(answer["device_code"]), try #require(answer["user_code"]))
    let poll = #"{"device_code":"\#(device)"}"#
    #expect(try accounts.ask(.pollDevice, poll)["error"] == "authorization_pending")
    #expect(try accounts.ask(.showDevice(code: user), as: "ada")["device"] == "wschat on box")
    #expect(
      try accounts.ask(.decideDevice(code: user), #"{"allow":true}"#, as: "ada").status == 204)
    let signedIn = try accounts.ask(.pollDevice, poll)
    #expect(signedIn["user"] == "ada")
    let token = try #require(signedIn["token"])
    #expect(signedIn["access_token"] == token)
    #expect(signedIn["token_type"] == "Bearer")
    #expect(try accounts.service.verify(token, now: accounts.now)?.account.user == "ada")
    #expect(try accounts.ask(.pollDevice, poll)["error"] == "expired_token")
  }

  @Test func `the person sees what asks, and from where`() throws {
    let code = try start().user
    let shown = try accounts.ask(.showDevice(code: code), as: "ada")
    #expect(shown["device"] == "wschat on box")
    #expect(shown["address"] == "203.0.113.7")
  }

  @Test func `codes are eight consonants, typed as people type`() throws {
    let code = try start().user
    #expect(code.utf8.count == 9)
    #expect(code.allSatisfy { "BCDFGHJKLMNPQRSTVWXZ-".contains($0) })
    for typed in [code.lowercased(), code.filter { $0 != "-" }, " \(code) "] {
      #expect(try accounts.ask(.showDevice(code: typed), as: "ada").status == 200)
    }
  }

  @Test func `a device that asks too often has to ask less often`() throws {
    let code = try start().device
    #expect(try poll(code) == "authorization_pending")
    accounts.now += 1000
    #expect(try poll(code) == "slow_down")
    accounts.now += 5000
    #expect(try poll(code) == "slow_down")
    accounts.now += 15_000
    #expect(try poll(code) == "authorization_pending")
  }

  @Test func `a refused device is told so, and an expired or unknown code is`() throws {
    let refused = try start()
    _ = try accounts.ask(.decideDevice(code: refused.user), #"{"allow":false}"#, as: "ada")
    #expect(try poll(refused.device) == "access_denied")
    #expect(try poll(refused.device) == "expired_token")
    let late = try start()
    accounts.now += 600_000
    #expect(try poll(late.device) == "expired_token")
    #expect(try accounts.ask(.showDevice(code: late.user), as: "ada").status == 404)
    #expect(try poll("unknown") == "expired_token")
  }

  @Test func `the account of who has confirmed counts, also if it is disabled before the poll`()
    throws
  {
    let code = try start()
    _ = try accounts.ask(.openInvitation(code: try accounts.invite()), #"{"user":"bo"}"#)
    _ = try accounts.ask(.decideDevice(code: code.user), #"{"allow":true}"#, as: "bo")
    try accounts.service.setDisabled("bo", true, now: accounts.now)
    #expect(try poll(code.device) == "access_denied")
  }

  @Test func `a decision is final`() throws {
    let code = try start()
    _ = try accounts.ask(.decideDevice(code: code.user), #"{"allow":false}"#, as: "ada")
    let second = try accounts.ask(.decideDevice(code: code.user), #"{"allow":true}"#, as: "ada")
    #expect(second.status == 404)
    #expect(try poll(code.device) == "access_denied")
  }

  @Test func `five wrong codes a minute are allowed, of an account and of an address`() throws {
    let code = try start().user
    for _ in 0..<5 {
      #expect(try accounts.ask(.showDevice(code: "BBBB-BBBB"), as: "ada").status == 404)
    }
    #expect(try accounts.ask(.showDevice(code: code), as: "ada").status == 429)
    #expect(
      try accounts.ask(.decideDevice(code: code), #"{"allow":true}"#, as: "ada").status == 429)
    #expect(try accounts.ask(.showDevice(code: code), as: "bo").status == 429, "the same address")
    let elsewhere = try accounts.ask(.showDevice(code: code), as: "ada", from: "192.0.2.9")
    #expect(elsewhere.status == 429, "the same account")
    let other = try accounts.ask(.showDevice(code: code), as: "bo", from: "192.0.2.9")
    #expect(other.status == 200)
    accounts.now += 60_000
    #expect(try accounts.ask(.showDevice(code: code), as: "ada").status == 200)
  }

  @Test func `a form is understood as JSON is`() throws {
    let code = try start().device
    let answer = try accounts.ask(.pollDevice, "grant_type=x&device_code=\(code)&client_id=y")
    #expect(answer["error"] == "authorization_pending")
    #expect(try accounts.ask(.pollDevice, "device_cod=x").status == 400)
  }

  @Test func `a decision needs a user who is signed in`() throws {
    let code = try start().user
    #expect(try accounts.ask(.showDevice(code: code)).status == 401)
    #expect(try accounts.ask(.decideDevice(code: code), #"{"allow":true}"#).status == 401)
  }

  @Test func `a user ends own sessions only`() throws {
    let session = try #require(try accounts.store.sessions(of: "ada").first?.id)
    #expect(try accounts.ask(.endSession(id: session), as: "bo").status == 404)
    #expect(try accounts.ask(.endSession(id: "current"), as: "bo").status == 404)
    let code = try accounts.invite(#"{"user":"ada"}"#)
    let other = try accounts.ask(.openInvitation(code: code), "{}")["session"]
    let answer = try accounts.ask(.endSession(id: session), as: "ada", session: other)
    #expect(answer.status == 204)
    #expect(answer.cookie == nil, "the cookie is that of another device")
  }

  /// The loops learn of an end some milliseconds later, and may have accepted the head of a request before it.
  @Test func `a device that was ended does nothing more, and has no way back`() throws {
    let code = try accounts.invite(#"{"user":"ada"}"#)
    let phone = try accounts.ask(.openInvitation(code: code), "{}")["session"]
    let (device, user) = try start()
    let allow = #"{"allow":true}"#
    #expect(
      try accounts.ask(.decideDevice(code: user), allow, as: "ada", session: phone).status == 204)
    #expect(try accounts.ask(.endSession(id: #require(phone)), as: "ada").status == 204)
    #expect(try poll(device) == "access_denied")
    let requests: [AccountCall.Request] = [
      .invite, .invitations, .removeInvitation(id: "x"), .sessions, .endSession(id: "current"),
      .profile, .rename, .showDevice(code: user), .decideDevice(code: user),
    ]
    for request in requests {
      let answer = try accounts.ask(
        request, #"{"allow":true,"name":"x"}"#, as: "ada", session: phone, isOperator: true)
      #expect(answer.status == 401, "\(request)")
    }
  }
}
