/// Something that a shard does later.
struct ShardTimer: Comparable {
  enum Kind {
    /// A user's budget may allow the next message.
    case budget(String)
    /// A page from storage could not be read.
    case readAgain(SessionID)
    /// The next message of this key may be told.
    case throttle(EphemeralKey)
    /// A user has typed for long enough.
    case typing(EphemeralKey)
    /// Activity that came too soon after the last is told.
    case activity(node: Slot<WatchedRoom>, generation: UInt32)
    /// A token may have come to its end.
    case expiry(SessionID)
    /// A user whose last session has ended may have come back.
    case departure(String)
    /// The next change of a user's presence may be told.
    case presence(watched: Slot<WatchedUser>, generation: UInt32)
  }
  /// Milliseconds of the monotonic clock.
  var at: Int64
  var kind: Kind

  static func < (a: Self, b: Self) -> Bool { a.at < b.at }
  static func == (a: Self, b: Self) -> Bool { a.at == b.at }
}

/// What is told of one key at most so often: the latest value waits.
struct Throttle {
  var value: EphemeralValue?
}

/// A user who types or did so a moment ago: one timer is under way for each.
struct Typer {
  /// In milliseconds of the monotonic clock.
  var until: Int64
  var isTyping: Bool
}

/// What does not wait in a log.
enum EphemeralValue {
  case receipt(Marks, toOthers: Bool)
  case typing(Bool)
  case subscribers(Int64)
}
