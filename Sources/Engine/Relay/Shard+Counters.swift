extension Shard {
  /// Returns the gauges. O(sessions, subscriptions and rooms).
  public func gauges() -> ShardGauges {
    var gauges = ShardGauges()
    for session in sessions.all {
      gauges.sessions += 1
      gauges.queuedBytes += session.queuedBytes + session.waitingBytes
    }
    for subscription in subscriptions.all {
      gauges.subscriptions += 1
      if subscription.state == .lagging { gauges.lagging += 1 }
    }
    gauges.rooms = rooms.all.count { !$0.subscribers.isEmpty }
    gauges.users = sessions.users.values.count { !$0.firstSession.isNone }
    gauges.directory = roster.directory
    gauges.tailBytes = recent.bytes
    return gauges
  }

  /// Returns the number of sends that were acknowledged since the last call, and when the first
  /// send of their batch was received, in microseconds of the monotonic clock.
  public mutating func takeAcknowledged() -> (count: Int, since: Int64)? {
    log.takeAcknowledged()
  }
}
