internal import Wire

/// A session that a relay has given to this device.
public struct DeviceGrant: Equatable, Sendable {
  public let user: String
  /// The session's id, by which another device can end it.
  public let session: String
  /// Secret; printable ASCII.
  public let token: String

  static let tokenLimitBytes = 4096

  /// Reads the answer of a relay; `nil` if it is none.
  init?(_ json: [UInt8]) {
    guard let json = JSONNode(json), let token = json["token"]?.string,
      let user = json["user"]?.string, let session = json["session"]?.string
    else { return nil }
    self.init(user: user, session: session, token: token)
  }

  /// `nil` if one of them is not valid.
  public init?(user: String, session: String, token: String) {
    guard UserName.isValid(user), Self.isSession(session),
      1...Self.tokenLimitBytes ~= token.utf8.count,
      token.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return nil }
    (self.user, self.session, self.token) = (user, session, token)
  }

  /// Whether a text can be the id of a session, which is part of a path.
  public static func isSession(_ text: String) -> Bool { RelayURL.isSegment(text) }
}
