import Relay

/// Removes the bytes of files that are gone, and the files that were never sent. One loop of the relay does.
///
/// In a round it asks the log for the hashes that no file has any more, lets their bytes be removed, and tells the log
/// which were. An upload of the same bytes may be completed in the meantime. That is safe: `FileWork.remove` spares
/// what was stored since the last one was answered, or is not known to the log yet, and the log is asked only after
/// that answer. So what is removed was either not stored again, or the log knew of it when it was asked.
struct FileUpkeep {
  enum Step {
    case resting
    /// The log is asked for unused hashes.
    case asking
    /// The log is asked which of these hashes are in use.
    case checking([String])
    /// Bytes are being removed.
    case removing
  }

  static let roundMilliseconds: Int64 = 1000
  /// `FileChange.expire` takes some of the files only.
  static let expiryMilliseconds: Int64 = 600_000

  var step = Step.resting
  /// In milliseconds of the monotonic clock.
  var nextRound: Int64 = 0
  var nextExpiry: Int64 = 0
  /// Whether the log may have more unused hashes than it has named at once: the next round follows.
  var isBehind = false
}

extension ConnectionLoop {
  func sweepFiles() {
    guard let upkeep = fileUpkeep, !hasFinishedWithLog else { return }
    if now.monotonic >= upkeep.nextExpiry {
      fileUpkeep?.nextExpiry = now.monotonic + FileUpkeep.expiryMilliseconds
      shard.change(.expire(before: now.wall - StoredFile.unsentMilliseconds), for: .upkeep)
    }
    guard case .resting = upkeep.step, now.monotonic >= upkeep.nextRound else { return }
    fileUpkeep?.step = .asking
    shard.ask(.unused, for: .upkeep)
  }

  /// Takes an answer of the log.
  func continueUpkeep(_ answer: FileAnswer) {
    switch (fileUpkeep?.step, answer) {
    case (.asking, .hashes(let unused)): remove(unused)
    case (.checking(let old), .hashes(let used)): remove(old.filter { !used.contains($0) })
    case (.asking, .unavailable), (.checking, .unavailable): rest()
    // There may be more.
    case (_, .expired(FileChange.expiredAtOnce)): fileUpkeep?.nextExpiry = now.monotonic
    default: break
    }
  }

  /// Takes an answer of what keeps the bytes.
  func continueUpkeep(_ result: FileWorkResult) {
    guard case .removed(let hashes, let old) = result else { return rest() }
    fileUpkeep?.isBehind = hashes.count == FileQuestion.hashesAtOnce
    if !hashes.isEmpty { shard.change(.removed(hashes), for: .upkeep) }
    guard !old.isEmpty else { return rest() }
    fileUpkeep?.step = .checking(old)
    shard.ask(.used(among: old), for: .upkeep)
  }

  private func remove(_ hashes: [String]) {
    fileUpkeep?.step = .removing
    world.keep(.remove(hashes), for: .upkeep)
  }

  private func rest() {
    guard var upkeep = fileUpkeep else { return }
    upkeep.step = .resting
    upkeep.nextRound = now.monotonic + (upkeep.isBehind ? 0 : FileUpkeep.roundMilliseconds)
    upkeep.isBehind = false
    fileUpkeep = upkeep
  }
}
