import Logging
import Platform
import Relay
import RelayConfiguration
import Testing
import Wire

@testable import Gateway
@testable import Server

/// Tokens whose keys are at a URL that takes connections and never answers.
@Suite struct `Tokens that wait for keys` {
  private let provider: Provider
  private let authority: TokenAuthority
  private let mailbox: Mailbox<LoopMessage>
  private let token: String

  /// Keeps its port for as long as the test.
  private final class Provider: Sendable {
    let listener: Listener
    init() throws { listener = try Listener.claim(Address("127.0.0.1:0")) }
  }

  init() throws {
    provider = try Provider()
    var configuration = Configuration()
    configuration.auth.mode = .jwt
    configuration.auth.jwks = "http://\(provider.listener.address)/keys"
    authority = try TokenAuthority(configuration, logger: Logger(label: "test"))
    mailbox = try Mailbox()
    token = try SignedToken.make(#"{"sub":"ada"}"#, headers: #"{"kid":"x"}"#)
  }

  private func ask(_ count: Int) {
    for serial in 0..<count {
      authority.verify(
        token, for: .request(ExchangeID(loop: 0, stream: 0, serial: UInt64(serial))),
        answering: mailbox)
    }
  }

  /// The texts of the errors that have come.
  private func answers() -> [String] {
    var messages: [LoopMessage] = []
    mailbox.drain(into: &messages)
    return messages.compactMap {
      guard case .verified(.failure(let error), _) = $0, error.code == .unavailable,
        error.retryAfterMilliseconds != nil
      else { return nil }
      return error.message
    }
  }

  @Test func `are a limited number, and those beyond it are told to retry`() throws {
    try authority.start { _ in }
    #expect(try authority.verify(token, wall: 0) == nil)
    ask(TokenAuthority.waitingLimit + 10)
    let refused = answers()
    #expect(refused.count == 10)
    #expect(refused.allSatisfy { $0.contains("Too many clients wait") })
    authority.stop()
    let stopped = answers()
    #expect(stopped.count == TokenAuthority.waitingLimit)
    #expect(stopped.allSatisfy { $0.contains("could not be fetched") })
  }

  @Test func `are answered also if they come before the first fetch, or after the last one`() throws
  {
    ask(1)
    #expect(answers().count == 1, "there is no place to ask yet")
    try authority.start { _ in }
    ask(2)
    authority.stop()
    #expect(answers().count == 2)
    ask(1)
    #expect(answers().count == 1)
  }
}
