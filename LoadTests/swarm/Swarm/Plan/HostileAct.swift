/// An attack of a hostile client: a protocol violation or excessive load.
public enum HostileAct: String, CaseIterable, Sendable {
  /// An opening handshake that never ends.
  case halfHandshake = "half handshakes"
  /// Random bytes, instead of a handshake or after it.
  case garbage
  /// Unmasked frames; a client's frames must be masked (RFC 6455 §5.1).
  case unmasked = "unmasked frames"
  /// A header that announces 2^62 bytes.
  case oversized = "oversized lengths"
  /// Text that is not UTF-8 (RFC 6455 §8.1).
  case invalidUTF8 = "invalid UTF-8"
  /// Hundreds of messages that are not JSON.
  case invalidJSON = "invalid JSON floods"
  /// A thousand pings with the longest payload.
  case pings = "ping floods"
  /// Requests a room's history repeatedly and reads none of it.
  case neverReads = "readers that never read"
  /// A reset within a frame.
  case reset = "resets within a frame"
  /// A reserved opcode (RFC 6455 §5.2).
  case reservedOpcode = "reserved opcodes"
}
