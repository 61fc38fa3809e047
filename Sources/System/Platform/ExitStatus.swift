/// Exit statuses that are part of the contract of the commands; see relay(1).
public enum ExitStatus {
  /// The environment failed: the disk, the database, the network, the reader of the output. The same
  /// command may succeed later.
  public static let environment: Int32 = 4
}
