public import Wire

/// The changes of one commit of the log, as published to all loops. All get the same object.
public final class Commit: Sendable {
  /// The new entries of one room.
  public struct RoomSpan: Sendable {
    public var room: String
    /// The `seq` of the first of them.
    public var firstSeq: Int64
    /// Their range in `frames`.
    public var frames: Range<Int>
    /// The oldest `seq` of the room that is kept.
    public var firstKept: Int64
    /// The time of the last entry, in milliseconds since 1970.
    public var lastAt: Int64
    /// The last `seq` before the span that the sender of its first entry did not send.
    public var others: Int64

    public var lastSeq: Int64 { firstSeq + Int64(frames.count) - 1 }
  }

  /// The current marks of a user in a room.
  public struct MarkChange: Sendable {
    public var room: String
    public var marks: Marks
    /// The number of members of the room; `nil` if none of the others is told.
    public var members: Int?
    /// The entries that the user has not read, including those of this commit.
    public var unread: Unread
  }

  /// A user became a member of a room or left it.
  public struct MembershipChange: Sendable {
    public var room: String
    public var user: String
    public var belongs: Bool
    /// The user's read mark after this commit.
    public var read: Int64 = 0
    /// The entries that the user has not read, without those of this commit. The number is negative
    /// if the membership began after some of them.
    public var unread = Unread()
    /// The state of the room after this commit: its last `seq`, the oldest that is kept, and the
    /// time of the last entry in milliseconds since 1970.
    public var head: Int64 = 0
    public var first: Int64 = 1
    public var lastAt: Int64 = 0
  }

  /// The subscriptions of a user to a room end with an entry.
  public struct Departure: Sendable {
    public var room: String
    public var user: String
    public var entry: ServerMessage.Departure
  }

  /// A user started or stopped typing.
  public struct TypingChange: Sendable {
    public var room: String
    public var user: String
    public var on: Bool

    public init(room: String, user: String, on: Bool) {
      self.room = room
      self.user = user
      self.on = on
    }
  }

  /// The number of users who are subscribed to a room; 51 stands for more than 50.
  public struct AudienceChange: Sendable {
    public var room: String
    public var subscribers: Int64
  }

  /// A direct room became a request to a user, or is none any more.
  public struct RequestChange: Sendable {
    public var room: String
    public var user: String
    public var isOn: Bool

    public init(room: String, user: String, isOn: Bool) {
      self.room = room
      self.user = user
      self.isOn = isOn
    }
  }

  /// Earlier entries of a room were redacted.
  public struct Redaction: Sendable {
    public var room: String
    /// The `seq` of the last of them: copies in memory up to there are out of date.
    public var through: Int64

    public init(room: String, through: Int64) {
      self.room = room
      self.through = through
    }
  }

  /// The earlier entries of a room are no longer kept.
  public struct Trim: Sendable {
    public var room: String
    public var first: Int64
  }

  /// A user's presence changed.
  public struct PresenceChange: Sendable {
    public var user: String
    public var presence: Presence
    /// Milliseconds since 1970.
    public var at: Int64
  }

  /// One span per room, so that the subscribers of a room get one range of bytes.
  public let spans: [RoomSpan]
  public let frames: Frames
  /// The sender of each of `frames`.
  public let senders: [String]
  /// When each of `frames` was received, in microseconds of the monotonic clock.
  public let received: [Int64]
  public let marks: [MarkChange]
  public let membershipChanges: [MembershipChange]
  /// In the order of the log.
  public let departures: [Departure]
  public let typing: [TypingChange]
  public let audiences: [AudienceChange]
  public let presences: [PresenceChange]
  public let redactions: [Redaction]
  public let trims: [Trim]
  /// The indices of those `frames` that are changes of earlier entries without content of their
  /// own, ascending.
  private let changes: [Int]
  /// The indices of those `frames` of direct rooms that are shown to their sender alone, ascending.
  let hidden: [Int]
  /// In their order.
  public let blocks: [BlockChange]
  /// If what was told before is not known to be true any longer.
  public let renewal: Renewal?
  public let requests: [RequestChange]
  public let bans: [BanChange]
  /// All that was told before and may have changed unseen.
  public struct Renewal: Sendable {
    public var blocks: BlockTable
    /// `nil` if they cannot be read: those before stay.
    public var bans: [BanChange]?
  }
  /// `nil` if there are no entries.
  let trace: CommitTrace?
  /// Whether there is any of `blocks`, `renewal`, `requests` and `bans`.
  let hasRareChanges: Bool

  /// The changes that are in no store: a log that starts again publishes them all the same.
  package var ephemera: Commit {
    Commit(audiences: audiences, presences: presences)
  }

  init(
    _ entries: SpannedEntries = SpannedEntries(), marks: [MarkChange] = [],
    membershipChanges: [MembershipChange] = [], departures: [Departure] = [],
    typing: [TypingChange] = [], audiences: [AudienceChange], presences: [PresenceChange],
    redactions: [Redaction] = [], trims: [Trim] = [], blocks: [BlockChange] = [],
    renewal: Renewal? = nil, requests: [RequestChange] = [], bans: [BanChange] = [],
    trace: CommitTrace? = nil
  ) {
    spans = entries.spans
    frames = entries.frames
    senders = entries.senders
    received = entries.received
    changes = entries.changes
    hidden = entries.hidden
    self.blocks = blocks
    self.renewal = renewal
    self.requests = requests
    self.bans = bans
    self.trace = trace
    hasRareChanges =
      !(blocks.isEmpty && renewal == nil && requests.isEmpty && bans.isEmpty)
    self.presences = presences
    self.redactions = redactions
    self.trims = trims
    self.marks = marks
    self.membershipChanges = membershipChanges
    self.departures = departures
    self.typing = typing
    self.audiences = audiences
  }

  /// Returns the frames that are not shown to a user of the room, although the room is.
  func hidden(in frames: Range<Int>, from user: String) -> [Int] {
    hidden(in: frames).filter { senders[$0] != user }
  }

  /// Returns the frames that are shown to their sender alone.
  func hidden(in frames: Range<Int>) -> ArraySlice<Int> {
    let first = hidden.partitioningIndex { $0 >= frames.lowerBound }
    return hidden[first...].prefix { $0 < frames.upperBound }
  }

  /// Returns the number of frames with content of their own.
  func contents(of frames: Range<Int>) -> Int64 {
    if changes.isEmpty { return Int64(frames.count) }
    let before = changes.partitioningIndex { $0 >= frames.lowerBound }
    let through = changes.partitioningIndex { $0 >= frames.upperBound }
    return Int64(frames.count - (through - before))
  }
}
