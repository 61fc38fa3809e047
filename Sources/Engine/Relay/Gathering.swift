import Wire

/// One page of history while it is read: from its oldest entry upwards, or from its newest downwards.
///
/// What it costs is bounded by what the page holds, whatever lies between its entries: how many of a
/// range say something of their own is known from the count of changes, so that ranges that are
/// about others alone are passed over without being read, and what has become of an entry is kept
/// as it stands.
struct Gathering {
  /// So many entries are read at once.
  static let rangeEntries: Int64 = 64
  /// A folded page looks for its entries where at least one in so many is one, and goes straight to
  /// the next one elsewhere.
  static let sparseness: Int64 = 4
  /// The shortest range that is looked at for being sparse.
  static let shortestRange: Int64 = 16
  /// So often the changes are counted before a page that has something is answered as it is.
  static let countLimit = 4096

  let isForward: Bool
  private let room: String
  private let number: Int64
  private let limit: Int
  private let limitBytes: Int
  /// What is not looked at yet: from `lower` to `upper`.
  private var lower: Int64
  private var upper: Int64
  private var bytes = 0
  /// An entry was left out: it did not fit.
  private var isFull = false
  /// How often the changes were counted.
  private var counts = 0

  /// In the order in which they were taken.
  private(set) var taken: [Entry] = []
  private(set) var hasMore = false

  init(
    _ request: ClientMessage.HistoryRequest, number: Int64, first: Int64, head: Int64,
    limitBytes: Int
  ) {
    isForward = request.after != nil
    room = request.room
    self.number = number
    limit = request.limit
    self.limitBytes = limitBytes
    lower = max((request.after ?? 0) + 1, first)
    upper = min((request.before ?? head + 1) - 1, head)
  }

  /// The next entries, so many or as many as there are.
  private func range(_ count: Int64) -> ClosedRange<Int64> {
    isForward ? lower...min(upper, lower + count - 1) : max(lower, upper - count + 1)...upper
  }

  private mutating func drop(_ range: ClosedRange<Int64>) {
    if isForward { lower = range.upperBound + 1 } else { upper = range.lowerBound - 1 }
  }

  private var wanted: Int64 { Int64(limit - taken.count) }

  private var isAtEnd: Bool { isFull || taken.count >= limit || lower > upper }

  /// - Returns: whether it fits.
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

  /// In the order in which they are taken.
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
        guard take(entry) else { break }
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
        guard let next = try nextContent(from: &reader) else {
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
    }
  }

  private mutating func takeFolded(
    _ range: ClosedRange<Int64>, from reader: inout some EntryReader
  ) throws(StoreFailure) {
    let contents = try entries(in: range, from: &reader).filter(\.kind.isContent)
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
      let isChanged = targets.contains(entry.seq) || entry.body == Entry.deletedTextBody
      guard take(isChanged ? try folded(entry, from: &reader) : entry) else { break }
    }
    drop(range)
  }

  private func folded(
    _ entry: Entry, from reader: inout some EntryReader
  ) throws(StoreFailure) -> Entry {
    guard entry.kind == .text, !entry.isDeleted else {
      return entry.folded(edit: nil, reactions: [])
    }
    let edit = try reader.lastEdit(of: entry.seq, inRoom: number, named: room)
    var reactions: [Reaction] = []
    let given = try reader.reactions(to: entry.seq, inRoom: number)
    var budget = Reaction.Budget(emoji: given.count)
    for (emoji, users) in given {
      var reaction = Reaction(emoji: emoji, more: users)
      budget.begin()
      try reader.forEachUser(giving: emoji, to: entry.seq, inRoom: number) { user in
        guard budget.take(user) else { return false }
        reaction.users.append(user)
        return true
      }
      reaction.more -= Int64(reaction.users.count)
      reactions.append(reaction)
    }
    return entry.folded(edit: edit, reactions: reactions)
  }

  // MARK: - Counting

  /// How many of these entries say something of their own.
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

  /// The next entry that says something of its own, found by doubling and halving a range: at twice
  /// the logarithm of its distance.
  private mutating func nextContent(
    from reader: inout some EntryReader
  ) throws(StoreFailure) -> Int64? {
    var reach: Int64 = 1
    // Nothing within `reach` - 1.
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
  /// At least what the entry takes as a `message`: an id may need an escape for each character.
  fileprivate var jsonBytes: Int {
    body.count + room.utf8.count + from.utf8.count + 2 * id.utf8.count + 160
  }
}
