internal import CZlib

/// Compresses messages (RFC 7692 §7.2.1) with one zlib stream, allocated at first use.
///
/// Without context it serves any number of connections, and a message that was compressed once may
/// be sent to all whose window is large enough. Confined to one thread. When idle it keeps about
/// 256 KiB with the largest window.
@safe public final class Deflater {
  /// The base-2 logarithm of the window, 9 to 15.
  public let windowBits: Int
  /// Whether a message may refer to earlier ones; then the compressor belongs to one connection.
  public let keepsContext: Bool
  private let level: Int32
  private var stream: UnsafeMutablePointer<z_stream>?
  /// The compressed form of a message, while its frame is built.
  private var compressed: [UInt8] = []

  /// The buffer of a compressed message that is larger than this is freed.
  private static let restingBytes = 64 * 1024

  /// Allocates nothing yet.
  /// - Parameters:
  ///   - windowBits: 9 to 15: zlib does not support a raw stream with a window of 256 bytes.
  ///   - level: of zlib, 1 (fast) to 9 (small).
  public init(windowBits: Int = 15, level: Int = 6, keepsContext: Bool = false) {
    precondition(9...15 ~= windowBits, "zlib compresses with windows of 9 to 15 bits")
    precondition(1...9 ~= level, "zlib's levels are 1 to 9")
    self.windowBits = windowBits
    self.keepsContext = keepsContext
    self.level = Int32(level)
  }

  deinit {
    guard let stream = unsafe stream else { return }
    unsafe deflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Appends the compressed form of a message if it has at most `limitBytes` bytes.
  /// - Returns: false, with nothing appended, if it has more, or if there is no memory for zlib's
  ///   stream: the message then has to be sent uncompressed.
  public func deflate(_ payload: Span<UInt8>, to output: inout [UInt8], limitBytes: Int) -> Bool {
    guard limitBytes > 0, payload.count <= 1 << 30, let stream = unsafe opened() else {
      return false
    }
    let start = output.count
    // The bound is for a stream that ends; a flush needs a few more bytes. If the output fits with
    // one byte to spare it is complete (zlib manual, deflate).
    let bound = Int(unsafe deflateBound(stream, UInt(payload.count))) + 16
    let room = limitBytes < bound ? limitBytes + Self.tail.count + 1 : bound
    output.append(contentsOf: repeatElement(0, count: room))
    unsafe payload.withUnsafeBufferPointer { input in
      unsafe stream.pointee.next_in = input.baseAddress
      unsafe stream.pointee.avail_in = UInt32(input.count)
      unsafe output.withUnsafeMutableBufferPointer { buffer in
        unsafe stream.pointee.next_out = buffer.baseAddress.map { unsafe $0 + start }
        unsafe stream.pointee.avail_out = UInt32(room)
        unsafe CZlib.deflate(stream, Z_SYNC_FLUSH)
      }
      unsafe stream.pointee.next_in = nil
    }
    let left = Int(unsafe stream.pointee.avail_out)
    output.removeLast(left)
    // There was no input, and none since the last flush.
    if left == room { output.append(contentsOf: Self.nothing) }
    let isWhole = left > 0 && output.suffix(Self.tail.count).elementsEqual(Self.tail)
    output.removeLast(isWhole ? Self.tail.count : output.count - start)
    // Later messages must not refer to one that the peer does not receive.
    if !isWhole || !keepsContext { unsafe deflateReset(stream) }
    return isWhole
  }

  /// An empty message (§7.2.3.6); and the end of every flush, which messages omit (§7.2.1).
  private static let nothing: [UInt8] = [0x00, 0x00, 0x00, 0xFF, 0xFF]

  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

  /// Calls `body` with the compressed form of a message, if that is smaller than the message.
  func withSmaller(_ payload: Span<UInt8>, _ body: (Span<UInt8>) -> Void) -> Bool {
    guard deflate(payload, to: &compressed, limitBytes: payload.count - 1) else { return false }
    body(compressed.span)
    compressed.removeAll(keepingCapacity: compressed.capacity <= Self.restingBytes)
    return true
  }

  private func opened() -> UnsafeMutablePointer<z_stream>? {
    if let stream = unsafe stream { return unsafe stream }
    // zlib's state has a pointer to the stream, which therefore must not move.
    let fresh = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe fresh.initialize(to: z_stream())
    guard unsafe czlib_deflate_init_raw(fresh, level, Int32(windowBits)) == Z_OK else {
      unsafe fresh.deallocate()
      return nil
    }
    unsafe stream = fresh
    return unsafe fresh
  }
}
