import Wire

extension ReadRequest {
  /// Reads what is asked for; the one way in which every log with an `EntryReader` answers.
  public func answer(from reader: inout some EntryReader, _ framing: Framing) -> LogAnswer {
    switch self {
    case .entries(let session, let room, let after, let through, let limitBytes):
      let page = try? Self.entries(
        room, after: after, through: through, limitBytes: limitBytes, &reader, framing)
      return .entries(
        session,
        page
          ?? EntriesPage(
            room: room, firstSeq: after + 1, firstKept: 1, frames: Frames(), failed: true))
    case .history(let session, let request, let mayCreate, let limitBytes):
      let reply = try? Self.history(request, mayCreate: mayCreate, limitBytes, &reader)
      let message =
        reply ?? .error(Sequencer.unavailable(re: "history", room: request.room))
      return .reply(session, json: message.json)
    case .lasts(let session, let places):
      return .lasts(session, places.map { (try? Self.last($0.room, $0.seq, &reader)) ?? nil })
    case .lastSeen(let session, let users, let purpose):
      var seen = LogAnswer.Seen(purpose: purpose, users: users, at: [:])
      for user in users { seen.at[user] = (try? reader.lastSeen(user)) ?? nil }
      return .lastSeen(session, seen)
    }
  }

  private static func entries(
    _ room: String, after: Int64, through: Int64, limitBytes: Int,
    _ reader: inout some EntryReader, _ framing: Framing
  ) throws(StoreFailure) -> EntriesPage {
    var frames = Frames()
    guard let bounds = try reader.bounds(of: room) else {
      throw StoreFailure("the room \(room) is not in the store")
    }
    let lower = max(after + 1, bounds.first)
    if lower <= min(through, bounds.head) {
      try reader.forEachEntry(
        ofRoom: bounds.number, named: room, in: lower...min(through, bounds.head)
      ) { entry in
        frames.append(entry, framing)
        return frames.bytes.count < limitBytes
      }
      frames.dropLast(ifOver: limitBytes)
    }
    return EntriesPage(room: room, firstSeq: lower, firstKept: bounds.first, frames: frames)
  }

  private static func history(
    _ request: ClientMessage.HistoryRequest, mayCreate: Bool, _ limitBytes: Int,
    _ reader: inout some EntryReader
  ) throws(StoreFailure) -> ServerMessage {
    var page = ServerMessage.HistoryPage(
      room: request.room, entries: [], first: 1, head: 0, more: false)
    guard let bounds = try reader.bounds(of: request.room) else {
      guard mayCreate else {
        return .error(Sequencer.noSuchRoom(re: "history", request.room))
      }
      return .history(page)
    }
    page.first = bounds.first
    page.head = bounds.head
    if request.isFolded {
      try fold(&page, request, bounds.number, limitBytes, &reader)
      return .history(page)
    }
    // Gapless numbers make a page a range.
    let count = Int64(request.limit)
    let lower: Int64
    let upper: Int64
    if let after = request.after {
      lower = max(after + 1, bounds.first)
      upper = min(lower + count - 1, bounds.head)
    } else {
      upper = min((request.before ?? bounds.head + 1) - 1, bounds.head)
      lower = max(upper - count + 1, bounds.first)
    }
    var sizes: [Int] = []
    if lower <= upper {
      try reader.forEachEntry(ofRoom: bounds.number, named: request.room, in: lower...upper) {
        page.entries.append($0)
        sizes.append($0.jsonBytes)
        return true
      }
    }
    _ = page.cut(sizes, limitBytes, keepingNewest: request.after == nil)
    if request.after == nil {
      page.more = (page.entries.first?.seq ?? bounds.first) > bounds.first
    } else {
      page.more = (page.entries.last?.seq ?? bounds.head) < bounds.head
    }
    return .history(page)
  }

  /// So many entries at most are looked at for the last one that says something, the first of them by
  /// themselves: it is mostly among these.
  private static let lastSteps: [Int64] = [1, 3, 12, 16]

  private static func last(
    _ room: String, _ seq: Int64, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> [UInt8]? {
    guard let bounds = try reader.bounds(of: room) else { return nil }
    var upper = min(seq, bounds.head)
    for step in lastSteps where upper >= bounds.first {
      let lower = max(upper - step + 1, bounds.first)
      var last: Entry?
      try reader.forEachEntry(ofRoom: bounds.number, named: room, in: lower...upper) {
        if $0.kind.isContent { last = $0 }
        return true
      }
      if let last {
        var changes: [Entry] = []
        try reader.forEachChange(
          ofRoom: bounds.number, named: room, about: last.seq...last.seq
        ) { changes.append($1) }
        var json: [UInt8] = []
        last.folded(with: changes).append(to: &json)
        return json
      }
      upper = lower - 1
    }
    return nil
  }
}

/// History without the entries that are about others: what these say has gone into those.
extension ReadRequest {
  /// So many entries are looked at before a page that has something is answered as it is.
  private static let scanLimit: Int64 = 20_000

  private static func fold(
    _ page: inout ServerMessage.HistoryPage, _ request: ClientMessage.HistoryRequest,
    _ number: Int64, _ limitBytes: Int, _ reader: inout some EntryReader
  ) throws(StoreFailure) {
    let isForward = request.after != nil
    var lower = max((request.after ?? 0) + 1, page.first)
    var upper = min((request.before ?? page.head + 1) - 1, page.head)
    let step = Int64(request.limit)
    var scanned: Int64 = 0
    while lower <= upper, page.entries.count < request.limit,
      scanned < scanLimit || page.entries.isEmpty
    {
      let stretch =
        isForward ? lower...min(lower + step - 1, upper) : max(upper - step + 1, lower)...upper
      var contents: [Entry] = []
      try reader.forEachEntry(ofRoom: number, named: request.room, in: stretch) {
        if $0.kind.isContent { contents.append($0) }
        return true
      }
      scanned += Int64(stretch.count)
      if isForward {
        page.entries += contents
        lower = stretch.upperBound + 1
      } else {
        page.entries = contents + page.entries
        upper = stretch.lowerBound - 1
      }
    }
    page.more = lower <= upper
    let surplus = page.entries.count - request.limit
    if surplus > 0 {
      page.more = true
      if isForward { page.entries.removeLast(surplus) } else { page.entries.removeFirst(surplus) }
    }
    guard let first = page.entries.first, let last = page.entries.last else { return }
    var changes: [Int64: [Entry]] = [:]
    try reader.forEachChange(ofRoom: number, named: request.room, about: first.seq...last.seq) {
      changes[$0, default: []].append($1)
    }
    page.entries = page.entries.map { $0.folded(with: changes[$0.seq] ?? []) }
    if page.cut(page.entries.map(\.jsonBytes), limitBytes, keepingNewest: !isForward) {
      page.more = true
    }
  }
}

extension Entry {
  /// At least what the entry takes as a `message`.
  fileprivate var jsonBytes: Int {
    body.count + room.utf8.count + from.utf8.count + id.utf8.count + 160
  }
}

extension ServerMessage.HistoryPage {
  /// Leaves as many entries as fit, but at least one.
  /// - Returns: whether that was fewer than there were.
  fileprivate mutating func cut(
    _ sizes: [Int], _ limitBytes: Int, keepingNewest: Bool
  ) -> Bool {
    let all = entries.count
    var bytes = 0
    var count = 0
    for size in keepingNewest ? sizes.reversed() : sizes {
      bytes += size
      if bytes > limitBytes, count > 0 { break }
      count += 1
    }
    if keepingNewest {
      entries.removeFirst(entries.count - count)
    } else {
      entries.removeLast(entries.count - count)
    }
    return count < all
  }
}
