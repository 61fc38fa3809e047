public import Wire

/// Where the rooms' entries are kept: gives each its `seq`, makes it durable, and tells every
/// event loop.
///
/// The contract, which every conformer is held to by one test suite:
/// - **Order.** What is committed reaches every loop in commit order, through `publish`, which the
///   log calls for one loop at a time and never concurrently for the same loop. An answer to a
///   request comes through the same door behind everything that was committed before it: a loop
///   that has seen the answer to `enter` has missed no entry and will see every later one.
/// - **Durability.** Nothing is published or acknowledged before it is as durable as the log was
///   configured to make it.
/// - **No doubles.** An entry is known by room, sender and id for as long as it is kept. A second
///   one is answered with the first one's `seq`, whatever it says, and not before the first is
///   durable.
/// - **Refusal.** If the log cannot write, every append of that batch is refused, nothing of it is
///   stored, and so is whatever the same session sends to the same room for
///   `Refusal.retryAfterMilliseconds`, which keeps the order of one sender. Reading goes on as far
///   as it can. Writing resumes with the first batch that succeeds.
/// - **One at a time.** A loop has at most one `submit` under way: the next batch gathers in the
///   loop until the delivery arrives that has `completesSubmit`.
///
/// All methods but `start` may be called from any thread.
public protocol Log: AnyObject, Sendable {
  /// This run's line in the lineage.
  var epoch: String { get }

  /// Begins to take requests.
  /// - Parameters:
  ///   - loops: how many event loops there are; a commit is published to each.
  ///   - publish: called on a thread of the log's; must not block.
  /// - Throws: if the system does not give what it takes; `stop` is to be called all the same.
  func start(
    loops: Int, framing: Framing, publish: @escaping @Sendable (_ loop: Int, LogDelivery) -> Void
  ) throws(StoreFailure)

  /// Hands over one turn's requests of a loop. Each call is answered by one delivery that has
  /// `completesSubmit`, even when there is nothing to say.
  func submit(_ requests: [LogRequest], from loop: Int)

  /// Asks for entries from storage; answered in any order relative to commits.
  func read(_ request: ReadRequest, from loop: Int)

  /// Commits what was submitted, publishes it, and closes. Returns when that is done.
  func stop()

  /// What it has done since the start, for whoever watches it.
  func statistics() -> LogStatistics
}

extension Log {
  /// A log that does not count.
  public func statistics() -> LogStatistics { LogStatistics() }
}

/// A connection's session on its loop. The generation tells a successor in the same place apart.
public struct SessionID: Hashable, Sendable {
  public var index: Int32
  public var generation: UInt32

  public init(index: Int32, generation: UInt32) {
    self.index = index
    self.generation = generation
  }
}

/// What a loop asks of the log, in the order of arrival.
public enum LogRequest: Sendable {
  case append(Append)
  case enter(Enter)
  /// A subscription has ended; one for each `enter` that was answered with `entered`.
  case exit(room: String, user: String)
  /// A user has received or read up to a `seq`; cut to the head, and never going back.
  case mark(room: String, Marks)
  /// A user no longer wants to belong to the room.
  case forget(room: String, user: String)
  /// A user types, or stopped: passed on to every loop, kept nowhere.
  case typing(room: String, user: String, on: Bool)
  /// How a user stands to the sessions of this loop is another: `offline` = there are none.
  case presence(user: String, from: Presence, to: Presence)
  /// A slice of the rooms that a user belongs to, at most `limit` of them. `listed` ones that the user
  /// does not belong to are told beside them. Answered under the same ticket.
  case belongings(
    ticket: UInt32, user: String, listed: [String], after: BelongingsCursor, limit: Int)

  /// An entry that wants to be one.
  public struct Append: Sendable {
    public var session: SessionID
    public var room: String
    public var user: String
    public var id: String
    public var kind: EntryKind
    public var body: [UInt8]
    /// As in `ClientMessage.Send`: the log looks whether it may be so.
    public var reference: ClientMessage.Reference?
    /// Whether this send may bring the room into existence.
    public var mayCreate: Bool

    public init(
      session: SessionID, room: String, user: String, id: String, kind: EntryKind, body: [UInt8],
      reference: ClientMessage.Reference? = nil, mayCreate: Bool
    ) {
      self.session = session
      self.room = room
      self.user = user
      self.id = id
      self.kind = kind
      self.body = body
      self.reference = reference
      self.mayCreate = mayCreate
    }
  }

  /// A join: the user belongs to the room from now on, and is subscribed until `exit`.
  public struct Enter: Sendable {
    public var session: SessionID
    public var room: String
    public var user: String
    /// The client's position, as in `ClientMessage.Join`.
    public var after: Int64?
    public var epoch: String?
    public var mayCreate: Bool

    public init(
      session: SessionID, room: String, user: String, after: Int64?, epoch: String?,
      mayCreate: Bool
    ) {
      self.session = session
      self.room = room
      self.user = user
      self.after = after
      self.epoch = epoch
      self.mayCreate = mayCreate
    }
  }
}

/// How far a user has come in a room.
public typealias Marks = ServerMessage.Marks

/// One post from the log to one loop.
public struct LogDelivery: Sendable {
  /// The same object for every loop.
  public var commit: Commit?
  /// This loop's own, to be taken after the commit.
  public var answers: [LogAnswer]
  /// Whether the loop may submit its next batch.
  public var completesSubmit: Bool

  public init(commit: Commit?, answers: [LogAnswer], completesSubmit: Bool) {
    self.commit = commit
    self.answers = answers
    self.completesSubmit = completesSubmit
  }
}

/// An answer to a request of one session.
public enum LogAnswer: Sendable {
  case ack(SessionID, ServerMessage.Ack)
  /// An append that was not stored, or an `enter` that failed; `re`, `room` and `id` are set.
  case refused(SessionID, WireError)
  case entered(SessionID, Entered)
  /// What a `LogRequest.belongings` asked for; `next` is where the next slice begins, `nil` at the end.
  /// Where `isComplete` is false, reading failed.
  case belongings(
    ticket: UInt32, user: String, [Belonging], next: BelongingsCursor?, isComplete: Bool)
  case entries(SessionID, EntriesPage)
  /// A message ready to be sent: what a `ReadRequest.history` asked for.
  case reply(SessionID, json: [UInt8])
  /// The last entries that a `ReadRequest.lasts` asked for, in its order, folded; `nil` where a room
  /// has none that says something of its own. Fewer where these are more than a reply holds.
  case lasts(SessionID, [[UInt8]?])
  /// What a `ReadRequest.lastSeen` asked for.
  case lastSeen(SessionID, Seen)

  /// A room as it is at this point of the order of commits.
  public struct Entered: Sendable {
    /// Ready to be sent.
    public var joined: ServerMessage.Joined
    public var user: String

    public init(joined: ServerMessage.Joined, user: String) {
      self.joined = joined
      self.user = user
    }
  }

  /// When users were last there.
  public struct Seen: Sendable {
    public var purpose: ReadRequest.SeenPurpose
    public var users: [String]
    /// In milliseconds since 1970, of those of whom it is known.
    public var at: [String: Int64]

    public init(purpose: ReadRequest.SeenPurpose, users: [String], at: [String: Int64]) {
      self.purpose = purpose
      self.users = users
      self.at = at
    }
  }

  /// A room that a user belongs to, or may want to know of.
  public struct Belonging: Sendable, Equatable {
    public var room: String
    public var belongs: Bool
    public var head: Int64
    public var read: Int64
    /// Entries of others after the read mark that say something. A send moves the sender's own mark,
    /// so that behind the mark none of the user's own can be.
    public var unread: Int64
    /// The oldest `seq` that is kept.
    public var first: Int64
    /// When the last entry was made, in milliseconds since 1970; 0 where there is none.
    public var lastAt: Int64

    public init(
      room: String, belongs: Bool, head: Int64, read: Int64, unread: Int64, first: Int64 = 1,
      lastAt: Int64 = 0
    ) {
      self.room = room
      self.belongs = belongs
      self.head = head
      self.read = read
      self.unread = unread
      self.first = first
      self.lastAt = lastAt
    }
  }
}

/// What is read from storage on behalf of one session.
public enum ReadRequest: Sendable {
  /// Entries after `after` up to `through`, as frames of at most `limitBytes` in all, but at least
  /// one. Answered by `.entries`.
  case entries(SessionID, room: String, after: Int64, through: Int64, limitBytes: Int)
  /// Answered by `.reply` with a `history` of at most `limitBytes`, but at least one entry; or
  /// with an `error` where reading failed or, if the room may not be created by asking, where
  /// there is no such room.
  case history(
    SessionID, ClientMessage.HistoryRequest, mayCreate: Bool, limitBytes: Int)
  /// The last entry of each of these rooms that says something, at this `seq` or before it, in its
  /// current state, as `message` JSON. Answered by `.lasts`.
  case lasts(SessionID, [(room: String, seq: Int64)])
  /// When these users were last there. Answered by `.lastSeen`.
  case lastSeen(SessionID, [String], for: SeenPurpose)

  /// What of a session waits for it.
  public enum SeenPurpose: Sendable { case people, rooms, peer }

  public var session: SessionID {
    switch self {
    case .entries(let session, _, _, _, _), .history(let session, _, _, _), .lasts(let session, _),
      .lastSeen(let session, _, _):
      session
    }
  }
}

/// Consecutive entries of one room from storage.
public struct EntriesPage: Sendable {
  public var room: String
  /// The `seq` of the first frame. Greater than `after + 1` where older ones are no longer kept.
  public var firstSeq: Int64
  /// The oldest `seq` that is kept.
  public var firstKept: Int64
  /// Empty where reading failed: the session tries again.
  public var frames: Frames
  public var failed: Bool

  public init(
    room: String, firstSeq: Int64, firstKept: Int64, frames: Frames, failed: Bool = false
  ) {
    self.room = room
    self.firstSeq = firstSeq
    self.firstKept = firstKept
    self.frames = frames
    self.failed = failed
  }
}

/// How a log refuses to store.
public enum Refusal {
  /// How long a client waits before it sends again, in order.
  public static let retryAfterMilliseconds: Int64 = 1000
}
