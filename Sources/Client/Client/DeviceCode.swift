internal import Wire

/// What a relay answers to a device that asks to be signed in (RFC 8628 §3.2): a code and a link for
/// the user, who allows it on another device.
///
/// Its texts are printable ASCII: a relay cannot write control sequences by them.
public struct DeviceCode: Equatable, Sendable {
  /// Letters, digits and hyphens, such as "WDJB-MJHT".
  public let userCode: String
  /// The page on which the user types the code: `http:` or `https:`.
  public let link: String
  /// The same page with the code in it.
  public let completeLink: String?
  /// Whether a link leads to another origin than the relay's (RFC 6454 §4), which may be a page that
  /// only looks like it.
  public let isForeign: Bool
  /// The QR code of `completeLink`: a row of "0" and "1" each, without a quiet zone; empty if the
  /// relay sends none. Not verified to contain that link; empty if a link is foreign, because a
  /// user follows a scanned link unread.
  public let qr: [String]

  /// What the device proves to be the same with; secret.
  let deviceCode: String
  /// The least time between two requests for the token.
  let intervalMilliseconds: Int
  /// How long the code is valid.
  let lifetimeMilliseconds: Int

  static let userCodeLimitBytes = 32
  static let deviceCodeLimitBytes = 1024
  static let linkLimitBytes = 512
  /// The side of the largest QR code (ISO/IEC 18004, version 40).
  static let qrLimit = 177
  /// If the relay names none (RFC 8628 §3.2).
  static let usualIntervalMilliseconds = 5000
  /// A relay that names a shorter one is asked no more often.
  static let leastIntervalMilliseconds = 1000
  /// A longer life of a code, or interval, is treated as this long.
  static let lifetimeLimitSeconds: Int64 = 86_400

  /// Reads the answer of a relay; `nil` if it is none, or has a code or link that is no such.
  init?(_ json: [UInt8], of relay: RelayURL) {
    guard let json = JSONNode(json), let userCode = json["user_code"]?.string,
      Self.isCode(userCode), let deviceCode = json["device_code"]?.string,
      1...Self.deviceCodeLimitBytes ~= deviceCode.utf8.count,
      let lifetime = json["expires_in"]?.integer, lifetime > 0,
      let link = json["verification_uri"]?.string, let page = Self.page(link)
    else { return nil }
    var interval = Self.usualIntervalMilliseconds
    if let given = json["interval"] {
      guard let seconds = given.integer else { return nil }
      interval = Int(min(seconds, Self.lifetimeLimitSeconds)) * 1000
    }
    var pages = [page]
    completeLink = json["verification_uri_complete"]?.string
    if let completeLink {
      guard let page = Self.page(completeLink) else { return nil }
      pages.append(page)
    }
    self.userCode = userCode
    self.deviceCode = deviceCode
    self.link = link
    isForeign = !pages.allSatisfy { $0.hasOrigin(of: relay) }
    qr = isForeign ? [] : Self.qr(json["qr"])
    intervalMilliseconds = max(Self.leastIntervalMilliseconds, interval)
    lifetimeMilliseconds = Int(min(lifetime, Self.lifetimeLimitSeconds)) * 1000
  }

  private static func isCode(_ text: String) -> Bool {
    1...userCodeLimitBytes ~= text.utf8.count
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Returns the address of a page as that of a relay there; `nil` for other texts.
  private static func page(_ text: String) -> RelayURL? {
    let isWeb = ["https://", "http://"].contains { text.lowercased().hasPrefix($0) }
    guard isWeb, text.utf8.count <= linkLimitBytes, text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return nil }
    return try? RelayURL(typed: text)
  }

  private static func qr(_ json: JSONNode?) -> [String] {
    guard let rows = json?.elements, rows.count <= qrLimit else { return [] }
    let texts = rows.compactMap(\.string).filter { $0.utf8.count <= qrLimit }
    return texts.count == rows.count ? texts : []
  }
}
