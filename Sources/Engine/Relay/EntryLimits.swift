/// The maximum numbers of edits and reactions of one entry; 0 = no limit.
public struct EntryLimits: Equatable, Sendable {
  /// Edits of one text.
  public var editsPerEntry = 100
  /// Different emoji given to one entry, by all users.
  public var reactionsPerEntry = 50
  /// Different emoji given to one entry by one user; applies only if `reactionsPerEntry` does.
  public static let reactionsPerUser = 10

  public init(editsPerEntry: Int = 100, reactionsPerEntry: Int = 50) {
    self.editsPerEntry = editsPerEntry
    self.reactionsPerEntry = reactionsPerEntry
  }
}
