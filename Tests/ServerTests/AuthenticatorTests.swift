import Relay
import Testing
import WebSocket
import Wire

@testable import Gateway
@testable import Server

@Suite struct `The user of a request` {
  static let wall: Int64 = 1_763_650_000_000
  private let byToken = Authenticator(
    verifier: TokenVerifier(key: TokenKey(secret: SignedToken.secret), reserved: ["echo"]),
    botUsers: ["echo"], banned: ["eve"])
  private let byWord = Authenticator(verifier: nil, botUsers: ["echo"], banned: ["eve"])

  private func request(_ target: String, _ headers: String...) throws -> HTTPRequest {
    let lines = headers.map { "\($0)\r\n" }.joined()
    let text = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n".utf8)
    return try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0)).request
  }

  private func token(_ user: String) throws -> String {
    try SignedToken.make(#"{"sub":"\#(user)"}"#)
  }

  /// A user, a code, or "?".
  private func outcome(_ authenticator: Authenticator, _ request: HTTPRequest) -> String {
    switch authenticator.identify(request, wall: Self.wall) {
    case .known(let identity): identity.user
    case .unknown: "?"
    case .later: "later"
    case .crossOrigin: "cross-origin"
    case .refused(let error): error.code.rawValue
    }
  }

  @Test func `a token in the header counts before one in the query`() throws {
    let (ada, bo) = (try token("ada"), try token("bo"))
    for (request, expected) in [
      (try request("/ws", "Authorization: Bearer \(ada)"), "ada"),
      (try request("/ws", "authorization: bEARER   \(ada)"), "ada"),
      (try request("/ws?token=\(bo)", "Authorization: Bearer \(ada)"), "ada"),
      (try request("/ws?token=\(bo)"), "bo"), (try request("/ws?user=cy&token=\(bo)"), "bo"),
      // A valid one does not make up for an invalid one.
      (try request("/ws?token=\(bo)", "Authorization: Bearer x"), "unauthorized"),
      (try request("/ws?token=x"), "unauthorized"), (try request("/ws?token="), "unauthorized"),
      (try request("/ws", "Authorization: Bearer "), "?"),
      (
        try request("/ws", "Authorization: Bearer \(ada)", "Authorization: Bearer \(bo)"),
        "unauthorized"
      ),
      // Credentials that a proxy in front may require.
      (try request("/ws", "Authorization: Basic YTpi"), "?"),
      (try request("/ws?token=\(bo)", "Authorization: Basic YTpi"), "bo"),
      (try request("/ws"), "?"), (try request("/ws?user=ada"), "?"),
      (try request("/ws?token=\(try token("echo"))"), "unauthorized"),
      (try request("/ws?token=\(try token("eve"))"), "forbidden"),
    ] {
      #expect(outcome(byToken, request) == expected, "\(request.target) \(request.headers)")
    }
  }

  @Test func `in open mode a name is believed, and no token is accepted`() throws {
    for (target, expected) in [
      ("/ws?user=ada", "ada"), ("/ws", "?"), ("/ws?user=Ada", "unauthorized"),
      ("/ws?user=echo", "unauthorized"), ("/ws?user=eve", "forbidden"),
      ("/ws?user=ada&token=\(try token("ada"))", "unauthorized"),
    ] {
      #expect(outcome(byWord, try request(target)) == expected)
    }
    let bearer = try request("/ws?user=ada", "Authorization: Bearer x")
    #expect(outcome(byWord, bearer) == "unauthorized")
  }

  @Test func `a banned user is refused, and admitted again when the ban is lifted`() throws {
    let request = try request("/ws?token=\(try token("ada"))")
    #expect(outcome(byToken, request) == "ada")
    byToken.ban(["ada"])
    #expect(outcome(byToken, request) == "forbidden")
    #expect(throws: WireError.banned("ada")) {
      try byToken.identify(token: try token("ada"), wall: Self.wall)
    }
    byToken.ban([])
    #expect(outcome(byToken, request) == "ada")
  }
}
