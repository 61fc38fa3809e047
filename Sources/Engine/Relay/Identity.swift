/// Who a client is, for how long, and what it may, as whoever vouches for it has said.
public struct Identity: Equatable, Sendable {
  /// Clocks of whoever issues tokens and of the relay may differ by so much: what ends is let go on
  /// for this long, and what is yet to begin may begin so much sooner.
  public static let clockSkewMilliseconds: Int64 = 30_000

  public var user: String
  /// For people; `nil` where it was not told.
  public var name: String?
  public var rights: Rights
  /// Milliseconds since 1970; `nil` = never.
  public var expires: Int64?

  public init(user: String, name: String? = nil, rights: Rights = .all, expires: Int64? = nil) {
    self.user = user
    self.name = name
    self.rights = rights
    self.expires = expires
  }
}
