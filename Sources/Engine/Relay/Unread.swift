/// A number of entries that a user has not read.
public struct Unread: Equatable, Sendable {
  public var count: Int64
  /// Whether there may be more: the entries were counted beyond `Sequencer.unreadLimit`, and no
  /// further.
  public var isMore: Bool

  public init(_ count: Int64 = 0, isMore: Bool = false) {
    self.count = count
    self.isMore = isMore
  }
}
