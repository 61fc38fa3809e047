import ShardWorld
import Testing
import Wire

@testable import Relay

@Suite struct `A rule for tokens that changes` {
  /// Tokens in these tests are plain text: `user|key|issuer|audience|iat`.
  private func relay() -> SimulatedRelay {
    SimulatedRelay {
      unlimited(&$0)
      $0.verifyToken = { token, _ throws(WireError) in
        let parts = token.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        return Identity(
          user: parts[0],
          issuance: Issuance(
            origin: TokenOrigin(
              key: Array(parts[1].utf8), issuer: Array(parts[2].utf8),
              audiences: [Array(parts[3].utf8)], userClaim: "sub"),
            time: Int64(parts[4]).map { $0 * 1000 } ?? Issuance.unknownTime))
      }
    }
  }

  private func client(_ relay: SimulatedRelay, _ token: String) -> SimulatedSocket {
    let socket = relay.connect(nil)
    socket.send(.auth(token: token))
    relay.run()
    _ = socket.take()
    return socket
  }

  private func rule(_ configure: (inout TokenRule) -> Void = { _ in }) -> TokenRule {
    var rule = TokenRule()
    rule.keys = [Array("k".utf8), Array("l".utf8)]
    configure(&rule)
    return rule
  }

  private static let tokens = ["ada|k|i|a|100", "ada|l|i|a|200", "bo|k|j|b|100", "cy|k|i|a|"]

  private static let changes: [(ended: [Int], configure: @Sendable (inout TokenRule) -> Void)] = [
    ([], { _ in }), ([1], { $0.keys = [Array("k".utf8)] }),
    ([0, 2, 3], { $0.keys = [Array("l".utf8)] }), ([2], { $0.issuer = Array("i".utf8) }),
    ([0, 1, 3], { $0.audience = Array("b".utf8) }), ([0], { $0.notBefore = ["ada": 200_000] }),
    ([0, 1, 3], { $0.notBefore = ["ada": 201_000, "cy": 0] }),
    ([0, 1, 2, 3], { $0.userClaim = "email" }),
  ]

  @Test(arguments: changes.indices)
  func `ends exactly the sessions whose token it refuses`(change: Int) {
    let (ended, configure) = Self.changes[change]
    let relay = relay()
    let clients = Self.tokens.map { client(relay, $0) }
    relay.shard { $0.apply(rule()) }
    relay.run()
    #expect(clients.allSatisfy { $0.closeCode == nil })
    relay.shard { $0.apply(rule(configure)) }
    relay.run()
    for (index, client) in clients.enumerated() {
      #expect(client.closeCode == (ended.contains(index) ? 4401 : nil), "\(Self.tokens[index])")
      #expect(client.take().errors.map(\.code) == (ended.contains(index) ? [.unauthorized] : []))
    }
  }

  /// An HTTP request may take its time between its head and its session.
  @Test func `holds for identities that were proven before`() {
    let relay = relay()
    relay.shard { $0.apply(rule { $0.keys = [Array("l".utf8)] }) }
    let (late, good) = (relay.connect(nil), relay.connect(nil))
    late.send(.auth(token: "ada|k|i|a|1"))
    good.send(.auth(token: "ada|l|i|a|1"))
    relay.run()
    #expect(late.closeCode == 4401)
    #expect(good.closeCode == nil)
  }

  @Test func `is about tokens only`() {
    let relay = SimulatedRelay { unlimited(&$0) }
    let ada = relay.connect("ada")
    relay.shard { $0.apply(TokenRule()) }
    relay.run()
    #expect(ada.closeCode == nil)
  }

  @Test func `applies to the token of a renewal, not to the one before`() {
    let relay = relay()
    let ada = client(relay, "ada|k|i|a|100")
    ada.send(.auth(token: "ada|l|i|a|100"))
    relay.run()
    relay.shard { $0.apply(rule { $0.keys = [Array("l".utf8)] }) }
    relay.run()
    #expect(ada.closeCode == nil)
  }

  @Test func `keys that cannot be had now are no reason to give up`() {
    let relay = SimulatedRelay {
      unlimited(&$0)
      $0.verifyToken = { _, _ throws(WireError) in throw WireError(.unavailable, "No keys yet.") }
    }
    let ada = relay.connect(nil)
    ada.send(.auth(token: "x"))
    relay.run()
    #expect(ada.take().errors.map(\.code) == [.unavailable])
    #expect(ada.closeCode == 1013)
  }
}
