import Accounts
import Relay
import RelayConfiguration
import Testing

@testable import Server

/// Logins that were renamed, and taken by another person, in a directory and at a relay with accounts.
@Suite struct `People of a directory with accounts` {
  private static let gitHub = "https://github.com"

  private func account(_ user: String, _ id: String?, issuer: String = gitHub) -> Account {
    Account(
      user: user, name: user, binding: id.map { ProviderBinding(issuer: issuer, subject: $0) },
      createdAt: 1)
  }

  private func directory(
    _ people: [(String, String?)], issuer: String? = gitHub, accounts: [Account] = []
  ) -> DirectoryAccounts {
    var directory = DirectoryAccounts(issuer: issuer)
    for account in accounts { _ = directory.record(account) }
    directory.set(list(people))
    return directory
  }

  private func list(_ people: [(String, String?)]) -> PeopleList {
    PeopleList(
      people.map { Person(user: $0.0, name: "The \($0.0)", id: $0.1) }, source: "org:acme", asOf: 7,
      leftOut: 1)
  }

  private func name(_ directory: DirectoryAccounts, _ id: String, issuer: String = gitHub)
    -> String?
  {
    directory.name(of: ProviderBinding(issuer: issuer, subject: id))
  }

  private func expect(
    _ directory: inout DirectoryAccounts, _ account: Account, changes: Bool,
    at location: SourceLocation = #_sourceLocation
  ) {
    let isOther = directory.record(account)
    #expect(isOther == changes, sourceLocation: location)
  }

  @Test func `have a name by their number, at their service only`() {
    let directory = directory([("mona", "5"), ("lisa", nil)])
    #expect(name(directory, "5") == "mona")
    #expect(name(directory, "6") == nil)
    #expect(name(directory, "5", issuer: "https://github.example.org") == nil)
    #expect(directory.contains("mona") && directory.contains("lisa"))
    #expect(name(self.directory([("mona", "5")], issuer: nil), "5") == nil)
  }

  @Test func `are listed as the directory has them, whatever accounts there are`() {
    var directory = directory([("mona", "5"), ("ada", "6"), ("old", nil)])
    let list = directory.listed
    for account in [
      account("mona", "5"), account("otto", "20"), account("bo", nil), account("old", "30"),
      account("ada-2", "6", issuer: "https://github.example.org"),
    ] {
      let isOther = directory.record(account)
      #expect(!isOther, "\(account.user)")
    }
    #expect(directory.listed === list, "the same list is not made again")
  }

  /// Otherwise an invited person would have another one's picture, and get what is written to them.
  @Test func `are not listed by the name of an invited person's account`() {
    var directory = directory([("mona", "5"), ("lisa", "6")])
    let isOther = [account("mona", nil), account("mona", nil)].map { directory.record($0) }
    #expect(isOther == [true, false])
    #expect(directory.listed.people.map(\.user) == ["lisa"])
    let hasName = directory.record(account("mona-2", "5"))
    #expect(hasName)
    #expect(directory.listed.people.map(\.user).sorted() == ["lisa", "mona-2"])
  }

  @Test func `are listed under the names of their accounts`() {
    var directory = directory([("lisa", "5"), ("bo", "8")])
    expect(&directory, account("mona", "5"), changes: true)
    expect(&directory, account("mona", "5"), changes: false)
    let listed = directory.listed
    #expect(listed.people.map(\.user) == ["mona", "bo"])
    #expect(listed.people.map(\.name) == ["The lisa", "The bo"])
    #expect(listed.source == "org:acme" && listed.asOf == 7 && listed.leftOut == 1)
    // The directory's name stays reserved.
    #expect(directory.contains("lisa"))
  }

  @Test func `are not listed as the account of another person`() {
    var directory = directory([("mona", "6"), ("bo", "8")], accounts: [account("mona", "5")])
    #expect(directory.listed.people.map(\.user) == ["bo"])
    #expect(directory.listed.leftOut == 2)
    expect(&directory, account("mona-2", "6"), changes: true)
    #expect(directory.listed.people.map(\.user) == ["mona-2", "bo"])
    // An account that comes after the list.
    var later = self.directory([("mona", "6"), ("bo", "8")])
    expect(&later, account("mona", "5"), changes: true)
    #expect(later.listed.people.map(\.user) == ["bo"])
  }

  @Test(arguments: [
    ("kind: github, source: users", true),
    ("kind: github, source: users, base_url: \"https://API.github.com/\"", true),
    ("kind: github, source: users, base_url: \"https://github.example.org/api/v3\"", false),
    ("kind: x, source: followers:a, key: b, secret: c", false), ("kind: local", false),
  ])
  func `are those who sign in if it is the same service`(yaml: String, isSame: Bool) throws {
    var configuration = Configuration()
    configuration.auth.mode = .accounts
    configuration.auth.signIn = [.github]
    let parts = yaml.split(separator: ", ").map { $0.split(separator: ": ", maxSplits: 1) }
    for part in parts {
      switch part[0] {
      case "kind": configuration.directory.kind = try #require(.init(rawValue: String(part[1])))
      case "base_url": configuration.directory.baseURL = String(part[1].dropFirst().dropLast())
      default: break
      }
    }
    #expect(configuration.directoryIssuer == (isSame ? Self.gitHub : nil))
    configuration.auth.signIn = [.invite]
    #expect(configuration.directoryIssuer == nil)
    configuration.auth.signIn = [.github]
    configuration.auth.mode = .open
    #expect(configuration.directoryIssuer == nil)
  }
}
