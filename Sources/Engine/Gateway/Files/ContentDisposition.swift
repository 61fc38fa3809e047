import Wire

/// `Content-Disposition` (RFC 6266): whether a browser shows a file or saves it, and under which name.
package enum ContentDisposition {
  /// - Parameter name: `nil` = none. Whatever it is, it stays inside the value.
  package static func value(isInline: Bool, name: String?) -> String {
    let type = isInline ? "inline" : "attachment"
    guard let name, FileContent.isValid(name: name) else { return type }
    // Programs that know only the first form get a name in ASCII (§4.3, appendix D).
    let plain = String(
      String.UnicodeScalarView(
        name.unicodeScalars.map {
          (0x20...0x7E).contains($0.value) && !"\"\\%".unicodeScalars.contains($0) ? $0 : "_"
        }))
    return "\(type); filename=\"\(plain)\"; filename*=UTF-8''\(PercentCoding.encode(name))"
  }
}

/// Percent-encoding of all but the unreserved characters (RFC 3986 §2), which also RFC 8187 allows.
enum PercentCoding {
  static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }
}
