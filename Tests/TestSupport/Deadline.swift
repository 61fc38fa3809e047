import Glibc

/// The moment at which a test gives up waiting. It is far away: only a failing test reaches it.
public struct Deadline {
  private let end: ContinuousClock.Instant

  public init(seconds: Int = 120) { end = .now + .seconds(seconds) }

  public init(milliseconds: Int32) { end = .now + .milliseconds(Int(milliseconds)) }

  /// The time that is left, as poll(2) takes it; 0 once the deadline has passed.
  public var milliseconds: Int32 {
    let left = ContinuousClock.now.duration(to: end)
    return Int32(max(0, left / .milliseconds(1)))
  }

  public var hasPassed: Bool { milliseconds == 0 }
}
