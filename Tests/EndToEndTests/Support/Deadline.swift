/// What ends a test that cannot go on.
struct Unexpected: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}

/// A point in time after which something is not waited for any more: generous, since it passes
/// only where something is wrong.
struct Deadline {
  private let end: ContinuousClock.Instant

  init(seconds: Int = 120) { end = .now + .seconds(seconds) }

  init(milliseconds: Int32) { end = .now + .milliseconds(Int(milliseconds)) }

  /// What is left, for poll(2); 0 once it has passed.
  var milliseconds: Int32 {
    let left = ContinuousClock.now.duration(to: end)
    return Int32(max(0, left / .milliseconds(1)))
  }

  var hasPassed: Bool { milliseconds == 0 }
}
