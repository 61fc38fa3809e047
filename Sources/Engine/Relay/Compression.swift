/// How one loop makes long messages smaller, for the connections that have agreed to it.
///
/// As with ``Framing``, nothing of it depends on the recipient: no context is kept from one message
/// to the next, so that an entry is compressed once for all who get it, and an idle connection keeps
/// nothing. Used on the loop's thread alone.
public struct Compression {
  /// Messages of fewer bytes go as they are.
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
