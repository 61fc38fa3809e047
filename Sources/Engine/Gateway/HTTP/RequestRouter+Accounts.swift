import Accounts
import WebSocket

/// The HTTP resources of a relay with accounts.
extension RequestRouter {
  static let accountResources = [
    Resource("POST", "/v1/invites", for: .usersOrOperators) { request, _ in
      .account(.invite, request)
    },
    Resource("GET", "/v1/invites", for: .usersOrOperators) { request, _ in
      .account(.invitations, request)
    },
    Resource("DELETE", "/v1/invites/{id}", for: .usersOrOperators) {
      .account(.removeInvitation(id: $1[0]), $0)
    },
    Resource("GET", "/v1/invites/{code}", for: .everyone) {
      .account(.showInvitation(code: $1[0]), $0)
    },
    Resource("POST", "/v1/invites/{code}", for: .everyone) {
      .account(.openInvitation(code: $1[0]), $0)
    },
    Resource("POST", "/v1/device", for: .everyone) { request, _ in .account(.startDevice, request)
    },
    Resource("POST", "/v1/device/token", for: .everyone, content: .form) { request, _ in
      .account(.pollDevice, request)
    },
    Resource("GET", "/v1/device/{code}") { .account(.showDevice(code: $1[0]), $0) },
    Resource("POST", "/v1/device/{code}") { .account(.decideDevice(code: $1[0]), $0) },
    Resource("GET", "/v1/sessions") { request, _ in .account(.sessions, request) },
    Resource("DELETE", "/v1/sessions/{id}") { .account(.endSession(id: $1[0]), $0) },
    Resource("GET", "/v1/accounts", for: .operators) { request, _ in
      .accounts(.list(after: request.query("after") ?? ""))
    },
    Resource("PATCH", "/v1/accounts/{user}", for: .operators) { .accounts(.change(user: $1[0])) },
    Resource("DELETE", "/v1/accounts/{user}/sessions", for: .operators) {
      .accounts(.endSessions(of: $1[0]))
    },
    Resource("DELETE", "/v1/accounts/{user}/sessions/{id}", for: .operators) {
      .accounts(.endSession($1[1], of: $1[0]))
    },
    Resource("GET", "/v1/me") { request, _ in .account(.profile, request) },
    Resource("PATCH", "/v1/me") { request, _ in .account(.rename, request) },
    Resource("GET", "/sign-in/{method}", for: .everyone) {
      .account(.beginSignIn(method: $1[0], returnPath: $0.query("return") ?? "/"), $0)
    },
    Resource("GET", "/sign-in/{method}/callback", for: .everyone) {
      let answer = AccountCall.ProviderReturn(
        state: $0.query("state") ?? "", code: $0.query("code"), error: $0.query("error"),
        issuer: $0.query("iss"))
      return .account(.finishSignIn(method: $1[0], answer), $0)
    },
  ]

  /// Returns the path of the file for a path: the web page shows an invitation, and the confirmation of
  /// a device's code, at paths of their own.
  func page(at path: Substring) -> Substring {
    guard servesAccounts else { return path }
    let isPage =
      path == "/sign-in/device"
      || path.hasPrefix("/join/") && !path.dropFirst("/join/".count).contains("/")
    return isPage ? "/join/" : path
  }
}
