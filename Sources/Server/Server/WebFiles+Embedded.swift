internal import CWeb
internal import CZlib
import Gateway

extension WebFiles {
  /// The files of the web page that this program contains. Compresses them, which takes some
  /// milliseconds.
  static var embedded: WebFiles {
    var sources: [Source] = []
    for index in 0..<cweb_count() {
      let file = unsafe cweb_file(index).pointee
      sources.append(
        Source(
          name: unsafe String(cString: file.name),
          bytes: unsafe Array(UnsafeBufferPointer(start: file.bytes, count: file.count))))
    }
    return WebFiles(sources, gzip: gzip)
  }

  /// Returns the bytes in the format of gzip (RFC 1952); `nil` if there is no memory for that.
  static func gzip(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = unsafe z_stream()
    guard unsafe czlib_deflate_init_raw(&stream, Z_BEST_COMPRESSION, 15) == Z_OK else { return nil }
    defer { unsafe deflateEnd(&stream) }
    // The header: deflate, no name, no time, the best compression, an unknown system.
    var output: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255]
    let header = output.count
    let bound = Int(unsafe deflateBound(&stream, UInt(bytes.count)))
    output.append(contentsOf: repeatElement(0, count: bound))
    let outcome = unsafe bytes.withUnsafeBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { buffer in
        unsafe stream.next_in = input.baseAddress
        unsafe stream.avail_in = UInt32(input.count)
        unsafe stream.next_out = buffer.baseAddress.map { unsafe $0 + header }
        unsafe stream.avail_out = UInt32(bound)
        return unsafe deflate(&stream, Z_FINISH)
      }
    }
    guard outcome == Z_STREAM_END else { return nil }
    output.removeLast(Int(unsafe stream.avail_out))
    let sum = unsafe bytes.withUnsafeBufferPointer {
      unsafe UInt32(truncatingIfNeeded: crc32(0, $0.baseAddress, UInt32($0.count)))
    }
    for number in [sum, UInt32(truncatingIfNeeded: bytes.count)] {
      for shift in [0, 8, 16, 24] as [UInt32] {
        output.append(UInt8(truncatingIfNeeded: number >> shift))
      }
    }
    return output
  }
}
