/// The syntax of room names, and the properties of a room that follow from its name.
public enum RoomName {
  public static let lengthLimit = 140
  private static let prefixLength = 3

  /// 1 to 140 of `a-z 0-9 . _ : -`, except `.` and `..`; after `dm:`, two valid users in bytewise
  /// order.
  public static func isValid(_ name: String) -> Bool {
    let bytes = name.utf8.span
    guard !bytes.isEmpty, bytes.count <= lengthLimit else { return false }
    for index in 0..<bytes.count
    where !UserName.isAllowed(bytes[index]) && bytes[index] != UInt8(ascii: ":") {
      return false
    }
    return !UserName.isPathSegment(bytes)
      && (!isDirect(bytes) || colon(inDirect: bytes) != nil)
  }

  /// Returns the two users of a direct room, in order; `nil` for any other room.
  public static func peers(of name: String) -> (String, String)? {
    let bytes = name.utf8.span
    guard isDirect(bytes), let colon = colon(inDirect: bytes) else { return nil }
    return (
      bytes.extracting(prefixLength..<colon).asString,
      bytes.extracting((colon + 1)...).asString
    )
  }

  /// Returns the other user of a direct room of `user`; `nil` for any other room.
  public static func peer(in room: String, of user: String?) -> String? {
    peers(of: room).map { $0.0 == user ? $0.1 : $0.0 }
  }

  /// Returns the direct room of two different users.
  public static func direct(_ a: String, _ b: String) -> String {
    a.utf8.lexicographicallyPrecedes(b.utf8) ? "dm:\(a):\(b)" : "dm:\(b):\(a)"
  }

  public static func isDirect(_ name: String) -> Bool { isDirect(name.utf8.span) }

  /// Whether a room is one of the relay's own.
  public static func isReserved(_ name: String) -> Bool {
    let bytes = name.utf8.span
    return bytes.count >= 4 && bytes[0] == UInt8(ascii: "s") && bytes[1] == UInt8(ascii: "y")
      && bytes[2] == UInt8(ascii: "s") && bytes[3] == UInt8(ascii: ":")
  }

  /// What users have reported, and what operators have done: only operators read it, only the relay writes.
  public static let reports = "sys:reports"
  public static let audit = "sys:audit"

  /// Whether a room is for the operators of the relay to read.
  public static func isForOperators(_ name: String) -> Bool {
    isReserved(name) && (name == reports || name == audit)
  }

  /// Whether a valid name permits `user` to join, read and send; the user's rights may still forbid it.
  public static func isOpen(_ name: String, to user: String) -> Bool {
    if isReserved(name) { return false }
    let bytes = name.utf8.span
    guard isDirect(bytes) else { return true }
    let user = user.utf8.span
    // No user has a colon in the name.
    let end = prefixLength + user.count
    let start = bytes.count - user.count
    return bytes.count > end && bytes[end] == UInt8(ascii: ":")
      && bytes.extracting(prefixLength..<end).equals(user)
      || start > prefixLength && bytes[start - 1] == UInt8(ascii: ":")
        && bytes.extracting(start...).equals(user)
  }

  private static func isDirect(_ name: Span<UInt8>) -> Bool {
    name.count >= prefixLength && name[0] == UInt8(ascii: "d") && name[1] == UInt8(ascii: "m")
      && name[2] == UInt8(ascii: ":")
  }

  /// Returns where the first user of a direct room ends; `nil` unless it has two valid users in
  /// order.
  private static func colon(inDirect name: Span<UInt8>) -> Int? {
    var colon = prefixLength
    while colon < name.count, name[colon] != UInt8(ascii: ":") { colon += 1 }
    guard colon < name.count else { return nil }
    let (a, b) = (name.extracting(prefixLength..<colon), name.extracting((colon + 1)...))
    guard UserName.isValid(a), UserName.isValid(b) else { return nil }
    for index in 0..<min(a.count, b.count) where a[index] != b[index] {
      return a[index] < b[index] ? colon : nil
    }
    return a.count < b.count ? colon : nil
  }
}
