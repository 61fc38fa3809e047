import Folding
import Terminal
import Wire

/// The search of all conversations.
extension Chat {
  /// Opens the search; with the text of the search in this conversation, if there is one.
  mutating func openFind(_ text: String, _ effects: inout [Effect]) {
    var find = Find()
    let text = text.isEmpty ? search?.query.text ?? "" : text
    try? find.query.insert(text)
    overlay = .find(find)
    if !find.query.isEmpty { findAnew(&effects) }
  }

  /// The state of the search, if it is open.
  var find: Find? {
    get { if case .find(let find) = overlay { find } else { nil } }
    set { if let newValue, case .find = overlay { overlay = .find(newValue) } }
  }

  mutating func performInFind(_ command: Command, _ effects: inout [Effect]) {
    guard var find else { return }
    if command == .choose || command == .send {
      return chooseInFind(find, &effects)
    }
    if let selected = Self.move(command, find.selected, of: choices(in: find)) {
      find.selected = selected
      self.find = find
      // The end of what was looked for.
      if selected == find.matches.count - 1, find.matches.count == find.wanted,
        find.wanted < Find.limit
      {
        self.find?.wanted += Find.page
        ask(&effects)
      }
    } else {
      let text = find.query.text
      guard find.query.perform(command) else { return }
      self.find = find
      if find.query.text != text { findAnew(&effects) }
    }
  }

  mutating func insertInFind(_ text: String, _ effects: inout [Effect]) {
    guard var find, insert(text, into: &find.query) else { return }
    self.find = find
    findAnew(&effects)
  }

  /// The number of rows: the matches, and perhaps the search at the relay.
  func choices(in find: Find) -> Int { find.matches.count + (offersRelay(find) ? 1 : 0) }

  /// Whether a row offers to search what only the relay has.
  func offersRelay(_ find: Find) -> Bool {
    isLive && !find.older.isEmpty && !find.isSearching && find.matches.count < find.wanted
      && !SearchQuery(find.query.text).isEmpty
  }

  private mutating func chooseInFind(_ find: Find, _ effects: inout [Effect]) {
    guard find.matches.indices.contains(find.selected) else {
      if offersRelay(find), find.pagesLeft == nil { searchRelay(&effects) }
      return
    }
    let match = find.matches[find.selected]
    overlay = nil
    effects.append(.endFind)
    go(to: .message(match.seq), in: match.room, &effects)
  }

  /// Searches for a changed text.
  private mutating func findAnew(_ effects: inout [Effect]) {
    guard var find else { return }
    find.selected = 0
    find.wanted = Find.page
    find.pagesLeft = nil
    find.asked = nil
    find.matches = []
    self.find = find
    ask(&effects)
  }

  private mutating func ask(_ effects: inout [Effect]) {
    guard let find else { return }
    self.find?.isSearching = true
    effects.append(.find(find.query.text, wanted: find.wanted))
  }

  mutating func showFound(_ found: Found, _ effects: inout [Effect]) {
    guard var find, find.query.text == found.text else { return }
    let chosen = find.matches.indices.contains(find.selected) ? find.matches[find.selected] : nil
    find.isSearching = !found.isComplete && found.entries.count < find.wanted
    // While the same is searched again, what was found stays.
    if !find.isSearching || found.entries.count >= find.matches.count {
      find.matches = found.entries.map {
        Match(room: $0.room, seq: $0.seq, from: $0.from, at: $0.at, text: $0.text ?? "")
      }
    }
    find.unindexed = found.unindexed
    find.older = found.older.sorted { ($0.at, $1.room) > ($1.at, $0.room) }
    // The selection stays on its message; on the row of the relay, which is the last.
    if let chosen, find.selected > 0 {
      find.selected = find.matches.firstIndex(of: chosen) ?? 0
    } else if find.selected > 0 {
      find.selected = find.matches.count
    }
    self.find = find
    find.selected = min(find.selected, max(0, choices(in: find) - 1))
    self.find = find
    if found.unindexed > 0 { refind() }
    if !find.isSearching { searchRelayOn(&effects) }
  }

  // MARK: The relay

  /// The wait until messages that have arrived or been indexed are searched.
  private static let refindMilliseconds: Int64 = 1000
  /// The minimum interval between two pages; of the relay's budget for requests a quarter is used.
  private var fetchMilliseconds: Int64 {
    requestsPerSecond > 0 ? max(20, 4000 / Int64(requestsPerSecond)) : 20
  }

  private mutating func searchRelay(_ effects: inout [Effect]) {
    guard let known = find?.matches.count else { return }
    find?.pagesLeft = Find.searchedPages
    find?.known = known
    searchRelayOn(&effects)
  }

  /// Asks for the next page, unless there is a match, or enough was searched for one key press.
  private mutating func searchRelayOn(_ effects: inout [Effect]) {
    guard let find, let pagesLeft = find.pagesLeft, find.asked == nil, !find.isSearching else {
      return
    }
    guard pagesLeft > 0, isLive, find.matches.count == find.known, let next = find.older.first
    else {
      self.find?.pagesLeft = nil
      // The first of the new ones is the next after those that were known.
      if find.matches.count > find.known { self.find?.selected = find.known }
      return
    }
    self.find?.pagesLeft = pagesLeft - 1
    self.find?.asked = next.room
    fetch(next.room, &effects)
  }

  /// Requests a page of older messages, as soon as the relay's budget allows it.
  mutating func fetch(_ room: String, _ effects: inout [Effect]) {
    if now < times.nextFetch {
      fetchWaiting = room
      return
    }
    fetchWaiting = nil
    times.nextFetch = now + fetchMilliseconds
    effects.append(.fetchOlder(room))
  }

  /// When `tickFind` has something to do; the greatest time for never.
  var findDeadline: Int64 {
    min(fetchWaiting == nil ? .max : times.nextFetch, find == nil ? .max : times.nextFind)
  }

  /// Searches again soon, because there are new messages.
  mutating func refind() {
    if find != nil { times.nextFind = min(times.nextFind, now + Self.refindMilliseconds) }
  }

  mutating func tickFind(_ effects: inout [Effect]) {
    if let room = fetchWaiting, now >= times.nextFetch { fetch(room, &effects) }
    if find != nil, now >= times.nextFind {
      times.nextFind = .max
      if find?.isSearching == false, find?.query.isEmpty == false { ask(&effects) }
    }
  }

  /// A page of older messages has arrived, and is in the archive.
  mutating func takeOlder(of room: String, _ effects: inout [Effect]) {
    if find?.asked == room {
      find?.asked = nil
      ask(&effects)
    }
    seekOn(in: room, &effects)
  }

  /// No page can be had.
  mutating func takeNoOlder(_ effects: inout [Effect]) {
    fetchWaiting = nil
    find?.asked = nil
    find?.pagesLeft = nil
    endSeeking(&effects)
  }
}
