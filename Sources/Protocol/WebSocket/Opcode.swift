/// The type of a frame (RFC 6455 §5.2). The values that the RFC reserves have no case.
public enum Opcode: UInt8, Sendable {
  /// A further fragment of a message.
  case continuation = 0x0
  /// A message of UTF-8 text, or its first fragment.
  case text = 0x1
  /// A message of bytes, or its first fragment.
  case binary = 0x2
  /// The last frame of its sender.
  case close = 0x8
  /// A request for a pong with the same payload.
  case ping = 0x9
  /// An answer to a ping, or an unsolicited heartbeat.
  case pong = 0xA

  /// Whether the frame is a control frame: unfragmented, at most 125 bytes, and allowed between the
  /// fragments of a message (RFC 6455 §5.5).
  public var isControl: Bool { rawValue >= 0x8 }
}
