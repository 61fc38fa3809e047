import DequeModule

/// A room as one loop knows it.
struct Room {
  let name: String
  /// Of the shard and not of the slot, which may be another room's later.
  let generation: UInt32
  /// The last `seq`, as far as commits and the log's answers have told.
  var head: Int64 = 0
  var firstKept: Int64 = 1
  /// Live and lagging.
  var subscribers: [Slot<Subscription>] = []
  /// Subscriptions in whatever state.
  var uses = 0
  /// In which users' lists it is: places in the shard's table.
  var watchers: [Slot<WatchedRoom>] = []
  /// The last entries, oldest first, without a gap up to the head.
  var tail = Deque<TailSpan>()
  /// The JSON of the last entry where the tail has lost it and somebody is to be told of it yet.
  var last: [UInt8] = []
  /// This turn's new entries: a chain in the turn.
  var firstStaged = Link<Turn.Staged>.none
  var lastStaged = Link<Turn.Staged>.none
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

  init(name: String, generation: UInt32) {
    self.name = name
    self.generation = generation
  }

  var isUnused: Bool { uses == 0 && watchers.isEmpty && tail.isEmpty && firstStaged.isNone }
}
