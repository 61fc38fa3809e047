internal import CLinux
internal import Glibc

/// A point in time on the monotonic clock (`CLOCK_MONOTONIC`), which is never set back.
public struct Instant: Comparable, Hashable, Sendable {
  /// Nanoseconds since an origin that is the same for all threads of this machine until it reboots.
  public var nanoseconds: UInt64

  /// The instant this many nanoseconds after the origin.
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// Reads the clock. Within a loop's turn, `EventLoop.now` is cheaper.
  public static func now() -> Instant {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  /// Returns the instant this many milliseconds later; the maximum on overflow.
  public func adding(milliseconds: Int) -> Instant {
    let (added, overflow) = UInt64(max(0, milliseconds)).multipliedReportingOverflow(by: 1_000_000)
    return adding(nanoseconds: overflow ? .max : added)
  }

  /// Returns the instant this many nanoseconds later; the maximum on overflow.
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

  /// Whether the left instant is earlier.
  public static func < (left: Instant, right: Instant) -> Bool {
    left.nanoseconds < right.nanoseconds
  }
}
