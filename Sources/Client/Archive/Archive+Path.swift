import Mixing

extension Archive {
  /// The limit for the readable part of a file name. SQLite appends suffixes to it, and file
  /// systems allow 255 bytes.
  private static let nameLimitBytes = 200

  /// Returns the path of an account's file: in the folder `wschat`, under a readable name that is
  /// unique to the account.
  /// - Parameters:
  ///   - stateHome: `$XDG_STATE_HOME`, or `~/.local/state`.
  ///   - relay: The relay's URL. Its query and its user information are left out: they may contain
  ///     secrets.
  public static func path(stateHome: String, relay: String, user: String) -> String {
    var url = relay.prefix { $0 != "?" && $0 != "#" }
    if let scheme = url.firstRange(of: "://") {
      let host = url[scheme.upperBound...].prefix { $0 != "/" }
      if let at = host.lastIndex(of: "@") {
        url.removeSubrange(scheme.upperBound...at)
      }
    }
    var name = "\(escape(user))@\(escape(String(url)))"
    if name.utf8.count > nameLimitBytes {
      // A name that is not shortened contains no tilde.
      let digits = String(FNV1a.hash(name), radix: 16)
      name = "\(name.prefix(nameLimitBytes))~\(digits)"
    }
    return "\(stateHome)/wschat/\(name).db"
  }

  /// Escapes the characters that are special in paths or shells; distinct texts stay distinct.
  private static func escape(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var escaped: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "-"), UInt8(ascii: ":"):
        escaped.append(byte)
      case UInt8(ascii: "/"): escaped.append(UInt8(ascii: "+"))
      default:
        escaped += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: escaped, as: UTF8.self)
  }
}
