import Testing
import WebSocket

@testable import Gateway

@Suite struct `The client of a request that came through proxies` {
  /// Addresses are 1 to 99; those from 90 on are trusted proxies.
  private let chain = ProxyChain { text in
    UInt64(text).map { number in
      ProxyChain.Hop(
        host: HostKey(network: number, isIPv6: false), isTrusted: number >= 90)
    }
  }

  private func client(_ fields: [String]) throws -> HostKey {
    let lines = fields.map { "\($0)\r\n" }.joined()
    let text = Array("GET / HTTP/1.1\r\nHost: relay.example\r\n\(lines)\r\n".utf8)
    return chain.client(
      of: try #require(try HTTPRequest.read(text.span, headerLimitBytes: 0)).request)
  }

  @Test(
    arguments: [
      (["X-Forwarded-For: 7"], 7),
      (["X-Forwarded-For: 1, 7"], 7),
      (["X-Forwarded-For: 1, 7, 91"], 7),
      (["X-Forwarded-For: 1", "X-Forwarded-For: 7", "x-forwarded-for: 92, 91"], 7),
      (["X-Forwarded-For: 93, 92"], 93),
      (["X-Forwarded-For: 7:4711"], 7),
      (["X-Forwarded-For: [7]:4711"], 7),
      (["Forwarded: for=7"], 7),
      (["Forwarded: for=1;proto=http, For=\"[7]:4711\";by=91"], 7),
      (["Forwarded: for=1", "Forwarded: proto=https; for = 7 , for=91"], 7),
      (["Forwarded: for=\"1,7\";by=\"a,b;c\", for=7"], 7),
      (["Forwarded: for=7", "X-Forwarded-For: 1, 7"], 7),
    ] as [([String], UInt64)])
  func `is the last hop that is no trusted proxy`(fields: [String], number: UInt64) throws {
    #expect(try client(fields) == HostKey(network: number, isIPv6: false))
  }

  /// A proxy passes on a field that it does not know, as the client has written it.
  @Test(arguments: [
    ["Forwarded: for=1", "X-Forwarded-For: 7"], ["Forwarded: for=unknown", "X-Forwarded-For: 7"],
  ])
  func `is not believed where two fields disagree`(fields: [String]) throws {
    #expect(try client(fields) == ProxyChain.unnamed)
  }

  @Test(
    arguments: [
      [], ["X-Forwarded-For: "], ["X-Forwarded-For: 1, unknown"], ["Forwarded: for=_hidden"],
      ["Forwarded: by=7"], ["Forwarded: for=1, proto=https"],
    ] as [[String]])
  func `is one that is not named, if the last hop is not`(fields: [String]) throws {
    #expect(try client(fields) == ProxyChain.unnamed)
  }
}
