/// One way to break the rules, or to lean on those that there are.
public enum HostileAct: String, CaseIterable, Sendable {
  /// An opening handshake that never ends.
  case halfHandshake = "half handshakes"
  /// Random bytes, instead of a handshake or after it.
  case garbage
  /// A client's frames must be masked (RFC 6455 §5.1).
  case unmasked = "unmasked frames"
  /// A header that promises 2^62 bytes.
  case oversized = "oversized lengths"
  /// Text that is none (RFC 6455 §8.1).
  case invalidUTF8 = "invalid UTF-8"
  /// Hundreds of messages that are no JSON.
  case invalidJSON = "invalid JSON floods"
  /// A thousand pings of the longest payload.
  case pings = "ping floods"
  /// Asks for a room's history again and again, and reads none of it.
  case neverReads = "readers that never read"
  /// A reset within a frame.
  case reset = "resets within a frame"
  /// An opcode that the RFC reserves (RFC 6455 §5.2).
  case reservedOpcode = "reserved opcodes"
}
