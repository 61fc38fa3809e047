import Glibc

/// The lines of a standard descriptor, buffered by stdio(3).
@safe final class LineStream {
  private let stream: UnsafeMutablePointer<FILE>?
  private var line: UnsafeMutablePointer<CChar>?
  private var capacity = 0
  private var hasFailed = false

  init(_ descriptor: Int32, _ mode: String) {
    unsafe stream = fdopen(dup(descriptor), mode)
  }

  deinit {
    if let stream = unsafe stream { unsafe fclose(stream) }
    unsafe free(line)
  }

  /// Returns the next line without its line break; `nil` after the last.
  func next() -> [UInt8]? {
    guard let stream = unsafe stream else { return nil }
    let count = unsafe getline(&line, &capacity, stream)
    guard count > 0, let line = unsafe line else { return nil }
    let bytes = unsafe UnsafeRawBufferPointer(start: line, count: count)
    let isEnded = unsafe bytes[count - 1] == UInt8(ascii: "\n")
    return unsafe Array(isEnded ? bytes.dropLast() : bytes[...])
  }

  func write(_ bytes: [UInt8]) {
    guard let stream = unsafe stream else { return }
    let written = unsafe bytes.withUnsafeBufferPointer {
      unsafe fwrite($0.baseAddress, 1, $0.count, stream)
    }
    if written < bytes.count { hasFailed = true }
  }

  /// Returns `false` if anything could not be written.
  func flush() -> Bool {
    guard let stream = unsafe stream else { return false }
    return unsafe fflush(stream) == 0 && !hasFailed
  }
}
