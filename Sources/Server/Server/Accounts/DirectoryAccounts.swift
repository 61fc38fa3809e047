import Accounts
import Relay

/// The people of a directory beside the accounts of the same service: by the person's id, since a login can
/// be renamed, and then taken by another person. Pure.
///
/// A person is listed under the name of their account. A person whose name is that of another person's account
/// is not listed until they have an account, which then has another name.
struct DirectoryAccounts {
  /// The issuer of the accounts whose people the directory lists; `nil` = it lists others.
  private let issuer: String?
  /// The people as the directory has them.
  private var list = PeopleList([], source: "", asOf: 0)
  /// The directory's user names, by id.
  private var names: [String: String] = [:]
  /// The accounts of the service, by id.
  private var users: [String: String] = [:]
  /// The ids of all accounts, by user; empty = the account is not one of the service.
  private var ids: [String: String] = [:]

  init(issuer: String?) { self.issuer = issuer }

  /// Whether the directory has a person of this name.
  func contains(_ user: String) -> Bool { list.index(of: user) != nil }

  /// Returns the directory's name for a person of a provider.
  func name(of person: ProviderBinding) -> String? {
    person.issuer == issuer ? names[person.subject] : nil
  }

  /// Takes the people of the directory.
  mutating func set(_ list: PeopleList) {
    self.list = list
    names = [:]
    guard issuer != nil else { return }
    for person in list.people {
      if let id = person.id { names[id] = person.user }
    }
  }

  /// Takes an account that is new, or read again.
  /// - Returns: whether the list is another one than before.
  mutating func record(_ account: Account) -> Bool {
    guard let issuer else { return false }
    guard let binding = account.binding, binding.issuer == issuer else {
      // An invited person is not the one that the directory has by this name.
      return ids.updateValue("", forKey: account.user) == nil && contains(account.user)
    }
    guard users.updateValue(account.user, forKey: binding.subject) != account.user else {
      return false
    }
    ids[account.user] = binding.subject
    let same = names[binding.subject].flatMap(list.index)
    let namesake = list.index(of: account.user)
    return [same, namesake].contains { $0.map { differs(list.people[$0]) } ?? false }
  }

  /// The people as clients see them.
  var listed: PeopleList {
    if issuer == nil || !list.people.contains(where: differs) { return list }
    var people: [Person] = []
    var leftOut = list.leftOut
    for var person in list.people {
      if let id = person.id, let user = users[id] {
        person.user = user
      } else if let id = person.id, let owner = ids[person.user], owner != id {
        leftOut += 1
        continue
      }
      people.append(person)
    }
    return PeopleList(people, source: list.source, asOf: list.asOf, leftOut: leftOut)
  }

  private func differs(_ person: Person) -> Bool {
    guard let id = person.id else { return false }
    return users[id].map { $0 != person.user } ?? ids[person.user].map { $0 != id } ?? false
  }
}
