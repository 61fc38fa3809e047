import TLS
import TestSupport

/// A client and a server between which a test carries the ciphertext.
final class Pair {
  var client: TLSSession
  var server: TLSSession
  /// Ciphertext on its way.
  var toServer: [UInt8] = []
  var toClient: [UInt8] = []

  /// Makes certificates, and the contexts of a server with one of them and of a client that trusts it.
  static func contexts() throws -> (Certificates, server: TLSContext, client: TLSContext) {
    let certificates = try Certificates()
    return (
      certificates,
      try TLSContext(certificate: certificates["server.pem"], key: certificates["server.key"]),
      try TLSContext(trusting: .authorities(file: certificates.authority))
    )
  }

  init(
    _ server: TLSContext, _ client: TLSContext, host: String = "localhost",
    resuming ticket: TLSTicket? = nil
  ) {
    self.client = TLSSession.of(client, host: host, resuming: ticket)
    self.server = TLSSession.of(server)
    self.client.begin(output: &toServer)
  }

  var isResumed: Bool { client.isResumed && server.isResumed }
  var ticket: TLSTicket? { client.ticket }

  /// Carries all pending ciphertext, in pieces of `size`, and returns the plaintext that came out
  /// of it on either side.
  @discardableResult
  func carry(by size: Int = 4096) -> (atServer: [UInt8], atClient: [UInt8]) {
    var result: (atServer: [UInt8], atClient: [UInt8]) = ([], [])
    while !toServer.isEmpty || !toClient.isEmpty {
      let (up, down) = (toServer, toClient)
      (toServer, toClient) = ([], [])
      for start in stride(from: 0, to: up.count, by: size) {
        result.atServer += server.receive(
          up[start..<min(start + size, up.count)], answer: &toClient)
      }
      for start in stride(from: 0, to: down.count, by: size) {
        result.atClient += client.receive(
          down[start..<min(start + size, down.count)], answer: &toServer)
      }
    }
    return result
  }
}

extension TLSSession {
  /// The plaintext of some ciphertext.
  mutating func receive(_ ciphertext: ArraySlice<UInt8>, answer: inout [UInt8]) -> [UInt8] {
    var buffer = [UInt8](repeating: 0xAA, count: TLSSession.headroomBytes) + ciphertext
    let range = TLSSession.headroomBytes..<buffer.count
    var span = buffer.mutableSpan
    let count = receive(in: &span, ciphertext: range, output: &answer)
    return Array(buffer[..<count])
  }

  /// All of it, in as many records as it takes.
  mutating func sendAll(_ plaintext: [UInt8], output: inout [UInt8]) -> Int {
    var sent = 0
    while sent < plaintext.count {
      let count = send(plaintext.span.extracting(sent...), output: &output)
      if count == 0 { break }
      sent += count
    }
    return sent
  }
}

extension TLSSession {
  static func of(_ server: TLSContext) -> TLSSession {
    guard let session = TLSSession(server: server) else { preconditionFailure("no memory") }
    return session
  }

  static func of(_ client: TLSContext, host: String, resuming ticket: TLSTicket?) -> TLSSession {
    guard let session = TLSSession(client: client, host: host, resuming: ticket) else {
      preconditionFailure("no memory")
    }
    return session
  }
}
