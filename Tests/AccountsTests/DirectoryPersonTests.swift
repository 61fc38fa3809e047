import AccountStores
import Testing

@testable import Accounts

/// People who sign in at the service whose people the directory lists.
@Suite struct `A person of the directory who signs in` {
  private static let gitHub = "https://github.com"
  private static let directory = [
    ProviderBinding(issuer: gitHub, subject: "5"): "mona",
    ProviderBinding(issuer: gitHub, subject: "7"): "lisa",
    ProviderBinding(issuer: gitHub, subject: "8"): "echo",
    ProviderBinding(issuer: gitHub, subject: "9"): "root",
  ]

  private func accounts(
    known: Set<String> = [], writtenTo: Set<String> = []
  ) throws -> AccountHarness {
    try AccountHarness(
      known: known, writtenTo: writtenTo, reserved: ["root"], directory: Self.directory
    ) {
      $0.providers = [
        GitHubProvider(
          clientID: "id", clientSecret: "secret", organization: "", baseURL: Self.gitHub,
          apiURL: "https://api.github.com")
      ]
    }
  }

  private func person(
    _ subject: String, _ login: String, issuer: String = gitHub, name: String? = nil,
    picture: String? = nil
  ) -> ProviderPerson {
    ProviderPerson(
      binding: ProviderBinding(issuer: issuer, subject: subject), login: login, name: name,
      picture: picture)
  }

  @Test func `has the directory's name, by the number`() throws {
    let accounts = try accounts()
    #expect(try accounts.signIn(as: person("5", "Mona")) == "mona")
    #expect(try accounts.signIn(as: person("5", "Mona")) == "mona")
    // Renamed since the directory was read.
    #expect(try accounts.signIn(as: person("7", "elisabeth")) == "lisa")
  }

  @Test func `does not lose the name to a person who has the login by now`() throws {
    let accounts = try accounts()
    #expect(try accounts.signIn(as: person("6", "mona")) == "mona-2")
    #expect(try accounts.signIn(as: person("5", "mona")) == "mona")
  }

  @Test func `of another service is another person`() throws {
    let accounts = try accounts()
    let other = person("5", "mona", issuer: "https://github.example.org")
    #expect(try accounts.signIn(as: other) == "mona-2")
  }

  @Test func `gets a number where the name is an account's, a bot's or a configured one`() throws {
    let accounts = try accounts()
    try accounts.signUp("cy")
    let code = try accounts.invite(#"{"user":"mona"}"#, as: "cy")
    _ = try accounts.ask(.openInvitation(code: code), "{}")
    #expect(try accounts.signIn(as: person("5", "mona")) == "mona-2")
    #expect(try accounts.signIn(as: person("8", "echo")) == "echo-2")
    // Whoever is called as auth.operators has it would be an operator.
    #expect(try accounts.signIn(as: person("9", "root")) == "root-2")
  }

  @Test func `gets a number where a user had the name before there were accounts`() throws {
    let accounts = try accounts(known: ["mona"], writtenTo: ["lisa", "otto"])
    #expect(try accounts.signIn(as: person("5", "mona")) == "mona-2")
    // Written to, which the directory is there for, is not having taken part.
    #expect(try accounts.signIn(as: person("7", "lisa")) == "lisa")
    #expect(try accounts.signIn(as: person("20", "otto")) == "otto-2")
  }

  @Test func `has the newest picture, and the name that was chosen here`() throws {
    let accounts = try accounts()
    let first = person("5", "mona", name: "Mona L", picture: "https://p.example/1")
    _ = try accounts.signIn(as: first)
    #expect(try accounts.store.account("mona")?.picture == "https://p.example/1")
    #expect(try accounts.store.account("mona")?.name == "Mona L")
    _ = try accounts.ask(.rename, #"{"name":"Mo"}"#, as: "mona")
    let last = try accounts.store.lastChange()
    _ = try accounts.signIn(as: first)
    #expect(try accounts.store.lastChange() == last, "nothing has changed")
    _ = try accounts.signIn(
      as: person("5", "mona", name: "Mona Lisa", picture: "https://p.example/2"))
    #expect(try accounts.store.account("mona")?.picture == "https://p.example/2")
    #expect(try accounts.store.account("mona")?.name == "Mo")
    #expect(try accounts.store.changes(after: last, limit: 9).map(\.kind) == [.account])
    _ = try accounts.signIn(as: person("5", "mona"))
    #expect(try accounts.store.account("mona")?.picture == nil)
  }

  @Test func `is exported with the picture`() throws {
    let account = Account(
      user: "mona", name: "Mona", binding: ProviderBinding(issuer: Self.gitHub, subject: "5"),
      picture: "https://p.example/1", createdAt: 1)
    #expect(try AccountLine(decoding: AccountLine(account).bytes.dropLast())?.account == account)
    var bad = account
    bad.picture = "javascript:alert(1)"
    #expect(throws: AccountLine.Malformed.self) {
      try AccountLine(decoding: AccountLine(bad).bytes.dropLast())
    }
  }
}
