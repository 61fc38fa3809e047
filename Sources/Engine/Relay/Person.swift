/// Somebody in a directory, as the relay names them.
public struct Person: Equatable, Sendable {
  /// A valid user name: what the directory calls them, made to fit.
  public var user: String
  /// What the directory calls them, as it is.
  public var name: String
  /// Where their picture is.
  public var avatar: String?

  public init(user: String, name: String, avatar: String? = nil) {
    self.user = user
    self.name = name
    self.avatar = avatar
  }
}
