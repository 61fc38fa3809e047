import Wire

/// One room as a bot sees it. Lives while the bot is subscribed, and across reconnects.
struct Conversation {
  /// Entries taken in and not yet answered. Those beyond it wait in the log: the bot joins
  /// again behind the last one taken once it is through.
  static let queueLimit = 64

  enum Phase: Equatable {
    /// In the line of rooms to join.
    case waiting
    /// Being joined; entries that come are not yet the ones asked for.
    case joining
    /// Entries are taken.
    case following
    /// A `leave` is under way; `again` if something came in between.
    case leaving(again: Bool)
  }

  var phase = Phase.waiting
  /// Whether it may go without: an idle direct room.
  var isOptional = false
  /// The last entry taken, and the log that it is from; `nil` until that is known.
  var taken: Int64?
  var epoch: String?
  var queue: [Entry] = []
  /// Whether there are entries in the log that the queue had no place for.
  var isBehind = false
  var isAnswering = false
  /// The task that speaks up; a room that was left and joined again has another one.
  var ticker: UInt64?
  /// Answers that the log was seen to hold.
  var sent: Set<AnswerID> = []
  /// Messages up to here do not start the script: they came while it played.
  var scriptEnd: Int64 = 0
  /// Entries after this one are for the program.
  var programAfter: Int64?
  /// Whether the bot has an entry here, from which its place can be found again.
  var hasSpoken = false
  /// Users subscribed; 51 = more than 50.
  var subscribers: Int64 = 0
  /// When something last happened, as a count of events.
  var lastActive: UInt64 = 0
  /// Lines that `every` has said.
  var lines: Int64 = 0

  /// Whether it can be left without losing anything.
  var isIdle: Bool { phase == .following && !isAnswering && queue.isEmpty && !isBehind }

  /// Takes an entry into the queue, if it is next and there is a place.
  mutating func take(_ entry: Entry) -> Bool {
    guard phase == .following, let taken, entry.seq > taken, !isBehind else { return false }
    guard queue.count < Self.queueLimit else {
      isBehind = true
      return false
    }
    self.taken = entry.seq
    queue.append(entry)
    return true
  }

  /// Forgets what was known of another log than the one joined.
  mutating func forget() {
    taken = nil
    epoch = nil
    queue = []
    isBehind = false
    sent = []
    scriptEnd = 0
    programAfter = nil
    hasSpoken = false
  }
}
