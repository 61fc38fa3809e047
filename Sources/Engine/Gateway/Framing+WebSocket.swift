package import Relay
import WebSocket

extension Framing {
  /// The frames of a server: unmasked, one per message (RFC 6455 §5.2).
  package static let webSocket = Framing { payloadBytes, frames in
    FrameHeader(opcode: .text, payloadLength: payloadBytes).append(to: &frames)
  }
}
