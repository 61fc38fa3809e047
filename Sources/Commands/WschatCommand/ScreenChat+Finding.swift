import Archive
import Client
import EventLoop
import Messenger
import Wire

/// Searching the archive, and finding places in a conversation.
extension ScreenChat {
  /// The search that is carried out step by step, so that keys are answered in between.
  struct ArchiveSearch {
    var search: Archive.Search
    var wanted: Int
    var older: [Chat.Beginning]
  }

  /// The number of messages that are loaded before and after a place.
  private static let contextEntries = 50
  /// The maximum number of steps to a mention; each takes a few milliseconds.
  private static let mentionSteps = 40
  private static let mentionLimit = 1000

  func find(_ text: String, wanted: Int) {
    var older: [Chat.Beginning] = []
    keep { archive throws(ArchiveError) in
      older = try archive.beginnings().filter { beginning in
        !reaches.contains(beginning.room)
          && chat.conversations[beginning.room]?.isMember == true
      }.map { .init(room: $0.room, at: $0.at) }
    }
    archiveSearch = ArchiveSearch(search: Archive.Search(text), wanted: wanted, older: older)
    findOn()
  }

  /// Carries out the next step.
  func findOn() {
    guard var current = archiveSearch else { return }
    var isSearched = false
    keep { archive throws(ArchiveError) in
      try archive.advance(&current.search, wanted: current.wanted)
      isSearched = true
    }
    let search = current.search
    let isDone = !isSearched || search.isComplete || search.found.count >= current.wanted
    archiveSearch = isDone ? nil : current
    if !isDone { loop.schedule(afterMilliseconds: 0, token: Token.find) }
    take(
      .found(
        .init(
          text: search.text, entries: Array(search.found.prefix(current.wanted)),
          isComplete: !isSearched || search.isComplete, unindexed: search.unindexed,
          older: current.older)),
      // The end of the search is the answer to a key.
      isUrgent: isDone)
  }

  /// Requests a page of older entries.
  func fetchOlder(_ room: String) {
    var isAsked = false
    keep { archive throws(ArchiveError) in
      guard let first = try archive.extent(of: room)?.first, first > 1 else { return }
      isAsked = askForHistory(of: room, before: first)
    }
    if !isAsked { take(.noOlder(room: room)) }
  }

  /// Asks the relay for the entries before those of the archive. The same page is not asked for
  /// twice: the second would not fit any more.
  /// - Returns: Whether it will come.
  func askForHistory(of room: String, before first: Int64) -> Bool {
    if fetching.contains(room) { return true }
    guard client.request(.history(.init(room: room, before: first, limit: 200))) else {
      return false
    }
    fetching.insert(room)
    chat.historyIsAsked()
    return true
  }

  func loadNewer(_ room: String, after: Int64) {
    var page: [Entry]?
    keep { archive throws(ArchiveError) in
      page = try archive.page(of: room, after: after, limit: Self.pageEntries)
    }
    let entries = page ?? []
    take(
      .newer(
        room: room, after: after, entries, isNewest: entries.count < Self.pageEntries))
  }

  // MARK: Places

  func seek(_ room: String, _ place: Chat.Place) {
    var sought = Chat.Sought.nothing
    keep { archive throws(ArchiveError) in
      guard let extent = try archive.extent(of: room) else { return }
      let older = extent.first > 1 && !reaches.contains(room)
      switch try self.seq(of: place, in: room, from: extent.first, hasOlder: older, archive) {
      case .here(let seq): sought = try around(seq, room, archive)
      case .nowhere: sought = .nothing
      case .older:
        sought = .older(
          oldest: try archive.page(of: room, after: extent.first - 1, limit: 1).first?.seq)
      }
    }
    take(.sought(room: room, place, sought))
  }

  private enum Answer {
    case here(Int64)
    case nowhere
    case older
  }

  private func seq(
    of place: Chat.Place, in room: String, from first: Int64, hasOlder: Bool, _ archive: Archive
  ) throws(ArchiveError) -> Answer {
    var after: Int64
    switch place {
    case .message(let seq):
      after = seq - 1
    case .time(let time):
      guard let seq = try archive.firstSeq(of: room, since: time) else {
        return hasOlder ? .older : .nowhere
      }
      // The first one that is kept need not be the first since then.
      if seq == first, hasOlder { return .older }
      after = seq - 1
    case .unread(let read):
      if read < first - 1, hasOlder { return .older }
      after = read
      let page = try archive.page(of: room, after: after, limit: Self.pageEntries)
      guard let unread = page.first(where: { $0.from != chat.user }) else { return .nowhere }
      after = unread.seq - 1
    case .previousMention(let seq):
      if let mention = try mentions(in: room, wanted: 1, archive, where: { $0.seq < seq }).first {
        return .here(mention.seq)
      }
      return hasOlder ? .older : .nowhere
    case .nextMention(let seq):
      let mentions = try mentions(in: room, wanted: Self.mentionLimit, archive) { $0.seq > seq }
      return mentions.last.map { .here($0.seq) } ?? .nowhere
    }
    if after < first - 1, hasOlder { return .older }
    let seq = try archive.page(of: room, after: after, limit: 1).first?.seq
    return seq.map { .here($0) } ?? .nowhere
  }

  /// Returns messages that mention the user, the newest first.
  private func mentions(
    in room: String, wanted: Int, _ archive: Archive, where isWanted: (Entry) -> Bool
  ) throws(ArchiveError) -> [Entry] {
    var found: [Entry] = []
    for word in [chat.user].compactMap(\.self) + options.settings.highlight {
      var search = Archive.Search(word, room: room)
      var steps = 0
      while !search.isComplete, search.found.count < wanted, steps < Self.mentionSteps {
        steps += 1
        try archive.advance(&search, wanted: wanted) { entry in
          isWanted(entry) && !chat.mentions(in: [entry], after: 0).isEmpty
        }
      }
      found += search.found
    }
    return found.sorted { $0.seq > $1.seq }
  }

  private func around(
    _ seq: Int64, _ room: String, _ archive: Archive
  ) throws(ArchiveError) -> Chat.Sought {
    let context = Self.contextEntries
    let before = try archive.page(of: room, before: seq + 1, limit: context)
    let after = try archive.page(of: room, after: seq, limit: context)
    let first = try archive.extent(of: room)?.first ?? 1
    return .page(
      seq: seq, before + after,
      isComplete: before.count < context && (first <= 1 || reaches.contains(room)),
      isNewest: after.count < context)
  }
}
