import Wire

/// The people of another chat, and their users.
struct PeopleNames {
  private let table: [String: String]
  private var names: FoldedNames
  private var users: [String: String] = [:]
  /// Those whose users are called otherwise, in the order in which they appeared.
  private(set) var renamed: [(name: String, user: String)] = []
  /// Names of the table that no person has had.
  private(set) var unused: Set<String>

  /// - Parameter table: users by the names or the keys of people.
  init(table: [String: String] = [:]) {
    self.table = table
    unused = Set(table.keys)
    names = .users(taken: Set(table.values).union([UserName.relay]))
  }

  var count: Int { users.count }

  /// Returns the user of a person.
  /// - Parameter name: as people know it there; by default the key.
  mutating func user(_ key: String, named name: String? = nil) -> String {
    if let user = users[key] { return user }
    let name = name ?? key
    let user = table[name] ?? table[key] ?? names.add(name)
    users[key] = user
    unused.subtract([name, key])
    if user != name { renamed.append((name, user)) }
    return user
  }
}
