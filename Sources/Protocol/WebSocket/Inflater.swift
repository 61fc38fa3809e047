internal import CZlib

/// Decompresses messages (RFC 7692 §7.2.2) with one zlib stream, allocated at first use.
///
/// Without context it serves any number of connections, one message after the other, and is best
/// shared by all connections of a thread. Confined to that thread. When idle it keeps about 40 KiB.
@safe public final class Inflater {
  /// Whether a message may refer to earlier ones; then the stream belongs to one connection.
  public let keepsContext: Bool
  private let windowBits: Int32
  private var stream: UnsafeMutablePointer<z_stream>?

  /// Allocates nothing yet.
  /// - Parameter windowBits: the base-2 logarithm of the maximum window of the peer's compressor, 8
  ///   to 15; 15 works for all.
  public init(windowBits: Int = 15, keepsContext: Bool = false) {
    precondition(8...15 ~= windowBits, "RFC 7692 §7.1.2: a window has 8 to 15 bits")
    self.keepsContext = keepsContext
    // A peer that promised 8 may use 9: zlib's compressor silently did so for a long time.
    self.windowBits = Int32(max(9, windowBits))
  }

  deinit {
    guard let stream = unsafe stream else { return }
    unsafe inflateEnd(stream)
    unsafe stream.deallocate()
  }

  /// Appends the message whose complete payload is `compressed`.
  ///
  /// Truncated data counts as corrupt. After an error, a stream with context and its connection
  /// cannot be used any more; without context the next message begins anew.
  /// - Parameter limitBytes: the maximum length of the message, enforced during decompression, so
  ///   that no more than that is ever written; 0 = no limit.
  /// - Throws: ``ProtocolViolation/compressedDataInvalid``,
  ///   ``ProtocolViolation/messageTooBig(limitBytes:)`` or ``ProtocolViolation/outOfMemory``;
  ///   the data decompressed so far stays in the output.
  public func inflate(_ compressed: Span<UInt8>, to output: inout [UInt8], limitBytes: Int)
    throws(ProtocolViolation)
  {
    // §7.2.3.6 requires a byte for an empty message; some peers with context send none.
    guard !compressed.isEmpty else { return }
    let stream = try unsafe opened()
    defer { if !keepsContext { unsafe inflateReset(stream) } }
    let limit = limitBytes == 0 ? Int.max : output.count.addingClamped(limitBytes)
    let isOver = try unsafe feed(compressed, stream, to: &output, upTo: limit, limitBytes)
    // After a last block (BFINAL) at the end of the message nothing is incomplete.
    if isOver { return }
    // §7.2.2: the bytes that the sender removed.
    _ = try unsafe feed(Self.tail.span, stream, to: &output, upTo: limit, limitBytes)
    // Bit 7 says that a block may begin here: all earlier blocks were complete.
    guard unsafe stream.pointee.data_type & 0x80 != 0 else { throw .compressedDataInvalid }
  }

  private static let tail: [UInt8] = [0x00, 0x00, 0xFF, 0xFF]

  private func opened() throws(ProtocolViolation) -> UnsafeMutablePointer<z_stream> {
    if let stream = unsafe stream { return unsafe stream }
    // zlib's state has a pointer to the stream, which therefore must not move.
    let fresh = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    unsafe fresh.initialize(to: z_stream())
    guard unsafe czlib_inflate_init_raw(fresh, windowBits) == Z_OK else {
      unsafe fresh.deallocate()
      throw .outOfMemory
    }
    unsafe stream = fresh
    return unsafe fresh
  }

  /// Decompresses a part; returns true if it ended with the end of a last block.
  private func feed(
    _ input: Span<UInt8>, _ stream: UnsafeMutablePointer<z_stream>, to output: inout [UInt8],
    upTo limit: Int, _ limitBytes: Int
  ) throws(ProtocolViolation) -> Bool {
    try unsafe input.withUnsafeBufferPointer { input throws(ProtocolViolation) in
      var isOver = false
      var fed = 0
      while fed < input.count {
        // zlib counts in 32 bits.
        let count = min(input.count - fed, 1 << 30)
        unsafe stream.pointee.next_in = input.baseAddress.map { unsafe $0 + fed }
        unsafe stream.pointee.avail_in = UInt32(count)
        fed += count
        isOver = try unsafe drain(stream, to: &output, upTo: limit, limitBytes)
      }
      unsafe stream.pointee.next_in = nil
      return isOver
    }
  }

  /// Decompresses until the input is used up; returns true if it ended with a last block.
  private func drain(
    _ stream: UnsafeMutablePointer<z_stream>, to output: inout [UInt8], upTo limit: Int,
    _ limitBytes: Int
  ) throws(ProtocolViolation) -> Bool {
    while true {
      // One byte beyond the limit shows that there is more.
      let guess = max(512, min(Int(unsafe stream.pointee.avail_in) * 4, 1 << 16))
      let room = min(guess, (limit - output.count).addingClamped(1))
      let filled = output.count
      output.append(contentsOf: repeatElement(0, count: room))
      let code = unsafe output.withUnsafeMutableBufferPointer { buffer in
        unsafe stream.pointee.next_out = buffer.baseAddress.map { unsafe $0 + filled }
        unsafe stream.pointee.avail_out = UInt32(room)
        return unsafe CZlib.inflate(stream, Z_SYNC_FLUSH)
      }
      let left = Int(unsafe stream.pointee.avail_out)
      output.removeLast(left)
      guard output.count <= limit else { throw .messageTooBig(limitBytes: limitBytes) }
      switch code {
      case Z_OK:
        if left > 0, unsafe stream.pointee.avail_in == 0 { return false }
      case Z_BUF_ERROR:
        // No progress: there was enough space, and the input is used up.
        return false
      case Z_STREAM_END:
        // More blocks may follow the last one (§7.2.3.4), and refer to earlier data.
        unsafe inflateResetKeep(stream)
        if unsafe stream.pointee.avail_in == 0 { return true }
      case Z_MEM_ERROR: throw .outOfMemory
      default: throw .compressedDataInvalid
      }
    }
  }
}

extension Int {
  /// Returns the sum of two non-negative numbers, or the maximum if it overflows.
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
