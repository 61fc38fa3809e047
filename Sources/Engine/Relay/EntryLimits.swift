/// How many entries may be about one other; 0 = any number.
public struct EntryLimits: Equatable, Sendable {
  /// Edits of one text.
  public var editsPerEntry = 100
  /// Different emoji given to one entry.
  public var reactionsPerEntry = 50
  /// Different emoji given to one entry by one user; counts where `reactionsPerEntry` does.
  public static let reactionsPerUser = 10

  public init(editsPerEntry: Int = 100, reactionsPerEntry: Int = 50) {
    self.editsPerEntry = editsPerEntry
    self.reactionsPerEntry = reactionsPerEntry
  }
}
