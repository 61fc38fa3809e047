/// How a message is wrapped for the connections that carry it.
///
/// What a server sends is not masked (RFC 6455 §5.1), so that a frame depends on its message alone
/// and one encoding serves every recipient. The relay itself does not know WebSocket: the frame's
/// header is written by what is passed in here.
public struct Framing: Sendable {
  /// Appends the header of a frame whose payload has so many bytes.
  public var appendHeader: @Sendable (_ payloadBytes: Int, _ frames: inout [UInt8]) -> Void

  public init(appendHeader: @escaping @Sendable (Int, inout [UInt8]) -> Void) {
    self.appendHeader = appendHeader
  }
}
