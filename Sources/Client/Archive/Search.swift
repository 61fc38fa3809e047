internal import Folding
internal import SQLite
public import Wire

extension Archive {
  /// A search of all rooms, or of one, for messages that have all words of a text, in any order:
  /// case and diacritics are ignored, and a word is found by its beginning.
  ///
  /// It is carried out in steps of a few milliseconds (`Archive.advance`), from new to old.
  public struct Search: Sendable {
    /// What is searched for, as the user has written it.
    public let text: String
    let room: String?
    let query: SearchQuery

    /// The messages found so far in their current state, newest first.
    public internal(set) var found: [Entry] = []
    /// Whether everything that is indexed was searched.
    public internal(set) var isComplete = false
    /// The number of entries that were not searched because they are still being indexed.
    public internal(set) var unindexed: Int64 = 0

    /// The blocks that are still to be searched, the newest last; `nil` before the first step.
    var blocks: [Block]?
    /// What the index has found and was not compared yet, the newest last.
    var candidates: [Candidate] = []
    var compared: Set<Place> = []

    /// - Parameter room: The only room to search; `nil` = all.
    public init(_ text: String, room: String? = nil) {
      self.text = text
      self.room = room
      query = SearchQuery(text)
    }
  }
}

extension Archive.Search {
  struct Block {
    var number: Int64
    /// The latest `at` of its entries.
    var newest: Int64
  }

  /// A message that may have the words.
  struct Candidate: Comparable {
    var at: Int64
    var position: Int64
    var place: Place

    static func < (a: Self, b: Self) -> Bool { (a.at, a.position) < (b.at, b.position) }
  }

  struct Place: Hashable {
    var range: Int64
    var seq: Int64
  }
}

extension Archive {
  /// Searches on, until there are `wanted` messages, or for the time of a step.
  /// - Parameter accept: Which of the messages found are wanted.
  public func advance(
    _ search: inout Search, wanted: Int, where accept: (Entry) -> Bool = { _ in true }
  ) throws(ArchiveError) {
    if search.query.isEmpty {
      search.isComplete = true
      return
    }
    var copy = search
    try searching { (store) throws(SQLiteError) in
      try store.advance(&copy, wanted: wanted, where: accept)
    }
    search = copy
  }

  /// Runs a step of a search. If the index is damaged, it is built anew, and nothing is found until
  /// then.
  private func searching(_ body: (Store) throws(SQLiteError) -> Void) throws(ArchiveError) {
    try? flush()
    let session = try open()
    do throws(SQLiteError) {
      try session.store.reading(body)
    } catch {
      guard error.isDamagedTable else { throw explain(error) }
      session.reindex()
      throw ArchiveError(
        .environment,
        "The search index is damaged, and is being built anew. Search again in a moment.")
    }
  }

  /// Returns the rooms of which older entries than the oldest kept one may exist, with the time of
  /// that (milliseconds since 1970).
  public func beginnings() throws(ArchiveError) -> [(room: String, at: Int64)] {
    try read { (store) throws(SQLiteError) in try store.beginnings() }
  }

  /// Returns the oldest messages and changes of the room after `after`, each in its current state, in
  /// ascending `seq`.
  public func page(of room: String, after: Int64, limit: Int) throws(ArchiveError) -> [Entry] {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room) else { return [] }
      return try store.shown(of: room, extent, after: after, limit: limit)
    }
  }

  /// Returns the `seq` of the first entry at a time or later (milliseconds since 1970); one more
  /// than the newest if there is none, `nil` if no entry is kept.
  public func firstSeq(of room: String, since time: Int64) throws(ArchiveError) -> Int64? {
    try read { (store) throws(SQLiteError) in
      guard let extent = try store.extent(of: room), !extent.isEmpty else { return nil }
      return try store.firstSeq(extent, since: time)
    }
  }
}
