import Archive
import Client
import Messenger
import Wire

/// Finds messages: pages of a conversation, places in it, and what a search is for. The archive has
/// them, or the relay, which is asked for older ones.
final class FindingDriver {
  /// A search that is carried out step by step, so that keys are answered in between.
  private struct Search {
    var search: Archive.Search
    var wanted: Int
    var older: [Chat.Beginning]
  }

  /// The number of messages that are loaded before and after a place.
  private static let contextEntries = 50
  /// The maximum number of steps to a mention; each takes a few milliseconds.
  private static let mentionSteps = 40
  private static let mentionLimit = 1000

  private let store: ArchiveDriver
  private let client: Client
  private let host: ChatHost
  /// Rooms of which a page of older entries was requested.
  private var fetching: Set<String> = []
  /// `nil` if nothing is being searched.
  private var current: Search?
  private lazy var nextStep = Alarm(on: host.dispatcher) { [unowned self] in findOn() }

  init(_ store: ArchiveDriver, _ client: Client, _ host: ChatHost) {
    self.store = store
    self.client = client
    self.host = host
  }

  /// Forgets what belongs to the archive of another user.
  func reset() {
    fetching = []
    current = nil
  }

  func record(_ event: ClientEvent) {
    switch event {
    case .message(.history(let page)): fetching.remove(page.room)
    case .message(.error(let error)) where error.re == .history: fetching = []
    case .disconnected, .ended: fetching = []
    default: break
    }
  }

  // MARK: Searching

  func find(_ text: String, wanted: Int) {
    var older: [Chat.Beginning] = []
    store.use { archive throws(ArchiveError) in
      older = try archive.beginnings().filter { beginning in
        !store.completeRooms.contains(beginning.room)
          && host.chat.conversations[beginning.room]?.isMember == true
      }.map { .init(room: $0.room, at: $0.at) }
    }
    current = Search(search: Archive.Search(text), wanted: wanted, older: older)
    findOn()
  }

  func end() { current = nil }

  /// Carries out the next step.
  private func findOn() {
    guard var current else { return }
    let isSearched = store.use { archive throws(ArchiveError) in
      try archive.advance(&current.search, wanted: current.wanted)
    }
    let search = current.search
    let isDone = !isSearched || search.isComplete || search.found.count >= current.wanted
    self.current = isDone ? nil : current
    if !isDone { nextStep.set(afterMilliseconds: 0) }
    host.post(
      .found(
        .init(
          text: search.text, entries: Array(search.found.prefix(current.wanted)),
          isComplete: !isSearched || search.isComplete, unindexed: search.unindexed,
          older: current.older)),
      // The end of the search is the answer to a key.
      isUrgent: isDone)
  }

  // MARK: Pages

  /// Loads a page from the archive; asks the relay if the archive has less than a page.
  func load(_ room: String, before: Int64?) {
    var isLoaded = false
    defer { if !isLoaded { host.post(.noPage(room: room)) } }
    store.use { archive throws(ArchiveError) in
      let limit = ArchiveDriver.pageEntries
      let entries = try archive.page(of: room, before: before, limit: limit)
      let first = try archive.extent(of: room)?.first ?? .max
      let isAll = entries.count < limit
      let isComplete = isAll && (first <= 1 || store.completeRooms.contains(room))
      // The relay is asked before the page is displayed, so that the page is displayed as still
      // loading.
      if isAll, !isComplete, first < .max, request(room, before: first) {
        host.chat.historyIsAsked(for: room)
      }
      isLoaded = true
      host.post(.page(room: room, before: before, entries, isComplete: isComplete))
    }
  }

  func loadNewer(_ room: String, after: Int64) {
    var entries: [Entry] = []
    let limit = ArchiveDriver.pageEntries
    store.use { archive throws(ArchiveError) in
      entries = try archive.page(of: room, after: after, limit: limit)
    }
    host.post(.newer(room: room, after: after, entries, isNewest: entries.count < limit))
  }

  /// Requests a page of older entries.
  func fetchOlder(_ room: String) {
    var isAsked = false
    store.use { archive throws(ArchiveError) in
      guard let first = try archive.extent(of: room)?.first, first > 1 else { return }
      isAsked = request(room, before: first)
    }
    if !isAsked { host.post(.noOlder(room: room)) }
  }

  /// Asks the relay for the entries before those of the archive. The same page is not asked for
  /// twice: the second would not fit any more.
  /// - Returns: Whether it will come.
  private func request(_ room: String, before first: Int64) -> Bool {
    if fetching.contains(room) { return true }
    guard client.request(.history(.init(room: room, before: first, limit: 200))) else {
      return false
    }
    fetching.insert(room)
    host.chat.historyIsAsked()
    return true
  }

  /// Counts the unread entries of others.
  func countUnread(_ room: String, after: Int64) {
    store.use { archive throws(ArchiveError) in
      let user = host.chat.user ?? ""
      if let count = try archive.contentCount(in: room, after: after, notFrom: user) {
        host.post(.counted(room: room, unread: count))
      }
    }
  }

  /// Finds the entry that a reply quotes.
  func quote(_ room: String, _ seq: Int64) {
    store.use { archive throws(ArchiveError) in
      if let entry = try archive.entry(room, seq) { host.post(.quoted(room: room, entry)) }
    }
  }

  // MARK: Places

  func seek(_ room: String, _ place: Chat.Place) {
    var sought = Chat.Sought.nothing
    store.use { archive throws(ArchiveError) in
      guard let extent = try archive.extent(of: room) else { return }
      let older = extent.first > 1 && !store.completeRooms.contains(room)
      switch try seq(of: place, in: room, from: extent.first, hasOlder: older, archive) {
      case .here(let seq): sought = try page(around: seq, room, archive)
      case .nowhere: sought = .nothing
      case .older:
        sought = .older(
          oldest: try archive.page(of: room, after: extent.first - 1, limit: 1).first?.seq)
      }
    }
    host.post(.sought(room: room, place, sought))
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
      let page = try archive.page(of: room, after: after, limit: ArchiveDriver.pageEntries)
      let unread = page.first { $0.from != host.chat.user && $0.kind.isContent }
      guard let unread else { return .nowhere }
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
    for word in [host.chat.user].compactMap(\.self) + host.chat.settings.highlight {
      var search = Archive.Search(word, room: room)
      var steps = 0
      while !search.isComplete, search.found.count < wanted, steps < Self.mentionSteps {
        steps += 1
        try archive.advance(&search, wanted: wanted) { entry in
          isWanted(entry) && !host.chat.mentions(in: [entry], after: 0).isEmpty
        }
      }
      found += search.found
    }
    return found.sorted { $0.seq > $1.seq }
  }

  private func page(
    around seq: Int64, _ room: String, _ archive: Archive
  ) throws(ArchiveError) -> Chat.Sought {
    let context = Self.contextEntries
    let before = try archive.page(of: room, before: seq + 1, limit: context)
    let after = try archive.page(of: room, after: seq, limit: context)
    let first = try archive.extent(of: room)?.first ?? 1
    return .page(
      seq: seq, before + after,
      isComplete: before.count < context && (first <= 1 || store.completeRooms.contains(room)),
      isNewest: after.count < context)
  }
}
