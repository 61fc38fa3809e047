/// The version of a message: `HTTP/` and two digits (RFC 9112 §2.3).
struct HTTPVersion {
  let major: UInt8
  let minor: UInt8

  init?(_ text: Substring) {
    let utf8 = Array(text.utf8)
    guard utf8.count == 8, utf8.starts(with: "HTTP/".utf8), utf8[6] == UInt8(ascii: "."),
      let major = utf8[5].decimalValue, let minor = utf8[7].decimalValue
    else { return nil }
    (self.major, self.minor) = (major, minor)
  }

  /// RFC 6455 §4.1 requires 1.1 or higher; another major version has another syntax.
  var isSupported: Bool { major == 1 && minor >= 1 }
}
