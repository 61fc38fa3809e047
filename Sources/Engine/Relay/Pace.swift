/// Decides when a room's new entries are sent. The cost of a delivery is the write to its socket,
/// so it matters how many entries share one. Entries that are ready may wait for others for two
/// reasons:
///
/// - **Hold**: the log is working on more entries for the room. They are awaited once, and sent
///   together.
/// - **Pacing**: the last fan-out was recent. The next one waits for as long as that took, so that
///   a crowded room collects entries for as long as it takes to deliver them.
///
/// A lone entry never waits: the log has no further entry for its room, and the last fan-out had
/// one entry, too. If waiting has gained nothing, as with clients that send only after they have
/// received, pacing is suspended for a while, longer each time.
struct Pace {
  /// The configured limits.
  struct Limits {
    var hold = true
    /// 0 = no pacing.
    var pacingMicroseconds: Int64 = 5000
  }

  /// The maximum hold: a committed entry must not wait for a disk that is stuck.
  static let holdMicroseconds: Int64 = 5000
  /// Shorter fan-outs are over before a timer could help.
  static let shortestMicroseconds: Int64 = 200
  private static let longestPause: Int16 = 64

  /// The numbers of the last batch with entries for the room, and of the one before.
  private var batch: UInt32 = 0
  private var batchBefore: UInt32 = 0

  /// Whether entries wait; decided once per fan-out.
  private(set) var isWaiting = false
  /// When the wait ends at the latest, in microseconds.
  private(set) var dueAt: Int64 = 0
  /// The batch that the entries wait for; 0 if they are paced.
  private var awaited: UInt32 = 0
  /// The number of ready entries when the wait began.
  private var countBefore: Int32 = 0

  private var lastCount: Int32 = 0
  private var lastAt: Int64 = 0
  /// The number of fan-outs that are not paced, and that number after the next wait in vain.
  private var pause: Int16 = 0
  private var nextPause: Int16 = 1

  /// Records that an entry for the room goes to the log with this batch.
  mutating func record(batch number: UInt32) {
    guard batch != number else { return }
    batchBefore = batch
    batch = number
  }

  /// Whether `count` entries that are ready have to wait.
  /// - Parameters:
  ///   - now: in microseconds.
  ///   - length: the duration of a fan-out to this room, in microseconds.
  ///   - batchInLog: the batch that the log is working on; 0 if it is idle.
  mutating func waits(
    count: Int32, now: Int64, length: Int64, batchInLog: UInt32, limits: Limits
  ) -> Bool {
    if isWaiting {
      guard now >= dueAt || awaited != 0 && awaited != batchInLog else { return true }
      endWait(gained: count > countBefore)
    } else if limits.hold, batchInLog != 0, batchInLog == batch || batchInLog == batchBefore {
      begin(count, until: now + Self.holdMicroseconds, awaiting: batchInLog)
      return true
    } else if limits.pacingMicroseconds > 0, lastCount > 1, length >= Self.shortestMicroseconds {
      let until = lastAt + length + min(length, limits.pacingMicroseconds)
      if now < until, pause == 0 {
        begin(count, until: min(until, now + limits.pacingMicroseconds), awaiting: 0)
        return true
      }
      pause = max(0, pause - 1)
    }
    isWaiting = false
    lastCount = count
    lastAt = now
    return false
  }

  private mutating func begin(_ count: Int32, until: Int64, awaiting: UInt32) {
    isWaiting = true
    dueAt = until
    awaited = awaiting
    countBefore = count
  }

  private mutating func endWait(gained: Bool) {
    guard awaited == 0 else { return }
    if gained {
      nextPause = 1
    } else {
      pause = nextPause
      nextPause = min(Self.longestPause, nextPause * 2)
    }
  }
}
