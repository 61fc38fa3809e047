internal import Wire

/// The version of X's API.
public enum XVersion: String, CaseIterable, Sendable {
  case v2 = "2"
  case v1 = "1.1"
}

/// Followers of an account, from X's API 2 or 1.1.
package struct XService: RemoteService {
  private let base: String
  private let account: String
  private let version: XVersion

  init(base: String, account: String, version: XVersion) {
    self.base = base
    self.account = account
    self.version = version
  }

  static let manners = ServiceManners(
    name: "X", headers: ["Accept: application/json"], limitPrefix: "x-rate-limit-",
    supportHeader: "x-transaction-id",
    message: { body in
      let first = body["errors"]?.elements?.first
      return first?["message"]?.string ?? first?["detail"]?.string ?? body["detail"]?.string
        ?? body["title"]?.string
    })

  /// Parses `followers:NAME`; `nil` for anything else.
  package static func account(in source: String) -> String? {
    let prefix = "followers:"
    guard source.hasPrefix(prefix) else { return nil }
    let name = source.dropFirst(prefix.count)
    let isName =
      (1...50).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0) || $0 == 95
      }
    return isName ? String(name) : nil
  }

  func firstPage(_ exchange: Exchange, _ memory: inout [String: String]) throws(FetchError)
    -> String
  {
    switch version {
    case .v1:
      return "\(base)/1.1/followers/list.json?screen_name=\(account)&count=200&cursor=-1"
    case .v2:
      if memory["account"] == nil { memory["account"] = try askForID(exchange) }
      return "\(base)/2/users/\(memory["account", default: ""])/followers?max_results=1000"
        + "&user.fields=profile_image_url,verified"
    }
  }

  private func askForID(_ exchange: Exchange) throws(FetchError) -> String {
    let answer = try exchange.get("\(base)/2/users/by/username/\(account)", bucket: "user")
    guard let id = try exchange.json(answer)["data"]?["id"]?.string,
      !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) })
    else { throw exchange.failure("X does not know the account \(account).", answer) }
    return id
  }

  /// X sends no ETags today; one would be used.
  func page(_ url: String, etag: String?, _ exchange: Exchange) throws(FetchError) -> Page? {
    let answer = try exchange.get(url, etag: etag, bucket: "followers")
    if answer.status == 304 { return nil }
    let body = try exchange.json(answer)
    var page = Page(url: url, etag: answer.headers["etag"])
    let isComplete =
      switch version {
      case .v2: read(body, into: &page)
      case .v1: readOld(body, into: &page)
      }
    guard isComplete else {
      throw exchange.failure(
        "X returned a response that is not a list of followers.", answer,
        detail: Self.manners.message(body))
    }
    return page
  }

  /// `errors` may occur beside `data`, for example for suspended accounts.
  private func read(_ body: JSONNode, into page: inout Page) -> Bool {
    guard let meta = body["meta"], meta.isObject else { return false }
    for user in body["data"]?.elements ?? [] {
      guard let login = user["username"]?.string else { return false }
      page.listing.add(
        login: login, name: user["name"]?.string, avatar: user["profile_image_url"]?.string)
    }
    if let token = meta["next_token"]?.string, !token.isEmpty {
      page.next = "\(Self.withoutToken(page.url))&pagination_token=\(WebAddress.escaped(token))"
    }
    return true
  }

  private func readOld(_ body: JSONNode, into page: inout Page) -> Bool {
    guard let users = body["users"]?.elements, let cursor = body["next_cursor_str"]?.string
    else { return false }
    for user in users {
      guard let login = user["screen_name"]?.string else { return false }
      page.listing.add(
        login: login, name: user["name"]?.string, avatar: user["profile_image_url_https"]?.string)
    }
    if cursor != "0", let start = page.url.firstRange(of: "&cursor=") {
      page.next = "\(page.url[..<start.upperBound])\(WebAddress.escaped(cursor))"
    }
    return true
  }

  private static func withoutToken(_ url: String) -> Substring {
    url.firstRange(of: "&pagination_token=").map { url[..<$0.lowerBound] } ?? url[...]
  }
}
