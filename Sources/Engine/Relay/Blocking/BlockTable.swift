internal import Wire

/// A user has blocked another one, or no longer blocks them.
public struct BlockChange: Equatable, Sendable {
  public var user: String
  public var blocked: String
  /// When the block began, in milliseconds since 1970; `nil` = it has ended.
  public var at: Int64?

  public init(user: String, blocked: String, at: Int64?) {
    self.user = user
    self.blocked = blocked
    self.at = at
  }
}

/// The blocks between users. The sequencer and each loop have a copy, which commits keep the same.
///
/// A block takes 200 bytes in each copy; a user has at most `EntryLimits.blocksPerUser`.
public struct BlockTable: Sendable {
  private var blocks: [String: [String: Int64]] = [:]

  public init() {}

  /// Creates the table that changes lead to.
  public init(_ changes: [BlockChange]) {
    for change in changes { apply(change) }
  }

  var isEmpty: Bool { blocks.isEmpty }

  /// Returns since when `user` has blocked `other`, in milliseconds since 1970; `nil` if they have not.
  func since(_ user: String, blocked other: String) -> Int64? { blocks[user]?[other] }

  /// Returns since when two users get nothing of each other's presence, typing and receipts; `nil` if they
  /// do.
  func separation(of a: String, _ b: String) -> Int64? {
    guard !blocks.isEmpty else { return nil }
    return switch (since(a, blocked: b), since(b, blocked: a)) {
    case (let one?, let other?): min(one, other)
    case (let one, let other): one ?? other
    }
  }

  /// Whether the users of a direct room are separated.
  func separates(directRoom room: String) -> Bool {
    guard !blocks.isEmpty, let (a, b) = RoomName.peers(of: room) else { return false }
    return separation(of: a, b) != nil
  }

  /// Returns the users that `user` has blocked, in the order of their names.
  package func users(blockedBy user: String) -> [String] { (blocks[user] ?? [:]).keys.sorted() }

  func count(by user: String) -> Int { blocks[user]?.count ?? 0 }

  public mutating func apply(_ change: BlockChange) {
    if let at = change.at {
      blocks[change.user, default: [:]][change.blocked] = at
    } else {
      blocks[change.user]?[change.blocked] = nil
      if blocks[change.user]?.isEmpty == true { blocks[change.user] = nil }
    }
  }
}
