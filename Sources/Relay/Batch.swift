import Wire

/// One batch while it is gathered: what it changes, and whom it answers.
struct Batch {
  struct Acknowledgement {
    var loop: Int
    var session: SessionID
    var ack: ServerMessage.Ack
    /// A duplicate of an entry that was stored by an earlier batch.
    var wasStored: Bool
  }
  struct RefusedAppend {
    var loop: Int
    var session: SessionID
    var error: WireError
  }
  struct Entering {
    var loop: Int
    var request: LogRequest.Enter
    var room: Int
    /// At this request's place in the order.
    var head: Int64
    var resumption: Resumption
  }
  struct Question {
    var loop: Int
    var session: SessionID
    var user: String
    var listed: [String]
  }
  struct IdentityKey: Hashable {
    var room: Int
    var user: String
    var id: String
  }

  let now: Int64
  var entries: [Entry] = []
  /// The room of each of `entries`.
  var entryRooms: [Int] = []
  var identities: [IdentityKey: (seq: Int64, at: Int64)] = [:]
  var acks: [Acknowledgement] = []
  var refusals: [RefusedAppend] = []
  var enterings: [Entering] = []
  var questions: [Question] = []
  /// Rooms whose stored state changed.
  var touched: Set<Int> = []
  var newRooms: [Int] = []
  /// Whether a send, and nothing else, moved the marks.
  var dirtyMembers: [Sequencer.MemberKey: Bool] = [:]
  /// Moved by a `mark`: others are told.
  var marked: Set<Sequencer.MemberKey> = []
  var formerMembers: [Sequencer.MemberKey] = []
  var memberships: [Commit.MembershipChange] = []
  var typing: [Commit.TypingChange] = []
  var audienceRooms: Set<Int> = []
  var audiences: [Commit.AudienceChange] = []
  var trimmed: [Int] = []
  /// What is tried again from an earlier batch.
  var retried: [Sequencer.MemberKey: Sequencer.MemberRetry] = [:]
  /// Reading failed on the way: the batch must not be stored.
  var failure: StoreFailure?

  init(now: Int64) { self.now = now }
}
