import WebSocket

/// The beginning of a request, until its head is complete. Confined to its loop's thread.
final class UnfinishedHead {
  private var bytes: [UInt8]
  private var scanner: HTTPHeadScanner

  /// - Parameter scanner: has looked at all of these bytes.
  init(_ bytes: Span<UInt8>, _ scanner: HTTPHeadScanner) {
    self.bytes = bytes.copy
    self.scanner = scanner
  }

  /// Appends input. Returns all bytes if the request can be read, or refused; `nil` while more of its
  /// head is needed.
  /// - Parameter scanned: grows by the number of bytes that were looked at.
  func take(
    _ input: UnsafeMutableBufferPointer<UInt8>.SubSequence, _ limits: HTTPHeadScanner.Limits,
    _ scanned: inout Int
  ) -> [UInt8]? {
    let before = scanner.scannedBytes
    defer { scanned += scanner.scannedBytes - before }
    unsafe bytes.append(contentsOf: input)
    let arrived = bytes
    do throws(HTTPViolation) {
      if try scanner.scan(arrived.span, limits: limits) == nil { return nil }
    } catch {
      // Whoever reads the request finds the same violation.
    }
    bytes = []
    return arrived
  }
}
