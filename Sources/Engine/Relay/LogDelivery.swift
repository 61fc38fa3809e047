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
