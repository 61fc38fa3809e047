import Wire

/// The point from which a client with a position continues (Protocol.md, `resume`).
struct Resumption {
  var after: Int64
  var resume: ServerMessage.Resume

  /// - Parameters:
  ///   - after: the last `seq` that the client has.
  ///   - limit: the last `seq` of the client's epoch or an earlier one; 0 if none of these entries
  ///     is kept; `nil` if that epoch is not in the lineage.
  ///   - end: where the client's next epoch begins, which the log does not know; `nil` if the client
  ///     has none.
  ///
  /// If retention has deleted all entries of an epoch, its end is no longer known, except that it
  /// was before `first`. If the client's last `seq` is before `first` as well, it is believed: the
  /// entries that it lacks were deleted (`truncated`), as for any client that stays away for long,
  /// and an entry of it that this log has lost would no longer be kept in any case. If the client's
  /// last `seq` is `first` or later, it certainly has entries that the log has lost, but the first
  /// of them is unknown: it has to drop all (`reset`).
  init(after: Int64, limit: Int64?, end: Int64? = nil, first: Int64) {
    guard let limit else {
      self.init(after: first - 1, resume: .reset)
      return
    }
    let isKnown = limit > 0 || first == 1
    let common = min(isKnown ? limit : first - 1, end ?? .max)
    if after > common {
      if isKnown, common >= first - 1 {
        self.init(after: common, resume: .diverged)
      } else {
        self.init(after: first - 1, resume: .reset)
      }
    } else if after < first - 1 {
      self.init(after: first - 1, resume: .truncated)
    } else {
      self.init(after: after, resume: .ok)
    }
  }

  init(after: Int64, resume: ServerMessage.Resume) {
    self.after = after
    self.resume = resume
  }
}
