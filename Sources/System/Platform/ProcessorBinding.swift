internal import CLinux
/// Binds the calling thread to one processor until `end`: for benchmarks, which would otherwise
/// measure migrations, too.
public struct ProcessorBinding: Sendable {
  private static let words = 16
  private let before: [UInt64]

  /// Binds the thread: `sched_setaffinity(2)`.
  ///
  /// - Parameter processor: its number in `/proc/cpuinfo`.
  public init(_ processor: Int) throws(SystemError) {
    var before = [UInt64](repeating: 0, count: Self.words)
    guard unsafe clinux_affinity(&before) == 0 else { throw SystemError.last("sched_getaffinity") }
    self.before = before
    var one = [UInt64](repeating: 0, count: Self.words)
    if processor >= 0, processor < 64 * Self.words { one[processor / 64] = 1 << (processor % 64) }
    guard unsafe clinux_set_affinity(&one) == 0 else {
      throw SystemError.last("sched_setaffinity \(processor)")
    }
  }

  /// Restores the previous processors; called on the bound thread.
  public func end() {
    var before = before
    _ = unsafe clinux_set_affinity(&before)
  }
}
