/// Work that a shard does later.
struct ShardTimer: Comparable {
  enum Kind {
    /// A user's budget may allow the next message.
    case budget(String)
    /// A page from storage could not be read, and is read again.
    case readAgain(SessionID)
    /// A token may have expired.
    case expiry(SessionID)
    /// A user whose last session has ended may have come back.
    case departure(String)
  }
  /// Milliseconds of the monotonic clock.
  var at: Int64
  var kind: Kind

  static func < (a: Self, b: Self) -> Bool { a.at < b.at }
  static func == (a: Self, b: Self) -> Bool { a.at == b.at }
}
