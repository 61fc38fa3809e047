import Wire

/// GitHub's REST API, version 2022-11-28.
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

  // All of these requests count against GitHub's rate limit "core".
  private static let bucket = "core"

  func firstPage(_ exchange: Exchange, _ memory: inout [String: String]) throws(FetchError)
    -> String
  {
    base + source.path
  }

  func page(_ url: String, etag: String?, _ exchange: Exchange) throws(FetchError) -> Page? {
    let answer = try exchange.get(url, etag: etag, bucket: Self.bucket)
    if answer.status == 304 { return nil }
    guard let users = try exchange.json(answer).elements else {
      throw exchange.failure("GitHub returned a response that is not a list of people.", answer)
    }
    var page = Page(url: url, etag: answer.headers["etag"])
    for user in users {
      guard let login = user["login"]?.string else {
        throw exchange.failure("GitHub returned a person without a login.", answer)
      }
      // A login can be renamed, and then taken by another person; the number stays.
      page.listing.add(
        login: login, avatar: user["avatar_url"]?.string, id: user["id"]?.integer.map { String($0) }
      )
    }
    page.next = answer.headers["link"].flatMap { LinkField.target("next", in: $0) }
    return page
  }
}
