import Glibc

/// Standard error.
public enum StandardError {
  /// Writes the whole text; ignores errors.
  public static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var rest = unsafe bytes[...]
      while unsafe !rest.isEmpty {
        let taken = unsafe Glibc.write(
          STDERR_FILENO, UnsafeBufferPointer(rebasing: rest).baseAddress, rest.count)
        guard taken > 0 || errno == EINTR else { return }
        unsafe rest = rest.dropFirst(max(0, taken))
      }
    }
  }
}
