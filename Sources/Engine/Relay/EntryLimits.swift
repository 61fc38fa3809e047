/// The maximum numbers of edits and reactions of one entry, and of members of a room; 0 = no limit.
public struct EntryLimits: Equatable, Sendable {
  /// Edits of one text.
  public var editsPerEntry = 100
  /// Different emoji given to one entry, by all users.
  public var reactionsPerEntry = 50
  /// Different emoji given to one entry by one user; applies only if `reactionsPerEntry` does.
  public static let reactionsPerUser = 10
  /// Users that `member` entries let into one room, and as many that they keep out. An open room may have
  /// more members that joined.
  public var membersPerRoom = 10_000
  /// The members beyond which a room cannot become private: all but those that entries name are removed at
  /// once, each by a lookup and a deletion, for which all other users wait.
  static let closingMembers = 1_000
  /// The size of a user's files, in bytes: of those that each of their kept entries names, and of those that they
  /// have not sent yet.
  public var fileBytesPerUser: Int64 = 1 << 30
  /// Users that one user may block.
  static let blocksPerUser = 1_000
  /// Reports that a user may make in a day (UTC) by each relay: so that no user drives out those of others.
  static let reportsPerDay = 50
  /// Runs of hidden entries of each user of a direct room: how often the other one may block them, with
  /// entries in between.
  static let hiddenRuns = 1_000
  /// The memberships of a user that are searched for a private room that a stranger shares with them.
  static let sharedRooms = 256

  public init(
    editsPerEntry: Int = 100, reactionsPerEntry: Int = 50, membersPerRoom: Int = 10_000,
    fileBytesPerUser: Int64 = 1 << 30
  ) {
    self.editsPerEntry = editsPerEntry
    self.reactionsPerEntry = reactionsPerEntry
    self.membersPerRoom = membersPerRoom
    self.fileBytesPerUser = fileBytesPerUser
  }
}
