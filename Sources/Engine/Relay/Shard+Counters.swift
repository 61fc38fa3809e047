public import Wire

extension Shard {
  /// Returns the gauges. O(sessions, subscriptions and rooms).
  public func gauges() -> ShardGauges {
    var gauges = ShardGauges()
    for slot in sessions.slots {
      gauges.sessions += 1
      gauges.queuedBytes += sessions[slot].queuedBytes + sessions[slot].waitingBytes
    }
    for slot in subscriptions.slots {
      gauges.subscriptions += 1
      if subscriptions[slot].state == .lagging { gauges.lagging += 1 }
    }
    for slot in rooms.slots where !rooms[slot].subscribers.isEmpty { gauges.rooms += 1 }
    gauges.users = sessions.users.values.count { !$0.firstSession.isNone }
    gauges.directory = people.directory
    gauges.tailBytes = recent.bytes
    return gauges
  }

  /// Returns the number of sends that were acknowledged since the last call, when the first
  /// send of their batch was received, in microseconds of the monotonic clock, and the trace of the batch.
  public mutating func takeAcknowledged() -> (count: Int, since: Int64, trace: TraceID?)? {
    log.takeAcknowledged()
  }
}
