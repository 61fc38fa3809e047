import AccountStores
import Testing
import Wire

@testable import Accounts

@Suite struct `Accounts and invitations` {
  @Test(arguments: AccountPlace.allCases)
  func `the first link makes an operator, works once, and the earlier one ends`(
    place: AccountPlace
  ) throws {
    let accounts = try AccountHarness(place)
    let earlier = try #require(try accounts.firstCode())
    let code = try #require(try accounts.firstCode())
    #expect(try accounts.ask(.openInvitation(code: earlier), #"{"user":"ada"}"#).status == 404)
    let answer = try accounts.ask(.openInvitation(code: code), #"{"user":"ada","name":"Ada L"}"#)
    #expect(answer.status == 201)
    #expect(answer["user"] == "ada")
    #expect(answer.cookie == .session(try #require(answer["token"])))
    #expect(try accounts.ask(.openInvitation(code: code), #"{"user":"bo"}"#).status == 404)
    let account = try #require(try accounts.store.account("ada"))
    #expect(account.isOperator)
    #expect(account.name == "Ada L")
    #expect(try accounts.firstCode() == nil, "there is an account now")
  }

  @Test(arguments: AccountPlace.allCases)
  func `what was changed is there for another process, in the order of the changes`(
    place: AccountPlace
  ) throws {
    guard place != .memory else { return }
    let accounts = try AccountHarness(place)
    let session = try #require(try accounts.signUp()["session"])
    let other = try accounts.another()
    #expect(try other.account("ada")?.isOperator == true)
    let last = try other.lastChange()
    _ = try accounts.ask(.endSession(id: session), as: "ada")
    _ = try accounts.ask(.rename, #"{"name":"Ada"}"#, as: "ada")
    #expect(
      try other.changes(after: last, limit: 9).map(\.kind) == [.ended(session: session), .account])
    #expect(try other.changes(after: last, limit: 9).map(\.number) == [last + 1, last + 2])
    #expect(try other.account("ada")?.name == "Ada")
  }

  @Test(arguments: AccountPlace.allCases)
  func `the attempt to sign in that expires first makes room`(place: AccountPlace) throws {
    let store = try AccountHarness(place).store
    let hashes = try (0..<3).map { try #require(SecretHash([UInt8](repeating: $0, count: 32))) }
    for (hash, expiry) in zip(hashes, [20, 10, 30] as [Int64]) {
      try store.add(
        SignInAttempt(
          hash: hash, browserHash: hash, method: "github", verifier: "", nonce: "",
          returnPath: "/", expiresAt: expiry))
    }
    try store.removeOldestAttempt()
    #expect(try hashes.map { try store.takeAttempt($0)?.expiresAt } == [20, nil, 30])
  }

  @Test(arguments: AccountPlace.allCases)
  func `a token is verified until its session ends, and no other token is`(place: AccountPlace)
    throws
  {
    let accounts = try AccountHarness(place)
    let answer = try accounts.signUp()
    let token = try #require(answer["token"])
    let found = try #require(try accounts.service.verify(token, now: accounts.now))
    #expect(found.session == answer["session"])
    #expect(found.account.user == "ada")
    #expect(try accounts.service.verify(token.lowercased(), now: accounts.now) == nil)
    _ = try accounts.ask(.endSession(id: "current"), as: "ada", session: answer["session"])
    #expect(try accounts.service.verify(token, now: accounts.now) == nil)
  }

  @Test func `a session ends after the days without use, and not while it is used`() throws {
    let accounts = try AccountHarness { $0.sessionDays = 1 }
    let token = try #require(try accounts.signUp()["token"])
    accounts.now += 86_400_000
    let found = try #require(try accounts.service.verify(token, now: accounts.now))
    try accounts.service.recordUses([(found.session, "192.0.2.9")], now: accounts.now)
    accounts.now += 86_400_000
    #expect(try accounts.service.verify(token, now: accounts.now)?.session == found.session)
    #expect(try accounts.store.sessions(of: "ada").map(\.address) == ["192.0.2.9"])
    accounts.now += 1
    #expect(try accounts.service.verify(token, now: accounts.now) == nil)
    let last = try accounts.store.lastChange()
    try accounts.service.tidy(now: accounts.now)
    #expect(
      try accounts.store.changes(after: last, limit: 9).map(\.kind) == [
        .ended(session: found.session)
      ])
    #expect(try accounts.store.sessions(of: "ada") == [])
  }

  @Test func `an invitation shows who made it and lets in as often as it says`() throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    let code = try accounts.invite(#"{"uses":2,"rooms":["dev"],"name":"Bo","ttl_s":60}"#)
    let shown = try accounts.ask(.showInvitation(code: code))
    #expect(shown["by"] == "ada")
    #expect(shown.text.contains(#""rooms":["dev"]"#))
    for user in ["bo", "cy"] {
      #expect(try accounts.ask(.openInvitation(code: code), #"{"user":"\#(user)"}"#).status == 201)
    }
    #expect(try accounts.ask(.openInvitation(code: code), #"{"user":"di"}"#).status == 404)
    #expect(try accounts.ask(.showInvitation(code: code)).status == 404)
    let own = try accounts.ask(.invitations, as: "ada")
    #expect(own.text.contains(#""used_by":["bo","cy"]"#), "its maker is told that it was used")
    #expect(try accounts.store.account("bo")?.name == "Bo")
    #expect(try accounts.store.account("bo")?.isOperator == false)
  }

  @Test func `unknown, used and expired codes are answered alike`() throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    let expired = try accounts.invite(#"{"ttl_s":1}"#)
    let used = try accounts.invite()
    _ = try accounts.ask(.openInvitation(code: used), #"{"user":"bo"}"#)
    accounts.now += 1000
    for code in [expired, used, "unknown", ""] {
      #expect(
        try accounts.ask(.showInvitation(code: code))
          == accounts.ask(.showInvitation(code: "another")))
      #expect(
        try accounts.ask(.openInvitation(code: code), #"{"user":"eve"}"#)
          == accounts.ask(.openInvitation(code: "another"), #"{"user":"eve"}"#))
    }
  }

  @Test func `a name that is taken is not given again`() throws {
    let accounts = try AccountHarness(known: ["old"], reserved: ["root", "mona"])
    try accounts.signUp()
    let code = try accounts.invite()
    for user in ["ada", "old", "root", "mona", "echo"] {
      let answer = try accounts.ask(.openInvitation(code: code), #"{"user":"\#(user)"}"#)
      #expect(answer == .init(status: 409, text: "name_taken"), "\(user)")
    }
    #expect(try accounts.ask(.openInvitation(code: code), #"{"user":"new"}"#).status == 201)
  }

  @Test func `an operator gives a name that is taken, but never a bot's`() throws {
    let accounts = try AccountHarness(known: ["old"], reserved: ["root"])
    try accounts.signUp()
    for user in ["old", "root"] {
      let code = try accounts.invite(#"{"user":"\#(user)"}"#)
      #expect(try accounts.ask(.openInvitation(code: code), "{}").status == 201)
    }
    let refused = try accounts.ask(.invite, #"{"user":"echo"}"#, as: "ada", isOperator: true)
    #expect(refused.text == "name_taken")
  }

  @Test func `an invitation for a user is for no other, and a further device of the account`()
    throws
  {
    let accounts = try AccountHarness()
    try accounts.signUp()
    let code = try accounts.invite(#"{"user":"ada"}"#)
    #expect(try accounts.ask(.openInvitation(code: code), #"{"user":"bo"}"#).status == 400)
    let answer = try accounts.ask(.openInvitation(code: code), #"{"device":"phone"}"#)
    #expect(answer["user"] == "ada")
    #expect(try accounts.store.sessions(of: "ada").map(\.device).contains("phone"))
  }

  @Test func `members invite only where they may, and take over no account`() throws {
    let closed = try AccountHarness()
    try closed.signUp()
    #expect(try closed.ask(.invite, "{}", as: "bo").status == 403)
    let open = try AccountHarness { $0.everyoneInvites = true }
    try open.signUp()
    _ = try open.ask(.openInvitation(code: open.invite()), #"{"user":"bo"}"#)
    #expect(try open.ask(.invite, "{}", as: "bo").status == 201)
    #expect(try open.ask(.invite, #"{"user":"ada"}"#, as: "bo").text == "name_taken")
    // The name becomes taken after the link was made.
    let answer = try open.ask(.invite, #"{"user":"cy"}"#, as: "bo")
    let code = try #require(answer["code"])
    let first = try open.invite()
    _ = try open.ask(.openInvitation(code: first), #"{"user":"cy"}"#)
    #expect(try open.ask(.openInvitation(code: code), "{}").text == "name_taken")
  }

  @Test func `open invitations of a user are limited, and withdrawn ones make room`() throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    for _ in 0..<AccountSettings.invitationsLimit { _ = try accounts.invite() }
    let refused = try accounts.ask(.invite, "{}", as: "ada", isOperator: true)
    #expect(refused == .init(status: 409, text: "limit_reached"))
    let id = try #require(try accounts.store.invitations(by: "ada").first?.id)
    #expect(try accounts.ask(.removeInvitation(id: id), as: "bo").status == 404)
    #expect(try accounts.ask(.removeInvitation(id: id), as: "ada").status == 204)
    _ = try accounts.invite()
  }

  @Test(arguments: [
    #"{"user":"Ada"}"#, #"{"user":".."}"#, #"{"user":5}"#, #"{"user":"a","name":""}"#,
    #"{"user":"a","name":"x\u202Ey"}"#,
    #"{"user":"a","name":"\#(String(repeating: "n", count: 201))"}"#,
    #"{"user":"a","device":"x\ny"}"#, "{}", "[]", "5", "", #"{"user":"#,
  ])
  func `content that is wrong is refused, and the invitation stays`(json: String) throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    let code = try accounts.invite()
    #expect(try accounts.ask(.openInvitation(code: code), json).status == 400)
    #expect(try accounts.ask(.openInvitation(code: code), #"{"user":"bo"}"#).status == 201)
  }

  @Test(arguments: [
    #"{"uses":0}"#, #"{"uses":1001}"#, #"{"ttl_s":0}"#, #"{"ttl_s":31536001}"#, #"{"uses":1.5}"#,
    #"{"user":"bo","uses":2}"#, #"{"rooms":"dev"}"#, #"{"rooms":["dm:a+b"]}"#,
    #"{"rooms":["sys:audit"]}"#, #"{"rooms":["Dev"]}"#, #"{"ttl_s":9223372036854775808}"#,
    #"{"rooms":[\#(Array(repeating: "\"a\"", count: 33).joined(separator: ","))]}"#,
  ])
  func `an order of an invitation that is wrong is refused`(json: String) throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    let answer = try accounts.ask(.invite, json, as: "ada", isOperator: true)
    #expect(answer == .init(status: 400, text: "bad_field"))
  }

  @Test func `attempts to sign in are limited per address and minute`() throws {
    let accounts = try AccountHarness { $0.signInsPerMinute = 3 }
    for _ in 0..<3 {
      #expect(try accounts.ask(.openInvitation(code: "x"), #"{"user":"a"}"#).status == 404)
    }
    #expect(try accounts.ask(.openInvitation(code: "x"), #"{"user":"a"}"#).status == 429)
    #expect(try accounts.ask(.startDevice, "{}").status == 429)
    let other = try accounts.ask(.openInvitation(code: "x"), #"{"user":"a"}"#, from: "192.0.2.2")
    #expect(other.status == 404)
    accounts.now += 60_000
    #expect(try accounts.ask(.openInvitation(code: "x"), #"{"user":"a"}"#).status == 404)
  }

  @Test func `devices of an account are limited, and the one unused longest makes room`()
    throws
  {
    let accounts = try AccountHarness()
    let first = try #require(try accounts.signUp()["session"])
    for _ in 0..<AccountSettings.devicesLimit {
      accounts.now += 1000
      let code = try accounts.invite(#"{"user":"ada"}"#)
      _ = try accounts.ask(.openInvitation(code: code), "{}")
    }
    let sessions = try accounts.store.sessions(of: "ada")
    #expect(sessions.count == AccountSettings.devicesLimit)
    #expect(!sessions.contains { $0.id == first })
    #expect(
      try accounts.store.changes(after: 0, limit: 99).map(\.kind).contains(.ended(session: first)))
  }

  @Test func `the last operator cannot go`() throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    let service = accounts.service
    #expect(throws: AccountError.self) { try service.setDisabled("ada", true, now: accounts.now) }
    #expect(throws: AccountError.self) { try service.setOperator("ada", false, now: accounts.now) }
    let code = try accounts.invite()
    _ = try accounts.ask(.openInvitation(code: code), #"{"user":"bo"}"#)
    try service.setOperator("bo", true, now: accounts.now)
    try service.setDisabled("ada", true, now: accounts.now)
    #expect(throws: AccountError.self) { try service.setOperator("bo", false, now: accounts.now) }
    try service.setDisabled("ada", false, now: accounts.now)
    try service.setOperator("bo", false, now: accounts.now)
  }

  @Test func `a link ends with the right that it was made with`() throws {
    let accounts = try AccountHarness()
    let configured = accounts.configured
    try accounts.signUp()
    _ = try accounts.ask(.openInvitation(code: accounts.invite()), #"{"user":"bo"}"#)
    try accounts.service.setOperator("bo", true, now: accounts.now)
    let codes = try [#"{"user":"ada"}"#, "{}"].map { try accounts.invite($0, as: "bo") }
    func isOpen() throws -> [Bool] {
      try codes.map { try accounts.ask(.showInvitation(code: $0)).status == 200 }
    }
    #expect(try isOpen() == [true, true])
    try accounts.service.setOperator("bo", false, now: accounts.now)
    #expect(try isOpen() == [false, false])
    #expect(try accounts.ask(.openInvitation(code: codes[0]), "{}").status == 404)
    // What a loop knows may be old.
    #expect(try accounts.ask(.invite, "{}", as: "bo", isOperator: true).status == 403)
    configured.withLock { $0.operators = ["bo"] }
    #expect(try isOpen() == [true, true])
    configured.withLock { $0.banned = ["bo"] }
    #expect(try isOpen() == [false, false])
  }

  @Test(arguments: AccountPlace.allCases)
  func `links that cannot be opened any more do not add up`(place: AccountPlace) throws {
    let accounts = try AccountHarness(place)
    try accounts.signUp()
    for _ in 0..<AccountSettings.keptInvitations + 20 {
      _ = try accounts.invite(#"{"ttl_s":1}"#)
      accounts.now += 1000
    }
    let used = try accounts.invite(#"{"uses":2}"#)
    for user in ["bo", "cy"] {
      #expect(try accounts.store.openInvitationCount(of: "ada", accounts.now) == 1)
      _ = try accounts.ask(.openInvitation(code: used), #"{"user":"\#(user)"}"#)
    }
    #expect(try accounts.store.openInvitationCount(of: "ada", accounts.now) == 0)
    _ = try accounts.invite()
    #expect(
      try accounts.store.invitations(by: "ada").count == AccountSettings.keptInvitations + 1)
  }

  @Test func `an operator sees and withdraws the links that were made from a shell`() throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    _ = try accounts.service.invite(
      user: nil, name: nil, rooms: [], uses: 1, seconds: 60, makesOperator: false,
      now: accounts.now)
    let id = try #require(try accounts.store.invitations(by: "").first { $0.id != "first" }?.id)
    _ = try accounts.ask(.openInvitation(code: accounts.invite()), #"{"user":"bo"}"#)
    #expect(try accounts.ask(.removeInvitation(id: id), as: "bo").status == 404)
    #expect(try accounts.ask(.removeInvitation(id: id), as: "ada").status == 204)
    #expect(throws: AccountError.self, "it would not make one") {
      try accounts.service.invite(
        user: "bo", name: nil, rooms: [], uses: 1, seconds: 60, makesOperator: true,
        now: accounts.now)
    }
  }

  @Test func `a name is changed ten times a minute, and the same name changes nothing`() throws {
    let accounts = try AccountHarness()
    try accounts.signUp()
    func rename(_ name: String) throws -> Int {
      try accounts.ask(.rename, #"{"name":"\#(name)"}"#, as: "ada").status
    }
    for number in 0..<AccountSettings.renamesPerMinute {
      #expect(try rename("Ada \(number)") == 200)
    }
    let last = try accounts.store.lastChange()
    for _ in 0..<50 { #expect(try rename("Ada 9") == 200) }
    #expect(try rename("Ada") == 429)
    #expect(try accounts.store.lastChange() == last)
    accounts.now += 60_000
    #expect(try rename("Ada") == 200)
  }

  @Test func `a link of a user who is disabled lets nobody in, also later`() throws {
    let accounts = try AccountHarness { $0.everyoneInvites = true }
    try accounts.signUp()
    _ = try accounts.ask(.openInvitation(code: try accounts.invite()), #"{"user":"bo"}"#)
    let code = try #require(try accounts.ask(.invite, "{}", as: "bo")["code"])
    for isDisabled in [true, false] {
      try accounts.service.setDisabled("bo", isDisabled, now: accounts.now)
      let answer = try accounts.ask(.openInvitation(code: code), #"{"user":"bo2"}"#)
      #expect(answer.status == 404)
    }
  }

  @Test func `a file of accounts has no secret in it`() throws {
    let accounts = try AccountHarness(.file)
    let token = try #require(try accounts.signUp()["token"])
    let code = try accounts.invite()
    let device = try accounts.ask(.startDevice, #"{"device":"phone"}"#)
    let secrets = [
      token, code, try #require(device["device_code"]), try #require(device["user_code"]),
    ]
    let files = try accounts.files()
    #expect(files.contains { $0.contains("phone") })
    for secret in secrets {
      for file in files { #expect(!file.contains(secret)) }
    }
  }
}
