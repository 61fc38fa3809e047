import Wire

extension ReadRequest {
  /// The maximum size of the answer to `lastEntries`, except for its first entry: that of a reply.
  static let lastEntriesLimitBytes = 131_072

  /// Reads what is requested; every log with an `EntryReader` uses this.
  public func answer(
    from reader: inout some EntryReader, _ lineage: Lineage, _ framing: Framing
  ) -> LogAnswer {
    switch self {
    case .entries(let session, let room, let after, let through, let limitBytes):
      let page = try? Self.entries(
        room, after: after, through: through, limitBytes: limitBytes, &reader, framing)
      return .entries(
        session,
        page
          ?? EntriesPage(
            room: room, firstSeq: after + 1, firstKept: 1, frames: Frames(), failed: true))
    case .history(let session, let request, let ref, let mayCreate, let limitBytes):
      let reply = try? Self.history(request, mayCreate: mayCreate, limitBytes, lineage, &reader)
      let message =
        reply ?? .error(WireError.unavailable(re: .history, room: request.room))
      return .reply(session, json: message.json(ref: ref))
    case .lastEntries(let session, let places):
      return .lastEntries(session, Self.lastEntries(places, &reader))
    case .lastSeen(let session, let users, let purpose):
      var seen = LogAnswer.Seen(purpose: purpose, users: users, at: [:])
      for user in users { seen.at[user] = (try? reader.lastSeen(user)) ?? nil }
      return .lastSeen(session, seen)
    case .users(let user, let limit):
      let page = try? reader.users(after: user, limit: limit)
      return .users(page.map { .page($0) } ?? .failed)
    }
  }

  private static func entries(
    _ room: String, after: Int64, through: Int64, limitBytes: Int,
    _ reader: inout some EntryReader, _ framing: Framing
  ) throws(StoreFailure) -> EntriesPage {
    var frames = Frames()
    guard let bounds = try reader.bounds(of: room) else {
      throw StoreFailure("room \(room) is not in the store")
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
    _ lineage: Lineage, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> ServerMessage {
    var request = request
    var page = ServerMessage.HistoryPage(
      room: request.room, entries: [], first: 1, head: 0, more: false, epoch: lineage.current.name)
    let bounds = try reader.bounds(of: request.room)
    guard bounds != nil || mayCreate else {
      return .error(Sequencer.noSuchRoom(re: .history, request.room))
    }
    if let bounds { (page.first, page.head) = (bounds.first, bounds.head) }
    if let resumption = try resumption(of: request, bounds, lineage, &reader) {
      (page.resume, page.after) = (resumption.resume, resumption.after)
      request.after = resumption.after
    }
    guard let bounds else { return .history(page) }
    var gathering = Gathering(
      request, number: bounds.number, first: bounds.first, head: bounds.head,
      limitBytes: limitBytes)
    if request.isFolded {
      try gathering.gatherFolded(from: &reader)
    } else {
      try gathering.gather(from: &reader)
    }
    page.entries = gathering.isForward ? gathering.taken : gathering.taken.reversed()
    page.more = gathering.hasMore
    return .history(page)
  }

  /// Returns where a client continues that names an epoch, as `joined` tells; `nil` for others.
  private static func resumption(
    of request: ClientMessage.HistoryRequest, _ bounds: (number: Int64, first: Int64, head: Int64)?,
    _ lineage: Lineage, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> Resumption? {
    guard let after = request.after, request.epoch != nil || request.lineage?.isEmpty == false
    else { return nil }
    let first = bounds?.first ?? 1
    guard let common = lineage.common(epoch: request.epoch, lineage: request.lineage) else {
      return Resumption(after: after, limit: nil, first: first)
    }
    var limit: Int64 = 0
    if let bounds, common.epoch == lineage.current {
      limit = bounds.head
    } else if let bounds, bounds.first <= bounds.head {
      limit =
        try reader.lastSeq(
          ofRoom: bounds.number, in: bounds.first...bounds.head, throughEpoch: common.epoch.number)
        ?? 0
    }
    return Resumption(after: after, limit: limit, end: common.end, first: first)
  }

  private static func lastEntries(
    _ places: [(room: String, seq: Int64)], _ reader: inout some EntryReader
  ) -> [[UInt8]?] {
    var lastEntries: [[UInt8]?] = []
    var bytes = 0
    for place in places {
      let last = (try? last(place.room, place.seq, &reader)) ?? nil
      bytes += last?.count ?? 0
      if bytes > lastEntriesLimitBytes, !lastEntries.isEmpty { break }
      lastEntries.append(last)
    }
    return lastEntries
  }

  /// Returns the last entry up to `seq` that has content of its own, folded.
  private static func last(
    _ room: String, _ seq: Int64, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> [UInt8]? {
    guard let bounds = try reader.bounds(of: room) else { return nil }
    var request = ClientMessage.HistoryRequest(room: room)
    request.limit = 1
    request.before = min(seq, bounds.head) + 1
    request.isFolded = true
    var found: Entry?
    if seq >= bounds.head, bounds.head >= bounds.first {
      // Usually it is the newest entry, which cannot have changes yet.
      try reader.forEachEntry(
        ofRoom: bounds.number, named: room, in: bounds.head...bounds.head
      ) {
        if $0.kind.isContent { found = $0 }
        return false
      }
    }
    if found == nil {
      var gathering = Gathering(
        request, number: bounds.number, first: bounds.first, head: bounds.head, limitBytes: 0)
      try gathering.gatherFolded(from: &reader)
      found = gathering.taken.first
    }
    guard let found else { return nil }
    var json: [UInt8] = []
    found.append(to: &json)
    return json
  }
}
