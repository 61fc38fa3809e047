internal import Wire

/// X's application-only authentication: a key and its secret are exchanged for a bearer token,
/// which does not change until it is invalidated. So it is stored, and requested again only after
/// it is refused.
struct XCredentials: Credentials {
  private let base: String
  private let key: String
  private let secret: String
  private let store: DirectoryStore?
  private var current: String?

  init(base: String, key: String, secret: String, store: DirectoryStore?) {
    self.base = base
    self.key = key
    self.secret = secret
    self.store = store
    current = store?.readToken(for: Self.owner(base, key))
  }

  /// The owner under which the token is stored.
  private static func owner(_ base: String, _ key: String) -> String { "\(base) \(key)" }

  mutating func token(_ exchange: Exchange) throws(FetchError) -> String? {
    if let current { return current }
    var request = WebRequest(url: "\(base)/oauth2/token")
    request.content = "grant_type=client_credentials"
    request.login = (WebAddress.escaped(key), WebAddress.escaped(secret))
    let answer = try exchange.post(request, bucket: "token")
    let body = try exchange.json(answer)
    guard body["token_type"]?.string?.lowercased() == "bearer",
      let token = body["access_token"]?.string, TokenSource.isToken(token)
    else { throw exchange.failure("X returned a response that is not a bearer token.", answer) }
    current = token
    store?.write(token: token, for: Self.owner(base, key))
    return token
  }

  mutating func wasRefused() -> Bool {
    current = nil
    store?.removeToken()
    return true
  }
}
