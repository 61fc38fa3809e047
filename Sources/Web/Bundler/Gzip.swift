internal import CZlib

/// Returns the bytes in the format of gzip (RFC 1952), compressed as far as zlib can.
func gzip(_ bytes: [UInt8]) throws(BundlingError) -> [UInt8] {
  var stream = unsafe z_stream()
  // 16 more bits than the window has mean gzip; 9 is the most memory.
  let started = unsafe deflateInit2_(
    &stream, Z_BEST_COMPRESSION, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
    Int32(MemoryLayout<z_stream>.size))
  guard started == Z_OK else { throw BundlingError("zlib has no memory") }
  defer { unsafe deflateEnd(&stream) }
  var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, UInt(bytes.count))))
  let outcome = unsafe bytes.withUnsafeBufferPointer { input in
    unsafe output.withUnsafeMutableBufferPointer { buffer in
      unsafe stream.next_in = input.baseAddress
      unsafe stream.avail_in = UInt32(input.count)
      unsafe stream.next_out = buffer.baseAddress
      unsafe stream.avail_out = UInt32(buffer.count)
      return unsafe deflate(&stream, Z_FINISH)
    }
  }
  guard outcome == Z_STREAM_END else { throw BundlingError("zlib returned \(outcome)") }
  output.removeLast(Int(unsafe stream.avail_out))
  return output
}
