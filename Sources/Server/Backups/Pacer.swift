internal import Glibc
internal import Platform

/// Keeps what is read below a rate.
struct Pacer {
  /// How much is read at once, as a share of a second.
  private static let slicesPerSecond = 8
  private static let sliceLimitBytes = 4 << 20

  /// `nil` = as fast as possible.
  let bytesPerSecond: Int?
  /// When everything so far has been paid for.
  private var due = Instant.now()

  init(bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond }

  /// How many bytes to read before the next `wait`.
  var sliceBytes: Int {
    bytesPerSecond.map { min(Self.sliceLimitBytes, max(1, $0 / Self.slicesPerSecond)) }
      ?? Self.sliceLimitBytes
  }

  mutating func record(_ bytes: Int) {
    guard let bytesPerSecond else { return }
    let nanoseconds = Double(bytes) / Double(bytesPerSecond) * 1e9
    // What was not used before is not made up for.
    due = max(due, Instant.now()).adding(nanoseconds: UInt64(nanoseconds))
  }

  /// Waits until what was read is within the rate.
  func wait() { Self.sleep(until: due) }

  static func sleep(until end: Instant) {
    while true {
      let rest = end.nanoseconds(since: .now())
      if rest == 0 { return }
      usleep(UInt32(min(rest / 1000 + 1, 500_000)))
    }
  }
}
