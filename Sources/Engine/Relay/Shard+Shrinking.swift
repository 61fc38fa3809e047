/// Releases the memory of a peak.
extension Shard {
  /// Frees buffers that were not needed since the last call.
  public mutating func trimBuffers() { spareBuffers.trim() }

  /// Whether its tables are much larger than their content.
  public var isLoose: Bool {
    sessions.isLoose || rooms.isLoose || features.isLoose
  }

  /// Releases the memory of the tables' unused ends. To be called when there is no work.
  public mutating func shrink() {
    precondition(!hasWork, "pending work refers to sessions by their slots")
    sessions.shrink()
    subscriptions.shrink()
    rooms.shrink()
    features.shrink()
  }
}
