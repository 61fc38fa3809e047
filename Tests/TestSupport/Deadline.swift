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

/// Checks a condition every 20 ms until it is true; for changes that no descriptor reports.
/// - Returns: false if the deadline passed before.
public func becomesTrue(
  within deadline: Deadline = Deadline(), _ condition: () throws -> Bool
) rethrows -> Bool {
  while try !condition() {
    if deadline.hasPassed { return false }
    usleep(20_000)
  }
  return true
}
