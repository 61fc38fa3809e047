public import Wire

/// What one commit of the log changed: the same object for every loop.
public final class Commit: Sendable {
  /// The new entries of one room.
  public struct RoomSpan: Sendable {
    public var room: String
    /// The `seq` of the first of them.
    public var firstSeq: Int64
    /// Which of `frames` they are.
    public var frames: Range<Int>
    /// The oldest `seq` of the room that is kept.
    public var firstKept: Int64
    /// When the last of them was made, in milliseconds since 1970.
    public var lastAt: Int64

    public var lastSeq: Int64 { firstSeq + Int64(frames.count) - 1 }
  }

  /// A user's marks in a room as they are now.
  public struct MarkChange: Sendable {
    public var room: String
    public var marks: Marks
    /// How many users belong to the room.
    public var members: Int
    /// What the user has not read, with this commit.
    public var unread: Int64
  }

  /// A user came to belong to a room, or no longer does.
  public struct MembershipChange: Sendable {
    public var room: String
    public var user: String
    public var belongs: Bool
    /// What the user has not read, without this commit's entries.
    public var unread: Int64
    /// The room with this commit: its last `seq`, the oldest that is kept, and when the last entry was
    /// made, in milliseconds since 1970.
    public var head: Int64 = 0
    public var first: Int64 = 1
    public var lastAt: Int64 = 0
  }

  /// A user types, or stopped.
  public struct TypingChange: Sendable {
    public var room: String
    public var user: String
    public var on: Bool
  }

  /// How many users are subscribed to a room; 51 stands for more than 50.
  public struct AudienceChange: Sendable {
    public var room: String
    public var subscribers: Int64
  }

  /// Earlier entries of a room have lost their text.
  public struct Redaction: Sendable {
    public var room: String
    /// The `seq` of the last of them: up to here what is kept in memory is no longer true.
    public var through: Int64
  }

  /// A user came, went, or is away.
  public struct PresenceChange: Sendable {
    public var user: String
    public var presence: Presence
    /// Milliseconds since 1970.
    public var at: Int64
  }

  /// One span a room, so that what a room's subscribers get is one run of bytes.
  public let spans: [RoomSpan]
  public let frames: Frames
  /// Who sent each of `frames`.
  public let senders: [String]
  public let marks: [MarkChange]
  public let membershipChanges: [MembershipChange]
  public let typing: [TypingChange]
  public let audiences: [AudienceChange]
  public let presences: [PresenceChange]
  public let redactions: [Redaction]
  /// Which of `frames` are about earlier entries and say nothing of their own, in rising order.
  private let changes: [Int]

  init(
    _ entries: SpannedEntries, marks: [MarkChange], membershipChanges: [MembershipChange],
    typing: [TypingChange], audiences: [AudienceChange], presences: [PresenceChange],
    redactions: [Redaction]
  ) {
    spans = entries.spans
    frames = entries.frames
    senders = entries.senders
    changes = entries.changes
    self.presences = presences
    self.redactions = redactions
    self.marks = marks
    self.membershipChanges = membershipChanges
    self.typing = typing
    self.audiences = audiences
  }

  /// How many of these frames say something of their own.
  func contents(of frames: Range<Int>) -> Int64 {
    if changes.isEmpty { return Int64(frames.count) }
    let before = changes.partitioningIndex { $0 >= frames.lowerBound }
    let through = changes.partitioningIndex { $0 >= frames.upperBound }
    return Int64(frames.count - (through - before))
  }
}
