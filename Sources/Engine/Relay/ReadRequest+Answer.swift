import Moderation
import Wire

extension ReadRequest {
  /// The maximum size of the answer to `glimpses`, except for its first entry: that of a reply.
  static let glimpsesLimitBytes = 131_072

  /// Reads what is requested; every log with an `EntryReader` uses this.
  public func answer(
    from reader: inout some EntryReader, _ lineage: Lineage, _ framing: Framing
  ) -> LogAnswer {
    switch self {
    case .entries(let session, let room, let user, let after, let through, let limitBytes):
      let page = try? Self.entries(
        room, for: user, after: after, through: through, limitBytes: limitBytes, &reader, framing)
      return .entries(
        session,
        page
          ?? EntriesPage(
            room: room, firstSeq: after + 1, firstKept: 1, frames: Frames(), failed: true))
    case .history(let session, let request, let asker, let ref, let mayCreate, let limitBytes):
      let reply = try? Self.history(
        request, by: asker, mayCreate: mayCreate, limitBytes, lineage, &reader)
      let message =
        reply ?? .error(WireError.unavailable(re: .history, room: request.room))
      return .reply(session, json: message.json(ref: ref))
    case .glimpses(let session, let places, let asker):
      return .glimpses(session, Self.glimpses(places, by: asker, &reader))
    case .reports(let session, let room, let asker):
      let reply = try? Self.reports(room, by: asker, &reader)
      return .read(
        session, reply ?? .error(WireError.unavailable(re: .reports, room: room)))
    case .lastSeen(let session, let users, let purpose):
      var seen = LogAnswer.Seen(purpose: purpose, users: users, at: [:])
      for user in users { seen.at[user] = (try? reader.lastSeen(user)) ?? nil }
      return .lastSeen(session, seen)
    case .file(let question, let asker): return .file(asker, question.answer(from: &reader))
    case .users(let user, let limit):
      let page = try? reader.users(after: user, limit: limit)
      return .users(page.map { .page($0) } ?? .failed)
    }
  }

  private static func entries(
    _ room: String, for user: String, after: Int64, through: Int64, limitBytes: Int,
    _ reader: inout some EntryReader, _ framing: Framing
  ) throws(StoreFailure) -> EntriesPage {
    var frames = Frames()
    guard let bounds = try reader.room(room) else {
      throw StoreFailure("room \(room) is not in the store")
    }
    let lower = max(after + 1, bounds.first)
    if lower <= min(through, bounds.head) {
      try reader.forEachEntry(
        ofRoom: bounds.number, named: room, in: lower...min(through, bounds.head)
      ) { entry in
        let isHidden = !bounds.direct.hidden.isEmpty && bounds.direct.hides(entry, from: user)
        frames.append(isHidden ? entry.hidden : entry, framing)
        return frames.bytes.count < limitBytes
      }
      frames.dropLast(ifOver: limitBytes)
    }
    return EntriesPage(room: room, firstSeq: lower, firstKept: bounds.first, frames: frames)
  }

  /// A room as a user may read it.
  private struct View {
    var room: ReadableRoom
    var about: ServerMessage.RoomDescription?
    /// Why the user may not.
    var refusal: WireError?
    var veil: Gathering.Veil?
  }

  /// Returns what a user may read of a room: one that is hidden from them is `nil`, as one that is not in
  /// the store.
  private static func view(
    of name: String, for asker: Asker, re: RequestName, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> View? {
    guard let room = try reader.room(name) else { return nil }
    var view = View(room: room)
    if !room.direct.hidden.isEmpty {
      view.veil = Gathering.Veil(user: asker.user, direct: room.direct)
    }
    if RoomName.isForOperators(name), !asker.isOperator {
      view.refusal = Sequencer.forOperators(re, name)
      return view
    }
    guard let rules = room.rules else { return view }
    let standing = try reader.standing(of: asker.user, inRoom: room.number)
    let actor = RoomRules.Actor(asker.user, standing, isOperator: asker.isOperator)
    view.about = rules.description(for: actor, asker.now)
    if let first = rules.firstReadable(by: actor, now: asker.now) {
      view.room.first = min(max(room.first, first), room.head + 1)
      return view
    }
    do throws(RoomRules.Refusal) { try rules.checkReading(by: actor, now: asker.now) } catch {
      if error == .noSuchRoom { return nil }
      view.refusal = error.wireError(re: re, room: name)
    }
    return view
  }

  /// Returns a room, with the first entry that a user may read; `nil` if they may not.
  static func readable(
    _ name: String, by asker: Asker, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> ReadableRoom? {
    guard let view = try view(of: name, for: asker, re: .history, &reader), view.refusal == nil
    else { return nil }
    return view.room
  }

  private static func history(
    _ request: ClientMessage.HistoryRequest, by asker: Asker, mayCreate: Bool, _ limitBytes: Int,
    _ lineage: Lineage, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> ServerMessage {
    var request = request
    var page = ServerMessage.HistoryPage(
      room: request.room, entries: [], first: 1, head: 0, more: false, epoch: lineage.current.name)
    let view = try view(of: request.room, for: asker, re: .history, &reader)
    guard view != nil || mayCreate else {
      return .error(Sequencer.noSuchRoom(re: .history, request.room))
    }
    if let refusal = view?.refusal { return .error(refusal) }
    let room = view?.room
    if let room { (page.first, page.head) = (room.first, room.head) }
    if let resumption = try resumption(of: request, room, lineage, &reader) {
      (page.resume, page.after) = (resumption.resume, resumption.after)
      request.after = resumption.after
    }
    guard let room else { return .history(page) }
    var gathering = Gathering(
      request, number: room.number, first: room.first, head: room.head,
      limitBytes: limitBytes, kinds: room.rules == nil ? .content : .contentAndNotices,
      veil: view?.veil)
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
    of request: ClientMessage.HistoryRequest, _ bounds: ReadableRoom?,
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

  private static func glimpses(
    _ places: [(room: String, seq: Int64)], by asker: Asker, _ reader: inout some EntryReader
  ) -> [LogAnswer.Glimpse] {
    var glimpses: [LogAnswer.Glimpse] = []
    var bytes = 0
    for place in places {
      let glimpse = glimpse(place.room, place.seq, by: asker, &reader)
      bytes += glimpse.last?.count ?? 0
      if bytes > glimpsesLimitBytes, !glimpses.isEmpty { break }
      glimpses.append(glimpse)
    }
    return glimpses
  }

  private static func glimpse(
    _ name: String, _ seq: Int64, by asker: Asker, _ reader: inout some EntryReader
  ) -> LogAnswer.Glimpse {
    var glimpse = LogAnswer.Glimpse()
    do throws(StoreFailure) {
      guard let view = try view(of: name, for: asker, re: .rooms, &reader) else {
        glimpse.isHidden = try reader.room(name) != nil
        return glimpse
      }
      glimpse.about = view.about
      if view.refusal == nil {
        if let veil = view.veil {
          glimpse.last = try last(name, seq, in: view, &reader)
          // A direct room in which nothing is shown came to be by a user who is blocked. The room may have
          // been trimmed beyond `seq` since.
          if glimpse.last == nil, veil.direct.hidden.contains(where: { $0.sender != asker.user }) {
            glimpse.isHidden =
              try lastShown(name, before: view.room.head + 1, in: view, &reader) == nil
          }
        } else {
          glimpse.last = (try? last(name, seq, in: view, &reader)) ?? nil
        }
      }
      if let request = view.room.direct.request, request.user == asker.user {
        glimpse.isAccepted = !request.issuer.isEmpty && request.issuer == asker.issuer
        glimpse.isRequest = !glimpse.isAccepted
      }
    } catch {
      glimpse.isHidden = nil
    }
    return glimpse
  }

  /// Returns the last entry up to `seq` that has content of its own and is shown, folded.
  private static func last(
    _ name: String, _ seq: Int64, in view: View, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> [UInt8]? {
    let room = view.room
    var found: Entry?
    if seq >= room.head, room.head >= room.first, view.veil == nil {
      // Usually it is the newest entry, which cannot have changes yet.
      try reader.forEachEntry(ofRoom: room.number, named: name, in: room.head...room.head) {
        if $0.kind.isContent { found = $0 }
        return false
      }
    }
    if found == nil {
      found = try lastShown(name, before: min(seq, room.head) + 1, in: view, &reader)
    }
    guard let found else { return nil }
    var json: [UInt8] = []
    found.append(to: &json)
    return json
  }

  /// The number of hidden entries in a row that are read one by one; beyond it their run is skipped, with
  /// what the user has sent in it.
  static let hiddenLimit = 256

  private static func lastShown(
    _ name: String, before end: Int64, in view: View, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> Entry? {
    var request = ClientMessage.HistoryRequest(room: name)
    request.limit = view.veil == nil ? 1 : hiddenLimit
    request.isFolded = true
    request.before = end
    while let before = request.before, before > view.room.first {
      var gathering = Gathering(
        request, number: view.room.number, first: view.room.first, head: view.room.head,
        limitBytes: glimpsesLimitBytes, veil: view.veil)
      try gathering.gatherFolded(from: &reader)
      if let shown = gathering.taken.first(where: { $0.kind != .hidden }) { return shown }
      guard gathering.hasMore, let oldest = gathering.taken.last?.seq, let veil = view.veil else {
        return nil
      }
      let run = veil.direct.hidden.last { $0.sender != veil.user && $0.contains(oldest) }
      request.before = run?.first ?? oldest
    }
    return nil
  }

  // MARK: - Reports

  private static let reportsLimit = 100

  private static func reports(
    _ name: String?, by asker: Asker, _ reader: inout some EntryReader
  ) throws(StoreFailure) -> ServerMessage {
    var records: [Int64]?
    if let name {
      guard let view = try view(of: name, for: asker, re: .reports, &reader) else {
        return .error(.hidden(name, re: .reports))
      }
      if let refusal = view.refusal { return .error(refusal) }
      guard asker.isOperator || view.about?.role == .owner || view.about?.role == .moderator else {
        return .error(
          WireError(
            .forbidden, "Only moderators of \(name) see the reports about it.", re: .reports,
            room: name))
      }
      records = try reader.reports(ofRoom: view.room.number, limit: reportsLimit)
    }
    var reports: [ServerMessage.Report] = []
    guard let room = try reader.room(RoomName.reports) else { return .reports([]) }
    let latest = max(room.first, room.head - Int64(reportsLimit) + 1)
    for seq in records ?? (latest...max(latest, room.head)).reversed()
    where seq >= room.first && seq <= room.head {
      try reader.forEachEntry(ofRoom: room.number, named: RoomName.reports, in: seq...seq) {
        if let report = try? ServerMessage.Report(recorded: $0) { reports.append(report) }
        return false
      }
    }
    return fitting(reports)
  }

  /// Returns as many reports as a reply may have, and the first one in any case.
  private static func fitting(_ reports: [ServerMessage.Report]) -> ServerMessage {
    var bytes = 0
    return .reports(
      Array(
        reports.prefix { report in
          var json: [UInt8] = []
          report.append(to: &json)
          let isFirst = bytes == 0
          bytes += json.count + 1
          return isFirst || bytes <= glimpsesLimitBytes
        }))
  }
}
