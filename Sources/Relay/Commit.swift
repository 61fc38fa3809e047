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

    public var lastSeq: Int64 { firstSeq + Int64(frames.count) - 1 }
  }

  /// A user's marks in a room as they are now.
  public struct MarkChange: Sendable {
    public var room: String
    public var marks: Marks
    /// How many users belong to the room.
    public var members: Int
  }

  /// A user came to belong to a room, or no longer does.
  public struct MembershipChange: Sendable {
    public var room: String
    public var user: String
    public var belongs: Bool
    public var read: Int64
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

  /// One span a room, so that what a room's subscribers get is one run of bytes.
  public let spans: [RoomSpan]
  public let frames: Frames
  /// Who sent each of `frames`.
  public let senders: [String]
  public let marks: [MarkChange]
  public let memberships: [MembershipChange]
  public let typing: [TypingChange]
  public let audiences: [AudienceChange]

  /// - Parameter entries: in commit order; those of one room with consecutive `seq`.
  public init(
    entries: [Entry], firstKept: [String: Int64], marks: [MarkChange],
    memberships: [MembershipChange], typing: [TypingChange], audiences: [AudienceChange],
    framing: Framing
  ) {
    var indices: [String: Int] = [:]
    var groups: [[Int]] = []
    for (index, entry) in entries.enumerated() {
      if let group = indices[entry.room] {
        groups[group].append(index)
      } else {
        indices[entry.room] = groups.count
        groups.append([index])
      }
    }
    var spans: [RoomSpan] = []
    var frames = Frames()
    var senders: [String] = []
    spans.reserveCapacity(groups.count)
    senders.reserveCapacity(entries.count)
    for group in groups {
      let first = entries[group[0]]
      let lower = frames.count
      for index in group {
        frames.append(entries[index], framing)
        senders.append(entries[index].from)
      }
      spans.append(
        RoomSpan(
          room: first.room, firstSeq: first.seq, frames: lower..<frames.count,
          firstKept: firstKept[first.room] ?? 1))
    }
    self.spans = spans
    self.frames = frames
    self.senders = senders
    self.marks = marks
    self.memberships = memberships
    self.typing = typing
    self.audiences = audiences
  }
}
