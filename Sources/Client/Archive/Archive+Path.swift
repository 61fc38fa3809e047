import Mixing

extension Archive {
  /// So much of a file's name is spelt out; SQLite adds to it, and 255 bytes is what file systems take.
  private static let nameLimitBytes = 200

  /// Where an account's file belongs: in the folder `wschat`, under a name that is a person's to read
  /// and no other account's.
  /// - Parameters:
  ///   - stateHome: `$XDG_STATE_HOME`, or `~/.local/state`.
  ///   - relay: its URL. A query is left out, and who is named before the host: there may be secrets
  ///     in it.
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
      // What was not cut has no tilde.
      let digits = String(FNV1a.hash(name), radix: 16)
      name = "\(name.prefix(nameLimitBytes))~\(digits)"
    }
    return "\(stateHome)/wschat/\(name).db"
  }

  /// The text with nothing in it that a path or a shell would take amiss; different for different ones.
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
