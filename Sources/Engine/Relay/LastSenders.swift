/// Who sent the last entries of a room. So it is known at once whether a user has sent everything
/// after a mark, however much that is.
public struct LastSenders: Equatable, Sendable {
  /// The sender of the last entry.
  public var sender = ""
  /// The last `seq` that this user did not send; 0 if there is none.
  public var others: Int64 = 0
  /// The last run of content.
  public var content = ContentRun()

  public init() {}

  /// Records the next entry of the room.
  @inline(__always)
  public mutating func record(_ user: String, seq: Int64, isContent: Bool) {
    if sender != user {
      sender = user
      others = seq - 1
    }
    guard isContent else { return }
    if content.sender != user {
      content.sender = user
      content.others = content.last
    }
    content.last = seq
  }
}

/// Consecutive entries of text or data from one sender; changes between them do not count.
public struct ContentRun: Equatable, Sendable {
  /// The `seq` of the last of them; 0 if there is none.
  public var last: Int64
  public var sender: String
  /// The last text or data before them, which another user sent; 0 if there is none.
  public var others: Int64

  public init(last: Int64 = 0, sender: String = "", others: Int64 = 0) {
    self.last = last
    self.sender = sender
    self.others = others
  }
}
