extension Shard {
  /// Looks at everything: for whoever asks now and then. `mutating` as `hasOutput` is.
  public mutating func gauges() -> ShardGauges {
    var gauges = ShardGauges()
    for session in sessions.all {
      gauges.sessions += 1
      gauges.queuedBytes += session.queuedBytes
      if let extras = session.extras {
        gauges.queuedBytes += extras.ephemera.values.reduce(0) { $0 + $1.count }
      }
    }
    for subscription in subscriptions.all {
      gauges.subscriptions += 1
      if subscription.state == .lagging { gauges.lagging += 1 }
    }
    gauges.rooms = rooms.all.count { !$0.subscribers.isEmpty }
    gauges.users = localUsers.values.count { !$0.firstSession.isNone }
    gauges.directory = directory
    gauges.tailBytes = tailBytes
    return gauges
  }

  /// How many sends of the last batch were acknowledged since this was last asked, and when the first
  /// of the batch was received, in microseconds of the monotonic clock.
  public mutating func takeAcknowledged() -> (count: Int, since: Int64)? {
    guard acknowledged > 0, answeredBegan >= 0 else { return nil }
    defer { acknowledged = 0 }
    return (acknowledged, answeredBegan)
  }
}
