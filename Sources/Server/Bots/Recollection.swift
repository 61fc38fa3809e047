import Wire

/// A bot's position in a room, read back from the room's log.
struct Recollection: Sendable {
  /// The maximum number of pages to read, of `pageLimit` entries each.
  static let pagesLimit = 5
  static let pageLimit = 100

  /// The latest entry that was answered.
  private(set) var answered: Int64?
  /// The bot's oldest own entry that was read.
  private(set) var oldestOwn: Int64?
  /// Answers found in the log.
  private(set) var sent: Set<AnswerID> = []
  /// The last message of the last completed script.
  private(set) var scriptEnd: Int64 = 0
  /// Whether the log was read back to its first entry.
  private(set) var isWhole = false
  private(set) var pages = 0
  /// The oldest entry read; the next page precedes it.
  private(set) var before: Int64?

  /// Whether another page may provide more information.
  var wantsMore: Bool { answered == nil && !isWhole && pages < Self.pagesLimit }

  /// Processes a page; pages are read from the newest to the oldest.
  /// - Parameter lastStep: the script's last step that sends a message.
  mutating func record(_ page: ServerMessage.HistoryPage, of user: String, lastStep: Int?) {
    pages += 1
    before = page.entries.first?.seq ?? before
    isWhole = page.entries.isEmpty || (before ?? 0) <= page.first
    for entry in page.entries.reversed() where entry.from == user {
      oldestOwn = entry.seq
      guard let id = AnswerID(entry.id) else { continue }
      sent.insert(id)
      answered = max(answered ?? 0, id.seq)
      if id.kind == .script, id.part == lastStep { scriptEnd = max(scriptEnd, entry.seq) }
    }
  }

  /// Returns the last entry that need not be examined again; `nil` if only the read mark can tell.
  ///
  /// Answers are sent in order, so all entries before the latest answered one are done; of that
  /// one, a part may be missing. A bot that sent messages without ever answering owes answers to
  /// all messages after those; in a direct room where it never sent anything, to all messages.
  func cursor(isDirect: Bool) -> Int64? {
    if let answered { return answered - 1 }
    if let oldestOwn { return oldestOwn }
    return isDirect && isWhole ? 0 : nil
  }
}
