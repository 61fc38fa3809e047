/// The zlib streams that all connections of one thread share, allocated on demand.
///
/// A connection without context has none of its own. Confined to its thread.
public final class DeflateStreams {
  /// For input, from peers with any window.
  public let inflater = Inflater()
  /// The compressor with the largest window, which most peers accept.
  public let widestDeflater: Deflater
  private let level: Int
  /// By window bits, from 9 on.
  private var deflaters = [Deflater?](repeating: nil, count: 7)

  /// Allocates nothing yet.
  /// - Parameter level: of zlib, 1 (fast) to 9 (small).
  public init(level: Int = 6) {
    self.level = level
    widestDeflater = Deflater(level: level)
    deflaters[widestDeflater.windowBits - 9] = widestDeflater
  }

  /// Returns the compressor with the largest window that fits a peer's; `nil` for 8, with which
  /// zlib cannot compress.
  /// - Parameter windowBits: 8 to 15.
  public func deflater(windowBits: Int = 15) -> Deflater? {
    precondition(8...15 ~= windowBits, "RFC 7692 §7.1.2: a window has 8 to 15 bits")
    guard windowBits > 8 else { return nil }
    if let deflater = deflaters[windowBits - 9] { return deflater }
    let deflater = Deflater(windowBits: windowBits, level: level)
    deflaters[windowBits - 9] = deflater
    return deflater
  }
}
