import DequeModule

/// A room as one loop knows it.
struct Room {
  /// Empty where the place is free.
  var name = ""
  var generation: UInt32 = 0
  /// The last `seq`, as far as commits and the log's answers have told.
  var head: Int64 = 0
  var firstKept: Int64 = 1
  /// Live and behind.
  var subscribers: [Int32] = []
  /// Subscriptions in whatever state.
  var uses = 0
  /// In which users' lists it is: places in the shard's table.
  var watchers: [Int32] = []
  /// The last entries, oldest first, without a gap up to the head.
  var tail = Deque<TailSpan>()
  /// The JSON of the last entry where the tail has lost it and somebody is to be told of it yet.
  var last: [UInt8] = []
  /// This turn's new entries: a chain in the turn.
  var firstStaged: Int32 = -1
  var lastStaged: Int32 = -1
  /// How many entries that is.
  var stagedCount: Int32 = 0
  var pace = Pace()

  /// Part of a commit that is kept in memory.
  struct TailSpan {
    var commit: Commit
    var span: Int32
    var firstSeq: Int64
    var lastSeq: Int64
  }

  var isUnused: Bool { uses == 0 && watchers.isEmpty && tail.isEmpty && firstStaged < 0 }
}
