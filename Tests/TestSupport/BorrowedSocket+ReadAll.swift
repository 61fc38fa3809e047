import Glibc
public import Platform

extension BorrowedSocket {
  /// Reads until the end, or until `count` bytes are there.
  public func readAll(upTo count: Int = .max) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count < count, becomes(POLLIN, descriptor) {
      var span = buffer.mutableSpan
      guard case .bytes(let size) = read(into: &span) else { break }
      bytes += buffer[..<size]
    }
    return bytes
  }
}
