/// Writes the headers of the frames that carry messages.
///
/// Messages from a server are not masked (RFC 6455 §5.1), so a frame depends only on its message,
/// and one encoding serves all recipients. This module does not know WebSocket: the caller supplies
/// the function that writes the header.
public struct Framing: Sendable {
  /// Appends the header of a frame with a payload of `payloadBytes` bytes.
  public var appendHeader: @Sendable (_ payloadBytes: Int, _ frames: inout [UInt8]) -> Void

  public init(appendHeader: @escaping @Sendable (Int, inout [UInt8]) -> Void) {
    self.appendHeader = appendHeader
  }
}
