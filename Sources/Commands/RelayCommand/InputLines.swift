import Glibc
import Platform

/// The lines of standard input, buffered by stdio(3).
@safe final class InputLines {
  private let stream: UnsafeMutablePointer<FILE>?
  private var line: UnsafeMutablePointer<CChar>?
  private var capacity = 0

  init() { unsafe stream = fdopen(dup(STDIN_FILENO), "r") }

  deinit {
    if let stream = unsafe stream { unsafe fclose(stream) }
    unsafe free(line)
  }

  /// Returns the next line without its line break; `nil` after the last.
  func next() throws(SystemError) -> [UInt8]? {
    guard let stream = unsafe stream else { throw SystemError.last("open standard input") }
    errno = 0
    let count = unsafe getline(&line, &capacity, stream)
    guard count > 0, let line = unsafe line else {
      // What was read so far is not all.
      guard unsafe ferror(stream) == 0 else { throw SystemError.last("read standard input") }
      return nil
    }
    let bytes = unsafe UnsafeRawBufferPointer(start: line, count: count)
    let isEnded = unsafe bytes[count - 1] == UInt8(ascii: "\n")
    return unsafe Array(isEnded ? bytes.dropLast() : bytes[...])
  }
}
