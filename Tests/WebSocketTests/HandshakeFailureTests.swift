import Testing
import WebSocket

@Suite struct `Handshake failures` {
  @Test func `each has its own text, and a refusal repeats the server's answer`() {
    let all: [HandshakeFailure] = [
      .malformed(.statusLineMalformed), .refused(status: 503, body: ""),
      .refused(status: 400, body: "No such room."), .upgradeMissing, .connectionMissing,
      .acceptMismatch, .extensionUnexpected, .subprotocolUnexpected,
      .extensionMalformed, .deflateInvalid(.unknown),
      .deflateInvalid(.duplicate(.serverMaxWindowBits)),
      .deflateInvalid(.badValue(.clientMaxWindowBits)),
      .deflateInvalid(.notOffered(.clientMaxWindowBits)),
      .deflateInvalid(.missing(.serverNoContextTakeover)),
    ]
    #expect(Set(all.map(\.description)).count == all.count)
    #expect(all[2].description == "The server responded with status 400: No such room.")
  }
}
