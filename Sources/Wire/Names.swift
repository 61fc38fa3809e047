/// Which strings may name a user: 1 to 64 of `a-z 0-9 . _ -`.
public enum UserName {
  public static let lengthLimit = 64

  public static func isValid(_ name: some Collection<UInt8>) -> Bool {
    !name.isEmpty && name.count <= lengthLimit && name.allSatisfy(isAllowed)
  }

  public static func isValid(_ name: String) -> Bool { isValid(name.utf8) }

  static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

/// Which strings may name a room, and what a name says about it.
public enum RoomName {
  public static let lengthLimit = 140
  static let directPrefix = "dm:"

  /// 1 to 140 of `a-z 0-9 . _ : -`; after `dm:`, two valid users in bytewise order.
  public static func isValid(_ name: String) -> Bool {
    let bytes = name.utf8
    guard !bytes.isEmpty, bytes.count <= lengthLimit,
      bytes.allSatisfy({ UserName.isAllowed($0) || $0 == UInt8(ascii: ":") })
    else { return false }
    return !name.hasPrefix(directPrefix) || peers(of: name) != nil
  }

  /// The two users of a direct room, in order; `nil` for any other room.
  public static func peers(of name: String) -> (String, String)? {
    guard name.hasPrefix(directPrefix) else { return nil }
    let rest = name.utf8.dropFirst(directPrefix.utf8.count)
    guard let colon = rest.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let (a, b) = (rest[..<colon], rest[rest.index(after: colon)...])
    guard UserName.isValid(a), UserName.isValid(b), a.lexicographicallyPrecedes(b) else {
      return nil
    }
    return (String(a) ?? "", String(b) ?? "")
  }

  /// The direct room of two different users.
  public static func direct(_ a: String, _ b: String) -> String {
    a.utf8.lexicographicallyPrecedes(b.utf8) ? "dm:\(a):\(b)" : "dm:\(b):\(a)"
  }

  public static func isDirect(_ name: String) -> Bool { name.hasPrefix(directPrefix) }

  /// The relay's own rooms.
  public static func isReserved(_ name: String) -> Bool { name.hasPrefix("sys:") }

  /// Whether `user` may join, read and send as far as the name alone decides.
  public static func isOpen(_ name: String, to user: String) -> Bool {
    if isReserved(name) { return false }
    guard let (a, b) = peers(of: name) else { return true }
    return user == a || user == b
  }
}
