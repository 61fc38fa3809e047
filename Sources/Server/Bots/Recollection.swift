import Wire

/// What a room's log tells about how far a bot has come in it.
struct Recollection: Sendable {
  /// How far back is read at most, in pages of `pageLimit` entries.
  static let pagesLimit = 5
  static let pageLimit = 100

  /// The latest entry that was answered.
  private(set) var answered: Int64?
  /// The oldest entry of its own that was seen.
  private(set) var oldestOwn: Int64?
  /// Answers that are in the log.
  private(set) var sent: Set<AnswerID> = []
  /// Where a script came to its end.
  private(set) var scriptEnd: Int64 = 0
  /// Whether the log was read back to its first entry.
  private(set) var isWhole = false
  private(set) var pages = 0
  /// The oldest entry read; the next page lies before it.
  private(set) var before: Int64?

  /// Whether another page could tell more.
  var wantsMore: Bool { answered == nil && !isWhole && pages < Self.pagesLimit }

  /// Takes in a page; newer ones come first.
  /// - Parameter lastStep: the script's last step that says something.
  mutating func note(_ page: ServerMessage.HistoryPage, of user: String, lastStep: Int?) {
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

  /// The last entry that needs no look any more; `nil` if only the read mark can tell.
  ///
  /// Answers are sent in order, so all before the latest one answered is done; of that one a
  /// part may be missing. A bot that spoke without ever answering owes an answer to whoever
  /// wrote after that; and in a direct room that it never spoke in, to everyone.
  func cursor(isDirect: Bool) -> Int64? {
    if let answered { return answered - 1 }
    if let oldestOwn { return oldestOwn }
    return isDirect && isWhole ? 0 : nil
  }
}
