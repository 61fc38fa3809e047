/// Releases the memory of a peak.
extension Shard {
  /// Frees buffers that were not needed since the last call.
  public mutating func trimBuffers() { spareBuffers.trim() }

  /// Whether its tables are much larger than their content.
  public var isLoose: Bool {
    sessions.isLoose || lists.isLoose || rooms.isLoose || typing.isLoose
      || receipts.isLoose || subscriberCounts.isLoose || presenceNews.isLoose || people.isLoose
  }

  /// Releases the memory of the tables' unused ends. To be called when there is no work.
  public mutating func shrink() {
    precondition(!hasWork, "pending work refers to sessions by their slots")
    sessions.shrink()
    subscriptions.shrink()
    lists.shrink()
    rooms.shrink()
    typing.shrink()
    receipts.shrink()
    subscriberCounts.shrink()
    presenceNews.shrink()
    people.shrink()
  }
}
