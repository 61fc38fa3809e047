/// Control strings for the terminal, as bytes. Texts in them are sanitised.
public enum ControlString {
  /// The approximate limit of xterm for OSC 52, in base64.
  public static let copyLimitBytes = 74_994
  /// The limit for a title or a notification.
  static let textLimitScalars = 256

  /// BEL.
  public static let bell: [UInt8] = [0x07]

  /// Copies a text to the clipboard (xterm, OSC 52). tmux supports it, too, if its `set-clipboard`
  /// is `on`.
  /// - Returns: nil if the text is longer than terminals accept.
  public static func copy(_ text: String) -> [UInt8]? {
    let encoded = base64(text)
    return encoded.count > copyLimitBytes ? nil : command("52;c;", encoded)
  }

  /// Sets the title of the window and of its icon (xterm, OSC 0).
  public static func title(_ text: String) -> [UInt8] {
    command("0;", Array(harmless(text).utf8))
  }

  /// Shows a desktop notification.
  public static func notification(
    title: String, body: String, as form: Capabilities.NotificationForm
  ) -> [UInt8] {
    let title = harmless(title)
    let body = harmless(body)
    switch form {
    case .osc9:
      // ConEmu and Windows Terminal interpret a number here as another command.
      let text = title.isEmpty ? body : "\(title): \(body)"
      let start = text.utf8.first.map { (0x30...0x39).contains($0) } == true ? " " : ""
      return command("9;", Array((start + text).utf8))
    case .osc99:
      // Two payloads of one notification; `d=0` announces that more follows.
      return command("99;i=wschat:d=0;", Array(title.utf8))
        + command("99;i=wschat:d=1:p=body;", Array(body.utf8))
    case .osc777:
      // A semicolon would end the title.
      let title = String(title.map { $0 == ";" ? "," : $0 })
      return command("777;notify;", Array("\(title);\(body)".utf8))
    }
  }

  /// Escapes the body of a notification for `notify-send`, so that it is shown literally: desktops
  /// interpret markup in it (Desktop Notifications Specification, "Markup"), and `notify-send`
  /// itself C escapes such as `\n`. Neither applies to a title.
  public static func notificationMarkup(_ body: String) -> String {
    var written = ""
    for scalar in harmless(body).unicodeScalars {
      switch scalar {
      case "&": written += "&amp;"
      case "<": written += "&lt;"
      case ">": written += "&gt;"
      case "\\": written += "\\\\"
      default: written.unicodeScalars.append(scalar)
      }
    }
    return written
  }

  /// Returns OSC, terminated by ST (ECMA-48 §8.3.89, §8.3.143).
  private static func command(_ start: StaticString, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(ascii: "\u{1B}]")
    bytes.append(ascii: start)
    bytes += payload
    bytes.append(ascii: "\u{1B}\\")
    return bytes
  }

  /// Replaces control characters, including C1, one of which would end the string; the result is
  /// one line.
  static func harmless(_ text: String) -> String {
    var clean = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(textLimitScalars) {
      switch scalar.value {
      case 0x09, 0x0A, 0x0D, 0x85, 0x2028, 0x2029: clean.append(" ")
      case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: break
      default: clean.append(scalar)
      }
    }
    return String(clean)
  }

  /// RFC 4648 §4.
  private static func base64(_ text: String) -> [UInt8] { base64(Array(text.utf8)) }

  static func base64(_ bytes: [UInt8]) -> [UInt8] {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var encoded: [UInt8] = []
    encoded.reserveCapacity(bytes.count / 3 * 4 + 4)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 1
      if count % 3 == 0 {
        for shift: UInt32 in [18, 12, 6, 0] { encoded.append(alphabet[Int(bits >> shift & 63)]) }
        bits = 0
      }
    }
    guard count % 3 > 0 else { return encoded }
    bits <<= count % 3 == 1 ? 16 : 8
    encoded.append(alphabet[Int(bits >> 18 & 63)])
    encoded.append(alphabet[Int(bits >> 12 & 63)])
    encoded.append(count % 3 == 1 ? UInt8(ascii: "=") : alphabet[Int(bits >> 6 & 63)])
    encoded.append(UInt8(ascii: "="))
    return encoded
  }
}
