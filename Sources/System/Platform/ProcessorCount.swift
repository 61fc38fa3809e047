internal import CLinux

/// The number of cores that this process may run on.
public enum ProcessorCount {
  /// The size of its affinity mask (`sched_getaffinity(2)`), which `taskset` and containers
  /// restrict; at least 1.
  public static var usable: Int { max(1, Int(clinux_usable_cores())) }
}
