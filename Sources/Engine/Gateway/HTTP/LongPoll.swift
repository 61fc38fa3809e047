import Wire

/// What a request for a room's entries waits for, if there are none yet.
struct LongPoll {
  static let secondsLimit: Int64 = 60

  let room: String
  let after: Int64
  let milliseconds: Int64

  /// Whether the page has nothing for a client that has the entries up to `after`. If the client has
  /// more than the log, or lacks what is no longer kept, that is an answer.
  func isUnanswered(by page: ServerMessage.HistoryPage) -> Bool {
    page.entries.isEmpty && (page.resume ?? .ok) == .ok && after <= page.head
      && after >= page.first - 1
  }
}
