/// New entries of a room that one loop gave to its sessions in one turn.
public struct FanOut: Equatable, Sendable {
  var room: String
  var firstSeq: Int64
  var lastSeq: Int64
  /// When the loop began to write, in microseconds of the monotonic clock.
  public var at: Int64
  /// The number of sessions that were given the entries at once.
  public var sessions: Int32
  /// The number of other sessions with the room, which read the entries from the log.
  public var lagging: Int32
}

/// The last fan-outs of one loop: one for each room and turn, whatever the number of entries and of
/// sessions.
struct FanOuts {
  /// Each is of at least one entry, so they reach back as far as the history of commits does.
  static let limit = CommitHistory.entriesLimit

  private var elements: [FanOut] = []
  /// Once `limit` is reached, the place of the oldest.
  private var next = 0

  var count: Int { elements.count }

  mutating func append(_ element: FanOut) {
    if elements.count < Self.limit {
      elements.append(element)
      return
    }
    elements[next] = element
    next = next + 1 == Self.limit ? 0 : next + 1
  }

  /// Returns the fan-out of an entry.
  func find(_ seq: Int64, inRoom room: String) -> FanOut? {
    elements.first { $0.room == room && $0.firstSeq <= seq && seq <= $0.lastSeq }
  }
}
