/// Consecutive entries of one room from storage.
public struct EntriesPage: Sendable {
  public var room: String
  /// The `seq` of the first frame. Greater than `after + 1` if older entries are no longer kept.
  public var firstSeq: Int64
  /// The oldest `seq` that is kept.
  public var firstKept: Int64
  /// Empty if reading failed: the session tries again.
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
