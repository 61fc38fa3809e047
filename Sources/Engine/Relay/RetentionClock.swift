/// The time by which retention judges the age of entries: that of the wall clock, unless it goes
/// forward in a way that no time explains. Entries that a wrong clock has removed would not come back
/// with the right time.
///
/// It is behind the wall clock for `trustMilliseconds` after a jump, and after a start at which the
/// newest entry is older than that. A clock that is set back is believed at once: less goes.
package struct RetentionClock {
  /// A step forward that needs no explanation.
  static let toleranceMilliseconds: Int64 = 60_000
  /// How long a clock that is ahead has to keep pace with the monotonic clock.
  package static let trustMilliseconds: Int64 = 3_600_000

  /// What it adds to the monotonic clock.
  private var offset: Int64
  /// The offset that the wall clock has instead, and since when.
  private var doubted: (offset: Int64, since: Int64)?

  /// - Parameters:
  ///   - wall: milliseconds since 1970.
  ///   - monotonic: milliseconds of the monotonic clock.
  ///   - newest: the time of the newest entry; `nil` if there is none.
  package init(wall: Int64, monotonic: Int64, newest: Int64?) {
    let isBelieved = newest.map { wall - $0 <= Self.trustMilliseconds } ?? true
    offset = (isBelieved ? wall : newest ?? wall) - monotonic
    if !isBelieved { doubted = (wall - monotonic, monotonic) }
  }

  /// Whether it is behind the wall clock.
  package var doubts: Bool { doubted != nil }

  /// Returns the time, in milliseconds since 1970.
  package mutating func now(wall: Int64, monotonic: Int64) -> Int64 {
    let found = wall - monotonic
    if found - offset <= Self.toleranceMilliseconds {
      (offset, doubted) = (found, nil)
    } else if let (before, since) = doubted, abs(found - before) <= Self.toleranceMilliseconds {
      doubted?.offset = found
      if monotonic - since >= Self.trustMilliseconds { (offset, doubted) = (found, nil) }
    } else {
      doubted = (found, monotonic)
    }
    return offset + monotonic
  }
}
