import Relay
import TestSupport
import Testing
import WebSocket

@testable import Gateway
@testable import Server

@Suite struct `The resources of operators` {
  static let adminToken = "the token of administrators, which no one guesses"
  static let metricsToken = "a token of 16 or more bytes"
  static let restricted = RequestRouter.resourcesWithAccounts.filter {
    if case .everyone = $0.access { false } else { true }
  }
  static let administrative = restricted.filter {
    if case .operators = $0.access { true } else { false }
  }

  @Test func `are these, and each one is tested`() {
    #expect(
      Set(Self.administrative.map { "\($0.methods[0]) /\($0.pattern.joined(separator: "/"))" }) == [
        "GET /v1/connections", "GET /v1/samples", "DELETE /v1/connections/{connection}",
        "GET /v1/accounts",
        "PATCH /v1/accounts/{user}", "DELETE /v1/accounts/{user}/sessions",
        "DELETE /v1/accounts/{user}/sessions/{id}", "GET /v1/traces/{trace}",
      ])
  }

  @Test(arguments: restricted, [ServerConnection.Peer.client, .proxy])
  func `need credentials, also where the request comes from this machine`(
    resource: RequestRouter.Resource, peer: ServerConnection.Peer
  ) throws {
    for host in ["localhost", "127.0.0.1", "[::1]"] {
      #expect(try status(resource, from: peer, host: host) == 401)
    }
    #expect(try status(resource, "X-Forwarded-For: 127.0.0.1", from: peer) == 401)
    #expect(try status(resource, from: peer, by: Self.open) == 401)
  }

  @Test(arguments: administrative)
  func `are for operators, and for no other user`(resource: RequestRouter.Resource) throws {
    #expect(try status(resource, from: .operator) == 200)
    #expect(try status(resource, bearer(Self.adminToken)) == 200)
    #expect(try status(resource, bearer(Self.adminToken), by: Self.open) == 200)
    #expect(try status(resource, bearer(SignedToken.make(#"{"sub":"ada"}"#))) == 200)
    #expect(try status(resource, bearer(SignedToken.make(#"{"sub":"bo"}"#))) == 403)
    #expect(
      try status(resource, bearer(SignedToken.make(#"{"sub":"bo"}"#)), from: .operator) == 403)
    #expect(try status(resource, query: "?user=ada", by: Self.open) == 403)
    #expect(try status(resource, bearer(Self.metricsToken)) == 401)
    #expect(try status(resource, bearer(Self.adminToken + "x")) == 401)
    #expect(try status(resource, bearer(String(Self.adminToken.dropLast()))) == 401)
    #expect(try status(resource, query: "?token=\(Self.adminToken.filter { $0 != " " })") == 401)
  }

  @Test(arguments: administrative)
  func `are not for a page of another site`(resource: RequestRouter.Resource) throws {
    let origin = "Origin: https://other.example"
    #expect(try status(resource, bearer(Self.adminToken), origin) == 403)
  }

  @Test func `the token for administration is no user's, and reads the metrics and traces`() throws
  {
    let statuses = try Self.restricted.map { resource in
      ("\(resource.access)", try status(resource, bearer(Self.adminToken)))
    }
    #expect(
      statuses.allSatisfy { access, status in
        status == (access.hasPrefix("users") && access != "usersOrOperators" ? 401 : 200)
      })
    #expect(
      Set(statuses.map(\.0)) == [
        "metrics", "operators", "users", "usersOrLinks", "usersOrOperators",
      ])
  }

  @Test func `without a token in the configuration no token is the one for administration`() throws
  {
    let resource = try #require(Self.administrative.first)
    #expect(try status(resource, bearer(""), adminToken: "") == 401)
  }

  private static let open = Authenticator(verify: nil, botUsers: [])
  private static let byToken = Authenticator(
    verifier: TokenVerifier(key: TokenKey(secret: SignedToken.secret), reserved: []), botUsers: [],
    operators: ["ada"])

  private func bearer(_ token: String) -> String { "Authorization: Bearer \(token)" }

  private func status(
    _ resource: RequestRouter.Resource, _ fields: String..., query: String = "",
    from peer: ServerConnection.Peer = .client, host: String = "localhost",
    by authenticator: Authenticator = byToken, adminToken: String = Self.adminToken
  ) throws -> Int {
    let trace = String(repeating: "1", count: 32)
    let path = resource.pattern
      .map { $0 == "{trace}" ? trace[...] : $0.hasPrefix("{") ? "1" : $0 }
      .joined(separator: "/")
    var fields = fields + ["Host: \(host)"]
    if ["POST", "PATCH"].contains(resource.methods[0]) {
      fields += ["Content-Type: application/json", "Content-Length: 2"]
    }
    let lines = fields.map { "\($0)\r\n" }.joined()
    let text = Array("\(resource.methods[0]) /\(path)\(query) HTTP/1.1\r\n\(lines)\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    var router = RequestRouter(origins: [], requiresLoopbackHost: false)
    router.servesAccounts = true
    router.metricsToken = Self.metricsToken
    router.adminToken = adminToken
    let route = router.route(
      request, from: peer, isOperator: authenticator.isOperator,
      identify: { authenticator.identify(request, wall: 1_763_650_000_000) })
    switch route {
    case .call: return 200
    case .answer(let response), .refuse(let response, _): return response.status
    case .webSocket, .echo: throw Unexpected("a WebSocket")
    }
  }
}
