/// The start of the next slice of a user's rooms. Rooms without an entry, which have no number,
/// come first: if one of them gets its first entry between two slices, its number is still to come.
public enum MembershipsCursor: Sendable, Equatable {
  /// After this name among the rooms without an entry; no name is empty.
  case unstored(after: String)
  /// After this number among the other rooms, which are in the order of their creation.
  case stored(after: Int64)

  public static let start = unstored(after: "")
}
