import Wire

/// Collects one page of history: from its oldest entry upwards, or from its newest downwards.
///
/// The cost is bounded by the content of the page, whatever lies between its entries. The store's
/// count of changes tells how many entries of a range have content of their own, so ranges that
/// consist only of changes are skipped without being read; and the store keeps the current state of
/// each entry.
struct Gathering {
  /// The number of entries that are read at once.
  static let rangeEntries: Int64 = 64
  /// A folded page reads a range if at least one in this many of its entries has content; elsewhere
  /// it skips to the next such entry.
  static let sparseness: Int64 = 4
  /// Shorter ranges are always read.
  static let shortestRange: Int64 = 16
  /// The number of counts of changes after which a page that has any entry is returned as it is.
  static let countLimit = 4096

  /// What a folded page has.
  enum Kinds {
    case content
    /// Also the entries that change the room.
    case contentAndNotices
  }

  /// The user who reads, and what of a direct room is hidden from them.
  struct Veil {
    var user: String
    var direct: DirectState

    func hides(_ entry: Entry) -> Bool { direct.hides(entry, from: user) }
  }

  let isForward: Bool
  private let kinds: Kinds
  /// `nil` if nothing is hidden.
  private let veil: Veil?
  private let room: String
  private let number: Int64
  private let limit: Int
  private let limitBytes: Int
  /// The part that was not processed yet: from `lower` to `upper`.
  private var lower: Int64
  private var upper: Int64
  private var bytes = 0
  /// An entry did not fit and was left out.
  private var isFull = false
  /// The number of counts of changes.
  private var counts = 0

  /// In the order in which they were taken.
  private(set) var taken: [Entry] = []
  private(set) var hasMore = false

  /// - Parameter first: the first entry that may be read.
  init(
    _ request: ClientMessage.HistoryRequest, number: Int64, first: Int64, head: Int64,
    limitBytes: Int, kinds: Kinds = .content, veil: Veil? = nil
  ) {
    isForward = request.after != nil
    room = request.room
    self.number = number
    self.kinds = kinds
    self.veil = veil
    limit = request.limit
    self.limitBytes = limitBytes
    lower = max((request.after ?? 0) + 1, first)
    upper = min((request.before ?? head + 1) - 1, head)
  }

  /// Returns the range of the next `count` entries, or of all if there are fewer.
  private func range(_ count: Int64) -> ClosedRange<Int64> {
    isForward ? lower...min(upper, lower + count - 1) : max(lower, upper - count + 1)...upper
  }

  private mutating func drop(_ range: ClosedRange<Int64>) {
    if isForward { lower = range.upperBound + 1 } else { upper = range.lowerBound - 1 }
  }

  private func isHidden(_ entry: Entry) -> Bool { veil?.hides(entry) == true }

  private var wanted: Int64 { Int64(limit - taken.count) }

  private var isAtEnd: Bool { isFull || taken.count >= limit || lower > upper }

  /// - Returns: whether the entry fits.
  private mutating func take(_ entry: Entry) -> Bool {
    let size = entry.jsonBytes
    if !taken.isEmpty, taken.count >= limit || bytes + size > limitBytes {
      isFull = true
      return false
    }
    taken.append(entry)
    bytes += size
    return true
  }

  /// Returns entries in the order in which the page takes them.
  private func entries(
    in range: ClosedRange<Int64>, from reader: inout some EntryReader
  ) throws(StoreFailure) -> [Entry] {
    var entries: [Entry] = []
    try reader.forEachEntry(ofRoom: number, named: room, in: range) {
      entries.append($0)
      return true
    }
    return isForward ? entries : entries.reversed()
  }

  // MARK: - Every entry

  mutating func gather(from reader: inout some EntryReader) throws(StoreFailure) {
    while !isAtEnd {
      let range = range(min(wanted, Self.rangeEntries))
      for entry in try entries(in: range, from: &reader) {
        guard take(isHidden(entry) ? entry.hidden : entry) else { break }
      }
      drop(range)
    }
    hasMore = isFull || lower <= upper
  }

  // MARK: - Folded

  mutating func gatherFolded(from reader: inout some EntryReader) throws(StoreFailure) {
    while !isAtEnd, counts < Self.countLimit || taken.isEmpty {
      let range = range(min(max(wanted, Self.shortestRange), Self.rangeEntries))
      let contents = try contents(of: range, from: &reader)
      let isSparse =
        contents == 0
        || contents * Self.sparseness < range.count && range.count > Self.shortestRange
      if isSparse {
        guard let next = try nextShown(from: &reader) else {
          drop(lower...upper)
          break
        }
        if isForward { lower = next } else { upper = next }
        try takeFolded(self.range(Self.shortestRange), from: &reader)
      } else {
        try takeFolded(range, from: &reader)
      }
    }
    if isFull {
      hasMore = true
    } else if lower <= upper {
      hasMore = try contents(of: lower...upper, from: &reader) > 0
      if !hasMore { hasMore = try nextNotice(from: &reader) != nil }
    }
  }

  private mutating func takeFolded(
    _ range: ClosedRange<Int64>, from reader: inout some EntryReader
  ) throws(StoreFailure) {
    let contents = try entries(in: range, from: &reader).filter {
      $0.kind.isContent || kinds == .contentAndNotices && $0.kind.isNotice
    }
    var targets: Set<Int64> = []
    var next = range.lowerBound
    while next <= range.upperBound,
      let target = try reader.firstTarget(inRoom: number, in: next...range.upperBound)
    {
      targets.insert(target)
      next = target + 1
    }
    for entry in contents {
      if taken.count >= limit {
        isFull = true
        break
      }
      if isHidden(entry) {
        guard take(entry.hidden) else { break }
        continue
      }
      let isChanged = targets.contains(entry.seq) || entry.hasDeletedBody
      guard take(isChanged ? try folded(entry, from: &reader) : entry) else { break }
    }
    drop(range)
  }

  private func folded(
    _ entry: Entry, from reader: inout some EntryReader
  ) throws(StoreFailure) -> Entry {
    guard entry.kind.isEditable, !entry.isDeleted else {
      return entry.folded(edit: nil, reactions: [])
    }
    let edit = try lastEdit(of: entry, from: &reader)
    var reactions: [Reaction] = []
    let given = try reader.reactions(to: entry.seq, inRoom: number)
    var budget = Reaction.Budget(emoji: given.count)
    for (emoji, users) in given {
      var reaction = Reaction(emoji: emoji, more: users)
      budget.begin()
      try reader.forEachUser(giving: emoji, to: entry.seq, inRoom: number) { user, seq in
        if let veil, user != veil.user, veil.direct.hides(seq, of: user) {
          reaction.more -= 1
          return true
        }
        guard budget.take(user) else { return false }
        reaction.users.append(user)
        return true
      }
      reaction.more -= Int64(reaction.users.count)
      if !reaction.users.isEmpty || reaction.more > 0 { reactions.append(reaction) }
    }
    return entry.folded(edit: edit, reactions: reactions)
  }

  /// Returns the last edit of an entry that is shown.
  private func lastEdit(
    of entry: Entry, from reader: inout some EntryReader
  ) throws(StoreFailure) -> Entry? {
    var through = Int64.max
    while let edit = try reader.lastEdit(
      of: entry.seq, through: through, inRoom: number, named: room)
    {
      guard isHidden(edit) else { return edit }
      through = edit.seq - 1
    }
    return nil
  }

  // MARK: - Counting

  /// Returns the number of entries in the range that have content of their own.
  private mutating func contents(
    of range: ClosedRange<Int64>, from reader: inout some EntryReader
  ) throws(StoreFailure) -> Int64 {
    let through = try changes(through: range.upperBound, &reader)
    let before = try changes(through: range.lowerBound - 1, &reader)
    return Int64(range.count) - (through - before)
  }

  private mutating func changes(
    through seq: Int64, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> Int64 {
    counts += 1
    return try reader.changes(inRoom: number, through: seq)
  }

  /// Returns the next entry that a folded page has.
  private mutating func nextShown(from reader: inout some EntryReader) throws(StoreFailure)
    -> Int64?
  {
    let notice = try nextNotice(from: &reader)
    guard let content = try nextContent(from: &reader) else { return notice }
    guard let notice else { return content }
    return isForward ? min(content, notice) : max(content, notice)
  }

  private func nextNotice(from reader: inout some EntryReader) throws(StoreFailure) -> Int64? {
    guard kinds == .contentAndNotices, lower <= upper else { return nil }
    return try reader.notice(inRoom: number, in: lower...upper, last: !isForward)
  }

  /// Returns the next entry that has content of its own. Finds it by doubling and then halving a
  /// range, so the number of counts is twice the logarithm of its distance.
  private mutating func nextContent(
    from reader: inout some EntryReader
  ) throws(StoreFailure) -> Int64? {
    var reach: Int64 = 1
    // There is none within `reach - 1`.
    while try contents(of: range(reach), from: &reader) == 0 {
      if reach > upper - lower { return nil }
      reach *= 2
    }
    var within = Int64(range(reach).count)
    var without = reach / 2
    while within - without > 1 {
      let middle = without + (within - without) / 2
      if try contents(of: range(middle), from: &reader) == 0 {
        without = middle
      } else {
        within = middle
      }
    }
    return isForward ? lower + within - 1 : upper - within + 1
  }
}

extension Entry {
  /// A lower bound for the size of the entry's `message`, with room for an escape for each
  /// character of the id.
  fileprivate var jsonBytes: Int {
    body.count + room.utf8.count + from.utf8.count + 2 * id.utf8.count + 160
  }
}
