internal import CLinux

/// How many cores this process may run on.
public enum ProcessorCount {
  /// As its affinity says (`sched_getaffinity(2)`), which `taskset` and containers narrow; at
  /// least 1.
  public static var usable: Int { max(1, Int(clinux_usable_cores())) }
}
