internal import Glibc

/// A clock that never goes back.
enum MonotonicClock {
  static var nanoseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  static var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
