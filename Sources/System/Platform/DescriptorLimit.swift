internal import CLinux
/// The limit of open descriptors of this process: `RLIMIT_NOFILE`.
public enum DescriptorLimit {
  /// Raises the soft limit to the hard one.
  ///
  /// - Returns: the new limit.
  public static func raise() throws(SystemError) -> Int {
    let limit = try read()
    if limit.soft < limit.hard { try set(soft: limit.hard) }
    return limit.hard
  }

  /// Returns the current limit, and the maximum that it can be raised to.
  public static func read() throws(SystemError) -> (soft: Int, hard: Int) {
    var soft: UInt64 = 0
    var hard: UInt64 = 0
    guard unsafe clinux_descriptor_limit(&soft, &hard) == 0 else {
      throw SystemError.last("getrlimit RLIMIT_NOFILE")
    }
    // RLIM_INFINITY, all ones, means no limit.
    return (Int(clamping: soft), Int(clamping: hard))
  }

  /// Sets the soft limit for the whole process.
  public static func set(soft: Int) throws(SystemError) {
    let value = soft == .max ? UInt64.max : UInt64(soft)
    guard clinux_set_descriptor_limit(value) == 0 else {
      throw SystemError.last("setrlimit RLIMIT_NOFILE \(soft)")
    }
  }
}
