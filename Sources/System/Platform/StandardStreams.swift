internal import Glibc

/// Standard error.
public enum StandardError {
  /// Writes the whole text; ignores errors.
  public static func write(_ text: String) {
    _ = WholeFile.write(Array(text.utf8).span, to: STDERR_FILENO)
  }
}

/// Standard output.
public enum StandardOutput {
  /// Writes the whole text, unless the reader has closed; ignores errors.
  public static func write(_ text: String) {
    _ = WholeFile.write(Array(text.utf8).span, to: STDOUT_FILENO)
  }
}
