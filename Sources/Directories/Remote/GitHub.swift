internal import Wire

/// Whose people GitHub is asked for.
public enum GitHubSource: Equatable, Sendable {
  case members(organisation: String)
  case followers(user: String)
  case following(user: String)
  /// Everybody, in the order in which they came.
  case users

  /// `org:…`, `followers:…`, `following:…` or `users`; `nil` for anything else.
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

  fileprivate var path: String {
    switch self {
    case .members(let organisation): "/orgs/\(organisation)/members?role=all&per_page=100"
    case .followers(let user): "/users/\(user)/followers?per_page=100"
    case .following(let user): "/users/\(user)/following?per_page=100"
    case .users: "/users?per_page=100"
    }
  }
}

/// GitHub's REST interface, version 2022-11-28.
struct GitHubService: RemoteService {
  private let base: String
  private let source: GitHubSource

  init(base: String, source: GitHubSource) {
    self.base = base
    self.source = source
  }

  static let manners = ServiceManners(
    name: "GitHub",
    headers: ["Accept: application/vnd.github+json", "X-GitHub-Api-Version: 2022-11-28"],
    limitPrefix: "x-ratelimit-", supportHeader: "x-github-request-id",
    message: { $0["message"]?.string })

  // All of these requests share GitHub's limit "core".
  private static let bucket = "core"

  func firstPage(_ exchange: Exchange, _ memory: inout [String: String]) throws(Setback) -> String {
    base + source.path
  }

  func page(_ url: String, etag: String?, _ exchange: Exchange) throws(Setback) -> Page? {
    let answer = try exchange.get(url, etag: etag, bucket: Self.bucket)
    if answer.status == 304 { return nil }
    guard let users = try exchange.json(answer).elements else {
      throw exchange.failure("GitHub answered something that is no list of people.", answer)
    }
    var page = Page(url: url, etag: answer.headers["etag"])
    for user in users {
      guard let login = user["login"]?.string else {
        throw exchange.failure("GitHub answered a person without a login.", answer)
      }
      page.listing.add(login: login, avatar: user["avatar_url"]?.string)
    }
    page.next = answer.headers["link"].flatMap { LinkField.target("next", in: $0) }
    return page
  }
}
