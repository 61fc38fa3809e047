import AccountStores
import Accounts
import Testing
import Wire

@Suite struct `Erasing an account` {
  @Test(arguments: AccountPlace.allCases)
  func `what has signed it in and what it has promised goes with it`(place: AccountPlace) throws {
    let accounts = try AccountHarness(place)
    let store = accounts.store
    try accounts.signUp("ada")
    let code = try accounts.invite(#"{"user":"bo"}"#)
    let signedIn = try accounts.ask(
      .openInvitation(code: code), #"{"user":"bo","name":"<secret>","device":"<secret> phone"}"#)
    #expect(signedIn.status == 201)
    accounts.configured.withLock { $0.operators = ["bo"] }
    let link = try accounts.invite(as: "bo")
    try store.put(ProviderToken(user: "bo", clientID: "app", token: "<secret>", askAt: 1))
    let hash = try #require(SecretHash([UInt8](repeating: 7, count: 32)))
    var confirmed = DeviceCode(
      hash: hash, userHash: hash, device: "<secret> desk", address: "192.0.2.7",
      intervalSeconds: 5, polledAt: 0, expiresAt: accounts.now + 60_000)
    confirmed.decision = .allowed("bo")
    try store.put(confirmed)
    let lines = try store.lines(of: "bo").map { String(decoding: $0, as: UTF8.self) }
    #expect(lines.count == 3)
    #expect(lines[1].contains(#""type":"session","user":"bo","device":"<secret> phone""#))
    #expect(lines[2].contains(#""type":"invitation","user":"bo""#))

    let last = try store.lastChange()
    let erased = try store.erase("bo", now: accounts.now)
    #expect(erased?.sessions == 1)
    #expect(erased?.invitations == 1)
    #expect(try store.account("bo") == nil)
    #expect(try store.sessions(of: "bo").isEmpty)
    #expect(try store.providerToken(of: "bo") == nil)
    #expect(try store.deviceCode(hash) == nil)
    #expect(try store.lines(of: "bo").isEmpty)
    #expect(try accounts.ask(.showInvitation(code: link)).status == 404)
    // Relays that run end the session, and read the account again.
    let changes = try store.changes(after: last, limit: 10)
    #expect(changes.map(\.user) == ["bo", "bo"])
    #expect(changes.last?.kind == .account)
    if place == .file { #expect(try accounts.files().allSatisfy { !$0.contains("<secret>") }) }

    #expect(try store.erase("bo", now: accounts.now)?.sessions == nil)
    #expect(throws: AccountError.self) { try store.erase("ada", now: accounts.now) }
    #expect(try store.sessions(of: "ada").count == 1)
  }
}
