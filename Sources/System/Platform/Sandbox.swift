internal import CLinux

/// What a process that reads what strangers have written may use up.
public struct Sandbox: Sendable {
  /// More memory is refused. Its programs and libraries count.
  public var memoryLimitBytes: Int
  /// A file that becomes longer kills the process.
  public var fileLimitBytes: Int
  /// More time of a processor kills the process.
  public var processorLimitSeconds: Int

  public init(memoryLimitBytes: Int, fileLimitBytes: Int, processorLimitSeconds: Int) {
    self.memoryLimitBytes = memoryLimitBytes
    self.fileLimitBytes = fileLimitBytes
    self.processorLimitSeconds = processorLimitSeconds
  }

  /// Confines this process for good: from now on it can read and write the descriptors that are open, get memory,
  /// and end. Any other system call kills it (seccomp(2)). It has a lower priority than its parent, and dies with the
  /// thread that has started it.
  public func enter() throws(SystemError) {
    let result = clinux_confine(
      UInt64(memoryLimitBytes), UInt64(fileLimitBytes), UInt64(processorLimitSeconds))
    guard result == 0 else { throw SystemError.last("enter the sandbox") }
  }
}
