/// The compression of long messages in one loop, for connections that have negotiated it.
///
/// As with ``Framing``, the result does not depend on the recipient: no context is kept between
/// messages. So an entry is compressed once for all its recipients, and an idle connection needs no
/// memory for it. Used on the loop's thread only.
public struct Compression {
  /// Shorter messages are not compressed.
  public var minimumBytes: Int
  /// Appends a message as one frame, compressed if that makes it smaller.
  public var append: (_ payload: Span<UInt8>, _ frames: inout [UInt8]) -> Void

  public init(
    minimumBytes: Int, append: @escaping (_ payload: Span<UInt8>, _ frames: inout [UInt8]) -> Void
  ) {
    self.minimumBytes = minimumBytes
    self.append = append
  }
}
