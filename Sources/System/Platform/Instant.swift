internal import CLinux
internal import Glibc

/// A point on the monotonic clock (`CLOCK_MONOTONIC`), which no one sets back.
public struct Instant: Comparable, Hashable, Sendable {
  /// Since a start that is the same for all threads of this machine until it boots.
  public var nanoseconds: UInt64

  /// The instant that many nanoseconds after the clock's start.
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Reads the clock. Inside a loop's turn, `EventLoop.now` is the cheaper one.
  public static func now() -> Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  /// The instant that many milliseconds later; the end of time rather than an overflow.
  public func adding(milliseconds: Int) -> Instant {
    let (added, overflow) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
    return adding(nanoseconds: overflow ? .max : added)
  }

  /// The instant that many nanoseconds later; the end of time rather than an overflow.
  public func adding(nanoseconds added: UInt64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(added)
    return Instant(nanoseconds: overflow ? .max : sum)
  }

  /// Nanoseconds from `earlier` to this instant; 0 if it is not earlier.
  public func nanoseconds(since earlier: Instant) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
  }

  /// Whole milliseconds from `earlier` to this instant; 0 if it is not earlier.
  public func milliseconds(since earlier: Instant) -> Int {
    Int(nanoseconds(since: earlier) / 1_000_000)
  }

  /// Whether the left instant comes first.
  public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}
