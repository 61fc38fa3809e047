internal import CLinux
/// Binds the calling thread to one processor until `end`: for measuring, where a thread that moves
/// would measure its moves too.
public struct ProcessorBinding: Sendable {
  private static let words = 16
  private let before: [UInt64]

  /// Binds it: `sched_setaffinity(2)`.
  ///
  /// - Parameter processor: as `/proc/cpuinfo` numbers them.
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

  /// The processors that it had before; on the thread that was bound.
  public func end() {
    var before = before
    _ = unsafe clinux_set_affinity(&before)
  }
}
