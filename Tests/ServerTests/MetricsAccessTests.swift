import Logging
import RelayConfiguration
import TestSupport
import Testing
import WebSocket

@testable import Gateway
@testable import Server

@Suite struct `The metrics` {
  static let token = "a token of 16 or more bytes"

  @Test(arguments: [ServerConnection.Peer.client, .proxy])
  func `need credentials, wherever the request comes from`(peer: ServerConnection.Peer) throws {
    #expect(try status(from: peer) == 401)
    #expect(try status("X-Request-ID: 7", "Accept: text/plain", from: peer) == 401)
  }

  @Test func `are for the operator's socket`() throws {
    #expect(try status(from: .operator) == 200)
    #expect(try status("Host: anything", from: .operator, host: nil) == 200)
  }

  @Test func `are for an operator's token, and for no other`() throws {
    let ada = "Authorization: Bearer \(try SignedToken.make(#"{"sub":"ada"}"#))"
    let bo = "Authorization: Bearer \(try SignedToken.make(#"{"sub":"bo"}"#))"
    #expect(try status(ada) == 200)
    #expect(try status(ada, "X-Forwarded-For: 203.0.113.7") == 200)
    #expect(try status(bo) == 403)
    #expect(try status("Authorization: Bearer x") == 401)
  }

  @Test func `are for the token in the configuration, also in open mode`() throws {
    let open = Authenticator(verify: nil, botUsers: [])
    for authenticator in [authenticator, open] {
      #expect(try status("Authorization: Bearer \(Self.token)", by: authenticator) == 200)
      for wrong in ["", "x", String(Self.token.dropLast()), Self.token + "x"] {
        #expect(try status("Authorization: Bearer \(wrong)", by: authenticator) == 401)
      }
    }
    #expect(try status("Authorization: Bearer ", by: open, token: "") == 401)
    #expect(try status(by: open, token: "") == 401)
  }

  @Test func `are refused to a user that is no longer an operator`() throws {
    var configuration = Configuration()
    try withServer(
      secret: SignedToken.secret,
      configure: {
        $0.auth.operators = ["ada"]
        configuration = $0
      }
    ) { server in
      let token = try SignedToken.make(#"{"sub":"ada"}"#)
      func answer() throws -> String {
        let client = try HTTPClient(server)
        try client.send(
          "GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 203.0.113.7\r\n"
            + "Authorization: Bearer \(token)\r\n\r\n")
        return String(try client.receive().prefix(12))
      }
      #expect(try answer() == "HTTP/1.1 200")
      configuration.auth.operators = ["bo"]
      server.reload(configuration, changed: [], changedSinceStart: [])
      #expect(try answer() == "HTTP/1.1 403")
    }
  }

  private let authenticator = Authenticator(
    verifier: TokenVerifier(key: TokenKey(secret: SignedToken.secret), reserved: []), botUsers: [],
    operators: ["ada"])

  private func status(
    _ fields: String..., from peer: ServerConnection.Peer = .client, host: String? = "localhost",
    by authenticator: Authenticator? = nil, token: String = Self.token
  ) throws -> Int {
    let authenticator = authenticator ?? self.authenticator
    let lines = ((host.map { ["Host: \($0)"] } ?? []) + fields).map { "\($0)\r\n" }.joined()
    let text = Array("GET /metrics HTTP/1.1\r\n\(lines)\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    var router = RequestRouter(origins: [], requiresLoopbackHost: false)
    router.metricsToken = token
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
