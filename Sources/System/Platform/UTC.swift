internal import Glibc

/// Times in UTC as texts.
public enum UTC {
  /// - Parameters:
  ///   - milliseconds: since 1970.
  ///   - format: as for strftime(3); the text has at most 31 bytes.
  public static func text(_ milliseconds: Int64, _ format: String) -> String {
    var seconds = time_t(milliseconds / 1000)
    var parts = unsafe tm()
    _ = unsafe gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let length = unsafe strftime(&text, text.count, format, &parts)
    return String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
