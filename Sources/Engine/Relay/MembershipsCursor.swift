/// Where the next slice of a user's rooms begins. Rooms without an entry, which have no number, come
/// first: one that is given its first entry between two slices has a number that is still to come.
public enum MembershipsCursor: Sendable, Equatable {
  /// Behind this name of those without an entry; no name is empty.
  case unstored(after: String)
  /// Behind this number of the others, which come in the order in which the rooms were made.
  case stored(after: Int64)

  public static let start = unstored(after: "")
}
