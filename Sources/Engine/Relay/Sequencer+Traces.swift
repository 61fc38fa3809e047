import DequeModule
import Wire

/// Answers requests to trace an entry, from the history of commits. Logs do this after they have
/// published a batch, so that it delays no entry.
extension Sequencer {
  /// Keeps the times of the batch that was processed last, if it was stored.
  public mutating func record(_ stages: CommitStages, of outcome: Outcome) {
    guard outcome.failure == nil, let commit = outcome.commit else { return }
    history.append(commit, stages)
  }

  /// Answers the traces that the last batches have asked for.
  public mutating func takeTraces(
    _ store: inout some EntryLookup
  ) -> [(loop: Int, answer: LogAnswer)] {
    guard !traces.isEmpty else { return [] }
    defer { traces = [] }
    return traces.map { loop, request in
      (loop, .traced(request.ticket, trace(request, &store)))
    }
  }

  private mutating func trace(
    _ request: LogRequest.Trace, _ store: inout some EntryLookup
  ) -> TraceResult {
    var request = request
    if case .trace(let trace) = request.entry {
      guard let (room, seq) = history.find(trace) else {
        return .refused(
          WireError(
            .noSuchEntry,
            "No entry of this trace is kept: the relay has the last ones since it started.",
            re: .trace))
      }
      (request.room, request.entry) = (room, .seq(seq))
    }
    do throws(StoreFailure) {
      guard try exists(request, &store) else {
        return request.mayRead ? Self.missing(request) : Self.forbidden(request)
      }
      guard let seq = try seq(of: request, &store) else { return Self.missing(request) }
      // An id is looked up among the user's own.
      let isOwn = if case .id = request.entry { true } else { false }
      guard let place = history.find(seq, inRoom: request.room) else {
        return request.mayRead || isOwn ? .expired : Self.forbidden(request)
      }
      let record = history.records[place.record]
      let sender = record.senders[place.index]
      if let user = request.user, user != sender { return Self.forbidden(request) }
      let room = try room(request.room, &store)
      var trace = EntryTrace(
        room: request.room, seq: seq, from: sender, received: record.received[place.index],
        stages: record.stages, batchEntries: record.senders.count,
        members: rooms[room].memberCount,
        traceparent: record.trace?.spans.last { $0.room == request.room && $0.seq == seq }?.parent)
      if let list = rooms[room].memberList {
        // As the sender may know them, whoever asks.
        let members = marks(
          list.filter { $0.user != sender }, seenBy: sender, in: room, &store)
        let times = history.marks(passing: seq, inRoom: request.room, from: place.record)
        trace.receivedBy = members.filter { $0.received >= seq }
          .map { .init(user: $0.user, at: times.received[$0.user]) }
        trace.readBy = members.filter { $0.read >= seq }
          .map { .init(user: $0.user, at: times.read[$0.user]) }
      }
      return .found(trace)
    } catch {
      return .refused(WireError.unavailable(re: .trace, room: request.room))
    }
  }

  /// Whether the room exists for the user who asks.
  private mutating func exists(
    _ request: LogRequest.Trace, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Bool {
    guard let user = request.user else { return true }
    let room = try room(request.room, &store)
    let refusal = try readingRefusal(
      of: user, false, in: room, re: .trace, rooms[room].lastAt, &store)
    return refusal?.code != .noSuchRoom
  }

  /// Returns the number of the entry; `nil` if there is none that the request may find.
  private mutating func seq(
    of request: LogRequest.Trace, _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Int64? {
    let room = try room(request.room, &store)
    switch request.entry {
    case .seq(let seq):
      // Without the right to read the room, the answer must not depend on what is in it.
      return !request.mayRead || seq >= 1 && seq <= rooms[room].head ? seq : nil
    case .trace: return nil
    case .id(let id):
      guard let number = rooms[room].number else { return nil }
      var last: Int64?
      for sender in request.user.map({ [$0] }) ?? history.senders(inRoom: request.room) {
        let identity = EntryIdentity(room: number, sender: sender, id: id, key: store.identityKey)
        if let found = try store.find(
          identity, room: number, named: request.room, sender: sender, id: id)
        {
          last = max(last ?? 0, found.seq)
        }
      }
      return last
    }
  }

  private static func missing(_ request: LogRequest.Trace) -> TraceResult {
    let entry =
      switch request.entry {
      case .trace: "entry of the trace"
      case .seq(let seq): "entry \(seq)"
      case .id(let id):
        request.user == nil ? "recent entry with the id \(id)" : "entry of yours with the id \(id)"
      }
    return .refused(
      WireError(
        .noSuchEntry, "There is no \(entry) in \(request.room).", re: .trace, room: request.room))
  }

  private static func forbidden(_ request: LogRequest.Trace) -> TraceResult {
    .refused(
      WireError(
        .forbidden, "Only its sender and the relay's operators may trace an entry.", re: .trace,
        room: request.room))
  }
}
