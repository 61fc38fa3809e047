/// Which users are read from GitHub.
public enum GitHubSource: Equatable, Sendable {
  case members(organisation: String)
  case followers(user: String)
  case following(user: String)
  /// All users, in the order in which they signed up.
  case users

  /// Parses `org:…`, `followers:…`, `following:…` or `users`; `nil` for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts.count == 2 ? String(parts[1]) : ""
    switch parts[0] {
    case "users" where parts.count == 1: self = .users
    case "org" where Self.isLogin(name): self = .members(organisation: name)
    case "followers" where Self.isLogin(name): self = .followers(user: name)
    case "following" where Self.isLogin(name): self = .following(user: name)
    default: return nil
    }
  }

  private static func isLogin(_ name: String) -> Bool {
    (1...100).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 45
          || $0 == 95
      }
  }

  var path: String {
    switch self {
    case .members(let organisation): "/orgs/\(organisation)/members?role=all&per_page=100"
    case .followers(let user): "/users/\(user)/followers?per_page=100"
    case .following(let user): "/users/\(user)/following?per_page=100"
    case .users: "/users?per_page=100"
    }
  }
}
