import Synchronization

/// What a byte costs its user's budget, so that all uploads of this relay together bring as much per second as they may.
///
/// Each user pays the same. So while too much comes, all users are slowed to the same rate, one who sends less than that is not
/// slowed at all, and with more uploads a user gets no more. After each round the price follows what has come: twice as much as
/// wanted doubles it. Thread-safe.
final class UploadPrice: Sendable {
  private struct Round {
    var price = 1.0
    var bytes = 0
    /// Milliseconds of the monotonic clock.
    var start = Int64.min
  }

  /// A round brings enough blocks, if it brings what it may, for a price that is steady.
  private static let roundBytes = 2 << 20
  private static let roundMilliseconds: Int64 = 100
  private static let rise = 2.0
  /// At the default rate of a user, a block then costs 8 s.
  private static let limit = 1000.0

  private let bytesPerSecond: Int
  private let milliseconds: Int64
  private let round = Mutex(Round())

  /// - Parameter bytesPerSecond: 0 = no limit.
  init(bytesPerSecond: Int) {
    self.bytesPerSecond = bytesPerSecond
    milliseconds = max(
      Self.roundMilliseconds, Int64(Self.roundBytes) * 1000 / Int64(max(1, bytesPerSecond)))
  }

  /// Counts bytes that have come, and returns what they cost.
  /// - Parameter now: milliseconds of the monotonic clock.
  func cost(of bytes: Int, now: Int64) -> Int {
    guard bytesPerSecond > 0 else { return bytes }
    let price = round.withLock { round in
      if round.start == .min { round.start = now }
      let elapsed = now - round.start
      if elapsed >= milliseconds {
        let wanted = Double(bytesPerSecond) * Double(elapsed) / 1000
        round.price *= min(Double(round.bytes) / wanted, Self.rise)
        round.price = min(max(1, round.price), Self.limit)
        (round.bytes, round.start) = (0, now)
      }
      round.bytes += bytes
      return round.price
    }
    return Int((Double(bytes) * price).rounded())
  }
}
