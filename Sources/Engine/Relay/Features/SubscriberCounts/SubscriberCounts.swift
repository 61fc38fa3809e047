import Wire

/// `subscribers`: the number of a room's subscribers, for the sessions that asked for it when they
/// joined, at most once per interval.
final class SubscriberCounts: Feature {
  private var throttle = Throttle<EphemeralKey, Int64>()

  func apply(
    _ change: Commit.AudienceChange, in audience: inout some Audience & ~Copyable, _ now: Moment
  ) {
    guard let room = audience.room(named: change.room) else { return }
    let key = EphemeralKey(.subscribers, room, "")
    if throttle.admit(change.subscribers, for: key, now: now.monotonic) {
      tell(change.subscribers, key, in: &audience)
    }
  }

  private func tell(
    _ count: Int64, _ key: EphemeralKey, in audience: inout some Audience & ~Copyable
  ) {
    guard let room = audience.name(of: key.room) else { return }
    audience.encode(.subscribers(room: room, count: count))
    audience.inform(.counting, key)
  }

  var nextDeadline: Int64? { throttle.nextDeadline }

  func tick(in audience: inout some Audience & ~Copyable, _ now: Moment) {
    while let (key, count) = throttle.takeDue(now: now.monotonic) {
      tell(count, key, in: &audience)
    }
  }

  var timerCount: Int { throttle.timerCount }
  var isLoose: Bool { throttle.isLoose }
  func shrink() { throttle.shrink() }
}
