import Logging
import RelayConfiguration
import TestSupport
import Testing
import WebSocket

@testable import Gateway
@testable import Server

@Suite struct `The metrics` {
  @Test(arguments: [
    "Forwarded: for=203.0.113.7", "Via: 1.1 proxy", "X-Forwarded-For: 203.0.113.7",
    "x-forwarded-proto: https", "X-Real-IP: 127.0.0.1", "CF-Connecting-IP: 203.0.113.7",
  ])
  func `are refused to clients behind a proxy on this machine`(field: String) throws {
    #expect(try status(field) == 401)
  }

  @Test func `are for this machine, and for others with a token`() throws {
    #expect(try status() == 200)
    #expect(try status("X-Request-ID: 7", "Accept: text/plain") == 200)
    #expect(try status(isLocal: false) == 401)
  }

  @Test func `are for an operator's token from anywhere, and for no other`() throws {
    let ada = "Authorization: Bearer \(try SignedToken.make(#"{"sub":"ada"}"#))"
    let bo = "Authorization: Bearer \(try SignedToken.make(#"{"sub":"bo"}"#))"
    #expect(try status(ada, isLocal: false) == 200)
    #expect(try status(ada, "X-Forwarded-For: 203.0.113.7") == 200)
    #expect(try status(bo, isLocal: false) == 403)
    #expect(try status(bo, "X-Forwarded-For: 203.0.113.7") == 403)
    // Without it they would be allowed as well.
    #expect(try status(bo) == 200)
    #expect(try status("Authorization: Bearer x", isLocal: false) == 401)
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
      server.reload(configuration)
      #expect(try answer() == "HTTP/1.1 403")
    }
  }

  private let authenticator = Authenticator(
    verifier: TokenVerifier(key: TokenKey(secret: SignedToken.secret), reserved: []), botUsers: [],
    operators: ["ada"])

  private func status(_ fields: String..., isLocal: Bool = true) throws -> Int {
    let lines = fields.map { "\($0)\r\n" }.joined()
    let text = Array("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n".utf8)
    let (request, _) = try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0))
    let router = RequestRouter(origins: [], requiresLoopbackHost: false)
    let route = router.route(
      request, isLocal: isLocal, isOperator: authenticator.isOperator,
      identify: { authenticator.identify(request, wall: 1_763_650_000_000) })
    switch route {
    case .call: return 200
    case .answer(let response), .unauthorized(let response), .refuse(let response, _):
      return response.status
    case .webSocket, .echo: throw Unexpected("a WebSocket")
    }
  }
}
