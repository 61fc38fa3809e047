package import WebSocket

/// The resources that all links of one event loop share: the read buffer, zlib's streams, the
/// random number generator. Idle links keep almost no memory of their own.
package final class LinkResources {
  private var input = LinkInput(bytes: Link.readBytes)
  private var scratch: [UInt8] = []
  /// Allocated when a server first agrees to compression.
  package let deflateStreams = DeflateStreams()
  package var random = SystemRandomNumberGenerator()

  package init() {}

  /// Takes the read buffer out while its content is passed to a handler.
  package func borrowInput() -> LinkInput {
    var borrowed = LinkInput(bytes: 0)
    swap(&borrowed, &input)
    return borrowed
  }

  package func returnInput(_ borrowed: consuming LinkInput) {
    input = borrowed
    input.forgetMessage()
  }

  /// Lends an empty buffer, in which a message can be encoded.
  package func withScratch(_ body: (inout [UInt8]) -> Void) {
    scratch.removeAll(keepingCapacity: true)
    body(&scratch)
  }

  func maskKey() -> UInt32 { random.next() }

  /// Returns the nonce of an opening handshake.
  package func nonce() -> [UInt8] {
    (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
  }
}
