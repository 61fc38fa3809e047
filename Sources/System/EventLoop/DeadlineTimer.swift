public import Platform

/// A timer for a deadline that moves often. It fires at the deadline or earlier, so that a later
/// deadline costs nothing: the owner must ignore an early one and follow the deadline again.
public struct DeadlineTimer {
  private var timer: TimerID?
  private var at = Instant(nanoseconds: .max)

  /// Creates a timer that is not scheduled.
  public init() {}

  /// Makes sure that the timer fires at this deadline or earlier; `nil` = never.
  public mutating func follow(_ deadline: Instant?, on loop: EventLoop, token: UInt64) {
    guard let deadline, deadline < at else { return }
    at = deadline
    if let timer, loop.reschedule(timer, at: deadline) { return }
    timer = loop.schedule(at: deadline, token: token)
  }

  /// Records that a timer of the loop has fired; returns whether it was this one.
  public mutating func hasFired(_ fired: TimerID) -> Bool {
    guard fired == timer else { return false }
    self = DeadlineTimer()
    return true
  }

  /// Removes the timer from the loop.
  public mutating func cancel(on loop: EventLoop) {
    if let timer { loop.cancel(timer) }
    self = DeadlineTimer()
  }
}
