import Glibc

/// How the work for an input grows with the size of the input.
public enum Growth {
  /// Returns whether sixteen times the size costs about sixteen times the work. Work that looks at
  /// the whole input again for each piece costs 256 times as much.
  ///
  /// `work` takes a size and returns the processor time that was spent on it (`processorTime`). The
  /// least of several rounds counts, and the bound leaves room for a busy machine, which makes a
  /// thread up to two or three times slower.
  public static func isLinear(
    from size: Int, _ work: (Int) throws -> Duration
  ) rethrows -> Bool {
    var (small, large) = (Duration.seconds(1000), Duration.seconds(1000))
    for _ in 0..<3 {
      small = try min(small, work(size))
      large = try min(large, work(16 * size))
    }
    return large < small * 64
  }

  /// Returns the processor time that this thread spends on a call: other programs do not count.
  public static func processorTime(_ body: () throws -> Void) rethrows -> Duration {
    func now() -> Duration {
      var time = timespec()
      unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
    let start = now()
    try body()
    return now() - start
  }
}
