/// One delivery from the log to one loop.
public struct LogDelivery: Sendable {
  /// The same object for all loops.
  public var commit: Commit?
  /// For this loop only; to be processed after the commit.
  public var answers: [LogAnswer]
  /// Whether the loop may submit its next batch.
  public var completesSubmit: Bool
  /// Whether the log has become another one, so that nothing holds of what was published before:
  /// clients have to join again. To be processed after the commit.
  public var startsAgain: Bool

  public init(
    commit: Commit?, answers: [LogAnswer], completesSubmit: Bool, startsAgain: Bool = false
  ) {
    self.commit = commit
    self.answers = answers
    self.completesSubmit = completesSubmit
    self.startsAgain = startsAgain
  }
}
