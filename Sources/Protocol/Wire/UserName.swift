/// The syntax of user names: 1 to 64 of `a-z 0-9 . _ -`, except `.` and `..`.
public enum UserName {
  public static let lengthLimit = 64
  /// The sender of the relay's own entries: no client is let in by this name.
  public static let relay = "sys"

  public static func isValid(_ name: String) -> Bool { isValid(name.utf8.span) }

  static func isValid(_ name: Span<UInt8>) -> Bool {
    guard !name.isEmpty, name.count <= lengthLimit else { return false }
    for index in 0..<name.count where !isAllowed(name[index]) { return false }
    return !isPathSegment(name)
  }

  /// Whether a name is `.` or `..`, which clients and proxies remove from the path of a URL (RFC
  /// 3986 §5.2.4).
  static func isPathSegment(_ name: Span<UInt8>) -> Bool {
    name.count <= 2 && name[0] == UInt8(ascii: ".") && name[name.count - 1] == UInt8(ascii: ".")
  }

  static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
