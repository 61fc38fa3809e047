internal import Wire

/// GitHub, or a GitHub Enterprise Server: OAuth for web applications
/// (https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps).
public struct GitHubProvider: SignInProvider {
  public let method = "github"
  public let title = "GitHub"
  public let clientID: String
  let clientSecret: String
  /// Only its members enter; empty = everyone.
  let organization: String
  /// `https://github.com`.
  let baseURL: String
  /// `https://api.github.com`.
  let apiURL: String

  /// - Parameters: URLs without a slash at the end.
  public init(
    clientID: String, clientSecret: String, organization: String, baseURL: String, apiURL: String
  ) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.organization = organization
    self.baseURL = baseURL
    self.apiURL = apiURL
  }

  public var issuer: String { baseURL }

  public func begin(_ attempt: ProviderAttempt) -> any ProviderExchange {
    var fields = [
      ("client_id", clientID), ("redirect_uri", attempt.redirectURI), ("state", attempt.state),
      ("code_challenge", attempt.challenge), ("code_challenge_method", "S256"),
    ]
    if !organization.isEmpty { fields.append(("scope", "read:org")) }
    let url = "\(baseURL)/login/oauth/authorize?\(FormText.encode(fields))"
    return FinishedExchange(outcome: .browser(to: url))
  }

  public func exchange(
    _ code: String, from issuer: String?, _ attempt: ProviderAttempt, now: Int64
  ) -> any ProviderExchange {
    Exchange(provider: self, code: code, attempt: attempt)
  }

  public func confirm(_ token: String) -> any ProviderExchange {
    Confirmation(provider: self, token: token)
  }

  private func request(_ path: String, by token: String) -> ProviderRequest {
    ProviderRequest(
      url: apiURL + path,
      headers: Self.headers + ["Authorization: Bearer \(token)"])
  }

  /// Of each request to the interface for programs.
  private static let headers = [
    "Accept: application/vnd.github+json", "X-GitHub-Api-Version: 2022-11-28",
  ]

  private func membershipRequest(by token: String) -> ProviderRequest {
    request("/user/memberships/orgs/\(FormText.escaped(organization))", by: token)
  }

  /// Whether the person that a membership is of belongs to the organization.
  private func isMember(_ answer: ProviderAnswer?) throws(SignInFailure) -> Bool {
    guard let answer, !answer.isUnavailable else { throw .providerUnavailable }
    switch answer.status {
    case 200:
      guard let state = JSONNode(answer.body)?["state"]?.string else { throw .providerRefused }
      return state == "active"
    case 404 where answer.isProblem: return false
    // The organization wants single sign-on for this token, or restricts applications.
    case 403: throw .organizationRefused
    default: throw .providerRefused
    }
  }

  struct Exchange: ProviderExchange {
    private enum Asked {
      case nothing, token, user, membership
    }

    let provider: GitHubProvider
    let code: String
    let attempt: ProviderAttempt
    private var asked = Asked.nothing
    private var token = ""
    /// Whether the token ends by itself after some hours, as those of a GitHub App may: then it says nothing of the
    /// person.
    private var expires = false
    private var person: ProviderPerson?

    init(provider: GitHubProvider, code: String, attempt: ProviderAttempt) {
      self.provider = provider
      self.code = code
      self.attempt = attempt
    }

    mutating func next(_ answer: ProviderAnswer?) -> ProviderStep {
      do throws(SignInFailure) {
        switch asked {
        case .nothing:
          asked = .token
          return .request(tokenRequest)
        case .token:
          let json = try content(answer)
          token = try accessToken(json)
          expires = json.member("expires_in") != nil
          asked = .user
          return .request(provider.request("/user", by: token))
        case .user:
          var person = try person(try content(answer))
          if !expires { person.token = token }
          if provider.organization.isEmpty { return .finished(.person(person)) }
          self.person = person
          asked = .membership
          return .request(provider.membershipRequest(by: token))
        case .membership:
          guard let person, try provider.isMember(answer) else { throw .notAMember }
          return .finished(.person(person))
        }
      } catch {
        return .failed(error)
      }
    }

    private var tokenRequest: ProviderRequest {
      ProviderRequest(
        url: "\(provider.baseURL)/login/oauth/access_token", headers: ["Accept: application/json"],
        content: FormText.encode([
          ("client_id", provider.clientID), ("client_secret", provider.clientSecret),
          ("code", code), ("redirect_uri", attempt.redirectURI),
          ("code_verifier", attempt.verifier),
        ]))
    }

    private func content(_ answer: ProviderAnswer?) throws(SignInFailure) -> JSONNode {
      guard let answer, !answer.isUnavailable else {
        throw .providerUnavailable
      }
      guard answer.status == 200, let json = JSONNode(answer.body), json.isObject else {
        throw .providerRefused
      }
      return json
    }

    /// Errors come with status 200.
    private func accessToken(_ json: JSONNode) throws(SignInFailure) -> String {
      guard json.member("error") == nil, let token = json["access_token"]?.string,
        token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }), (1...1024).contains(token.utf8.count)
      else { throw .providerRefused }
      return token
    }

    /// The account is bound to the number: a login can be renamed, and then taken by another person.
    private func person(_ json: JSONNode) throws(SignInFailure) -> ProviderPerson {
      guard let id = json["id"]?.integer, id > 0, let login = json["login"]?.string else {
        throw .providerRefused
      }
      return ProviderPerson(
        binding: ProviderBinding(issuer: provider.issuer, subject: String(id)), login: login,
        name: json["name"]?.string,
        picture: PictureAddress.admitted(
          json["avatar_url"]?.string, of: [provider.baseURL, provider.apiURL]))
    }
  }

  /// Asks whether the person has revoked what they have granted, and whether they still belong to the
  /// organization (https://docs.github.com/en/rest/apps/oauth-applications#check-a-token).
  struct Confirmation: ProviderExchange {
    private enum Asked {
      case nothing, token, membership
    }

    let provider: GitHubProvider
    let token: String
    private var asked = Asked.nothing

    init(provider: GitHubProvider, token: String) {
      self.provider = provider
      self.token = token
    }

    mutating func next(_ answer: ProviderAnswer?) -> ProviderStep {
      do throws(SignInFailure) {
        switch asked {
        case .nothing:
          asked = .token
          return .request(tokenRequest)
        case .token:
          guard try isGranted(answer) else {
            return .finished(.gone("GitHub says that they have revoked what they had granted"))
          }
          if provider.organization.isEmpty { return .finished(.confirmed) }
          asked = .membership
          return .request(provider.membershipRequest(by: token))
        case .membership:
          return .finished(
            try provider.isMember(answer)
              ? .confirmed
              : .gone("GitHub says that they are no member of \(provider.organization)"))
        }
      } catch {
        return .failed(error)
      }
    }

    private var tokenRequest: ProviderRequest {
      ProviderRequest(
        url: "\(provider.apiURL)/applications/\(FormText.escaped(provider.clientID))/token",
        headers: GitHubProvider.headers + ["Content-Type: application/json"],
        content: String(
          decoding: JSONText.object([("access_token", .text(token))]).bytes, as: UTF8.self),
        basic: "\(provider.clientID):\(provider.clientSecret)")
    }

    /// Only 404 says so: 401 is about the relay's own credentials.
    private func isGranted(_ answer: ProviderAnswer?) throws(SignInFailure) -> Bool {
      guard let answer, !answer.isUnavailable else { throw .providerUnavailable }
      switch answer.status {
      case 200 where JSONNode(answer.body)?.isObject == true: return true
      case 404 where answer.isProblem: return false
      default: throw .providerRefused
      }
    }
  }
}

extension ProviderAnswer {
  /// Whether it is an error in GitHub's form, and not that of a proxy or of another service.
  fileprivate var isProblem: Bool { JSONNode(body)?["message"]?.string != nil }
}
