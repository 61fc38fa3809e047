import Wire

/// Where a client that comes with a position continues (PROTOCOL: `resume`).
struct Resumption {
  var after: Int64
  var resume: ServerMessage.Resume

  /// - Parameters:
  ///   - after: the last `seq` that the client has.
  ///   - limit: the last `seq` of the client's epoch or an earlier one; 0 if no entry of these is
  ///     kept; `nil` if that epoch is not in the lineage.
  ///
  /// Where retention has deleted everything of an epoch, nobody knows any more where it ended: only
  /// that it was before `first`. A client of it whose last `seq` is before `first` as well is believed:
  /// what it lacks was deleted (`truncated`), which happens to everyone who stays away for long, whereas
  /// an entry that this log has lost is, if there is one, among those that it would not keep anyway.
  /// One whose last `seq` is `first` or more holds such entries for certain, and the first of them is
  /// not known: it has to drop all (`reset`).
  init(after: Int64, limit: Int64?, first: Int64) {
    guard let limit else {
      self.init(after: first - 1, resume: .reset)
      return
    }
    let isKnown = limit > 0 || first == 1
    if after > (isKnown ? limit : first - 1) {
      if isKnown, limit >= first - 1 {
        self.init(after: limit, resume: .diverged)
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
