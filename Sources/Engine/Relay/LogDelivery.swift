/// One delivery from the log to one loop.
public struct LogDelivery: Sendable {
  /// The same object for all loops.
  public var commit: Commit?
  /// For this loop only; to be processed after the commit.
  public var answers: [LogAnswer]
  /// Whether the loop may submit its next batch.
  public var completesSubmit: Bool
  /// Set if nothing holds of what was published before, because the log has lost entries or this relay
  /// has missed some: clients have to join again, in this epoch. To be processed after the commit.
  public var newEpoch: String?

  public init(
    commit: Commit?, answers: [LogAnswer], completesSubmit: Bool, newEpoch: String? = nil
  ) {
    self.commit = commit
    self.answers = answers
    self.completesSubmit = completesSubmit
    self.newEpoch = newEpoch
  }
}
