/// A person in a directory, with the relay's name for them.
public struct Person: Equatable, Sendable {
  /// A valid user name, derived from the directory's name.
  public var user: String
  /// The directory's name, unchanged.
  public var name: String
  /// The URL of their picture.
  public var avatar: String?
  /// What stays the same of them at the directory's service while their login changes; `nil` if it has no
  /// such thing. Clients are not told.
  public var id: String?

  public init(user: String, name: String, avatar: String? = nil, id: String? = nil) {
    self.user = user
    self.name = name
    self.avatar = avatar
    self.id = id
  }
}
