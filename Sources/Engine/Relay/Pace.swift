/// When a room's new entries go out. What a delivery costs is the write to its socket, so what counts
/// is how many entries share one. Entries that are ready may wait for others for two reasons:
///
/// - **Hold**: the log is at work on more entries for the room. They are waited for once, and both
///   go out together.
/// - **Pacing**: the last fan-out is not long past. The next one begins no earlier than that took, so
///   that a crowded room leaves as much time to gather as it takes to deliver.
///
/// A lone entry never waits: nothing of its room is in the log behind it, and the fan-out before it had
/// one entry as well. Where waiting has gained nothing, as with clients that send only once they have
/// heard, pacing is left out for a while, longer each time.
struct Pace {
  /// What the operator allows.
  struct Limits {
    var hold = true
    /// 0 = no pacing.
    var pacingMicroseconds: Int64 = 5000
  }

  /// Nothing is held for longer: what is committed must not hang on a disk that is stuck.
  static let holdMicroseconds: Int64 = 5000
  /// Shorter fan-outs are over before a timer could help.
  static let shortestMicroseconds: Int64 = 200
  private static let longestPause: Int16 = 64

  /// The number of the last batch that entries for the room went to the log with, and the one before.
  private var batch: UInt32 = 0
  private var batchBefore: UInt32 = 0

  /// Whether entries wait; decided once for each fan-out.
  private(set) var isWaiting = false
  /// They wait until then at most, in microseconds.
  private(set) var dueAt: Int64 = 0
  /// The batch that they wait for; 0 where they are paced.
  private var awaited: UInt32 = 0
  /// Entries that were ready when the wait began.
  private var countBefore: Int32 = 0

  private var lastCount: Int32 = 0
  private var lastAt: Int64 = 0
  /// So many fan-outs are not paced, and after the next vain wait so many.
  private var pause: Int16 = 0
  private var nextPause: Int16 = 1

  /// An entry for the room is going to the log with this batch.
  mutating func note(batch number: UInt32) {
    guard batch != number else { return }
    batchBefore = batch
    batch = number
  }

  /// Whether `count` entries that are ready wait on.
  /// - Parameters:
  ///   - now: in microseconds.
  ///   - length: of a fan-out to this room, in microseconds.
  ///   - batchInLog: the batch that the log is at work on; 0 if it is idle.
  mutating func waits(
    count: Int32, now: Int64, length: Int64, batchInLog: UInt32, limits: Limits
  ) -> Bool {
    if isWaiting {
      guard now >= dueAt || awaited != 0 && awaited != batchInLog else { return true }
      noteWait(gained: count > countBefore)
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

  private mutating func noteWait(gained: Bool) {
    guard awaited == 0 else { return }
    if gained {
      nextPause = 1
    } else {
      pause = nextPause
      nextPause = min(Self.longestPause, nextPause * 2)
    }
  }
}
