/// A person in a directory, with the relay's name for them.
public struct Person: Equatable, Sendable {
  /// A valid user name, derived from the directory's name.
  public var user: String
  /// The directory's name, unchanged.
  public var name: String
  /// The URL of their picture.
  public var avatar: String?

  public init(user: String, name: String, avatar: String? = nil) {
    self.user = user
    self.name = name
    self.avatar = avatar
  }
}
