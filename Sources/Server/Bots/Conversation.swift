import Wire

/// The state of one room of a bot, while the bot is subscribed to it, and across reconnects.
struct Conversation {
  /// The maximum number of entries in the queue. Later ones wait in the log: once the queue is
  /// empty, the bot joins again after the last entry taken.
  static let queueLimit = 64

  enum Phase: Equatable {
    /// In the queue of rooms to join.
    case waiting
    /// Being joined; received entries are not the requested ones yet.
    case joining
    /// Entries are taken.
    case following
    /// A `leave` is in progress; `again` if the room became active since.
    case leaving(again: Bool)
  }

  var phase = Phase.waiting
  /// Whether it may remain unjoined: an idle direct room.
  var isOptional = false
  /// The last entry taken, and the epoch of its log; `nil` until known.
  var taken: Int64?
  var epoch: String?
  var queue: [Entry] = []
  /// Whether the log has entries that did not fit into the queue.
  var isLagging = false
  var isAnswering = false
  /// The task of `every`; changes if the room is left and joined again.
  var ticker: UInt64?
  /// Answers that were found in the log.
  var sent: Set<AnswerID> = []
  /// Messages up to this one do not start the script: they arrived while it played.
  var scriptEnd: Int64 = 0
  /// Entries after this one are passed to the program.
  var programAfter: Int64?
  /// The last message of the program here, which it may edit.
  var lastSaid: Int64?
  /// Whether the bot has an entry here, from which its position can be determined.
  var hasSpoken = false
  /// The number of subscribed users; 51 = more than 50.
  var subscribers: Int64 = 0
  /// The time of the last activity, as a count of events.
  var lastActive: UInt64 = 0
  /// The number of lines that `every` has sent.
  var lines: Int64 = 0

  /// Whether the room can be left without losing anything.
  var isIdle: Bool { phase == .following && !isAnswering && queue.isEmpty && !isLagging }

  /// Appends an entry to the queue if it is the next one and there is space.
  mutating func take(_ entry: Entry) -> Bool {
    guard phase == .following, let taken, entry.seq > taken, !isLagging else { return false }
    guard queue.count < Self.queueLimit else {
      isLagging = true
      return false
    }
    self.taken = entry.seq
    queue.append(entry)
    return true
  }

  /// Discards the state that belongs to another log than the joined one.
  mutating func forget() {
    taken = nil
    epoch = nil
    queue = []
    isLagging = false
    sent = []
    scriptEnd = 0
    programAfter = nil
    lastSaid = nil
    hasSpoken = false
  }
}
