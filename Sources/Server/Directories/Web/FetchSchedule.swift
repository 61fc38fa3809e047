/// When a document is fetched: at once, then at intervals, earlier after a failure, and when asked to.
/// Times are milliseconds of any clock that does not go back.
struct FetchSchedule {
  /// The time between the end of a fetch and the next one.
  let refreshMilliseconds: Int64
  /// The same after a failure, and the shortest time between the beginnings of two fetches that were
  /// asked for.
  let pauseMilliseconds: Int64
  /// When the next fetch begins.
  private(set) var due: Int64
  /// Whether that is because it was asked for.
  private var isAsked = false
  /// When the last one began that was asked for.
  private var lastAsked: Int64?
  /// Whether an operator has asked during a fetch.
  private var isStale = false
  private(set) var isFetching = false

  init(refreshMilliseconds: Int64, pauseMilliseconds: Int64, now: Int64) {
    self.refreshMilliseconds = refreshMilliseconds
    self.pauseMilliseconds = pauseMilliseconds
    due = now
  }

  /// The document seems to be out of date.
  /// - Returns: whether a fetch answers that, which has begun or begins now. If not, none is brought
  ///   forward: whoever asks all the time causes no more of them.
  mutating func ask(now: Int64) -> Bool {
    if isFetching || due <= now { return true }
    if let lastAsked, now < lastAsked + pauseMilliseconds { return false }
    due = now
    isAsked = true
    return true
  }

  /// An operator wants the current document.
  mutating func demand(now: Int64) {
    isStale = isFetching
    if !isFetching { due = now }
  }

  mutating func begin(now: Int64) {
    if isAsked { lastAsked = now }
    isAsked = false
    isFetching = true
  }

  mutating func end(isUsable: Bool, now: Int64) {
    isFetching = false
    due = isStale ? now : now + (isUsable ? refreshMilliseconds : pauseMilliseconds)
    isStale = false
  }
}
