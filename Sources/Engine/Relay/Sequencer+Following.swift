import Wire

/// A batch that is committed to a store with several sequencers, for the others of them: its changes,
/// and what is published with it but not stored.
package struct SequencedBatch: Sendable {
  package var changes: StoreChanges
  /// The names of the rooms whose members, first entries or redacted entries changed.
  package var rooms: [Int64: String] = [:]
  /// Members whose marks moved by a `mark`.
  package var marked: [(room: String, user: String)] = []
  package var memberships: [(room: String, user: String, belongs: Bool)] = []
  package var redactions: [Commit.Redaction] = []
  package var typing: [Commit.TypingChange] = []
  package var requests: [Commit.RequestChange] = []

  package init(changes: StoreChanges = StoreChanges()) { self.changes = changes }

  /// Whether there is nothing to commit: `rooms` belongs to other changes.
  package var isEmpty: Bool {
    changes.isEmpty && marked.isEmpty && memberships.isEmpty && redactions.isEmpty
      && typing.isEmpty && requests.isEmpty
  }

  /// The names of all rooms that are published with the batch.
  fileprivate var roomNames: Set<String> {
    Set(changes.entries.lazy.map(\.entry.room)).union(rooms.values)
  }
}

/// One of several sequencers of a store: each applies the batches that the others have committed, in
/// the order of commits, and so has the same picture of the rooms as if it had sequenced them. This is
/// all that the module Cluster needs of a sequencer; a sequencer that is alone uses none of it.
extension Sequencer {
  /// Returns a prepared batch as the other sequencers apply it.
  package func sequenced(_ batch: inout Batch) -> SequencedBatch {
    var sequenced = SequencedBatch(changes: changes(of: &batch))
    func name(_ room: Int) {
      if let number = rooms[room].number { sequenced.rooms[number] = rooms[room].name }
    }
    for key in batch.dirtyMembers { name(key.room) }
    for room in batch.ruled { name(room) }
    for key in batch.judged { name(key.room) }
    for room in batch.directs { name(room) }
    for room in batch.cleared { name(room) }
    for key in batch.formerMembers { name(key.room) }
    for room in batch.trimmed { name(room) }
    for key in batch.marked where rooms[key.room].number != nil {
      sequenced.marked.append((rooms[key.room].name, key.user))
    }
    for change in batch.membershipChanges {
      guard let room = indices[change.room], rooms[room].number != nil else { continue }
      sequenced.memberships.append((change.room, change.user, change.belongs))
    }
    sequenced.redactions = Self.redactions(batch, rooms)
    sequenced.typing = batch.typing
    sequenced.requests = batch.requests
    return sequenced
  }

  /// Answers requests that change nothing: `memberships` and `trace`.
  package mutating func answer(
    _ submissions: [(loop: Int, requests: [LogRequest])], store: inout some EntryLookup, now: Int64,
    framing: Framing
  ) -> Outcome {
    var batch = nextBatch(now)
    for (loop, requests) in submissions { applyRequests(requests, from: loop, &batch, &store) }
    return publish(batch, &store, framing)
  }

  /// Continues with a store that may have lost batches, or has others that were not applied: what is in
  /// memory of it is read again. To be called between batches.
  /// - Parameter presences: changes elsewhere.
  /// - Returns: what is to be published; `nil` if there is nothing.
  package mutating func startAgain(
    _ lineage: Lineage, presences: [PresenceBook.Shift], store: inout some EntryLookup, now: Int64,
    framing: Framing
  ) -> Commit? {
    self.lineage = lineage
    for room in rooms.indices {
      if rooms[room].number != nil { rooms[room].members = [:] }
      rooms[room].becomeUnstored()
      rooms[room].epochs = nil
      rooms[room].isStale = true
    }
    governed = [:]
    pastHeads = [:]
    if let stored = try? store.blocks() { blocks = stored }
    let renewal = Commit.Renewal(blocks: blocks, bans: try? store.bans())
    membershipCounts = [:]
    nextRoomNumber = nil
    history = CommitHistory()
    var batch = nextBatch(now)
    applyPresences(presences, &batch)
    return makeCommit(of: batch, &store, framing, renewal: renewal)
  }

  /// Returns the identities that a batch looks up in the store, as far as their rooms are in memory.
  package func identities(
    of submissions: [(loop: Int, requests: [LogRequest])], key: EntryIdentity.Key
  ) -> [EntryIdentity] {
    var identities: [EntryIdentity] = []
    for request in submissions.lazy.flatMap(\.requests) {
      guard case .append(let append) = request, let room = indices[append.room],
        let number = rooms[room].number
      else { continue }
      identities.append(
        EntryIdentity(room: number, sender: append.user, id: append.id, key: key))
    }
    return identities
  }

  /// Returns the rooms that are read from the store for these batches.
  package func unknownRooms(
    of followed: [SequencedBatch], _ submissions: [(loop: Int, requests: [LogRequest])],
    trimming trims: [RoomTrim] = []
  ) -> [String] {
    var names = followed.reduce(into: Set(trims.map(\.room))) { $0.formUnion($1.roomNames) }
    for request in submissions.lazy.flatMap(\.requests) {
      switch request {
      case .append(let append): if !append.room.isEmpty { names.insert(append.room) }
      case .subscribe(let subscribe): names.insert(subscribe.room)
      case .mark(let room, _, _), .forget(let room, _, _), .typing(let room, _, _, _):
        names.insert(room)
      case .accept(let room, _, _): names.insert(room)
      case .ban, .act: names.insert(RoomName.audit)
      case .deleteRoom(let room, _): names.formUnion([room, RoomName.audit])
      case .erase(let erasure, _): names.insert(erasure.room ?? RoomName.audit)
      case .report(let report): names.formUnion([report.room, RoomName.reports])
      case .block(let block): names.insert(RoomName.direct(block.user, block.blocked))
      case .unsubscribe, .presence, .memberships, .trace, .file: break
      }
    }
    return names.filter { name in indices[name].map { rooms[$0].isStale } ?? true }.sorted()
  }

  /// Applies batches of other sequencers.
  /// - Parameters:
  ///   - followed: all batches since the last call, in the order of their commits, but for those of
  ///     this sequencer. The store is in the state after the last of them.
  ///   - presences: changes elsewhere.
  /// - Returns: what is to be published; `nil` if there is nothing.
  /// - Throws: if a room cannot be read. Nothing is applied then, and the call can be repeated.
  package mutating func follow(
    _ followed: [SequencedBatch], presences: [PresenceBook.Shift], store: inout some EntryLookup,
    now: Int64, framing: Framing
  ) throws(StoreFailure) -> Commit? {
    let loaded = try loadRooms(of: followed, &store)
    var batch = nextBatch(now)
    for followed in followed { applyBatch(followed, loaded, &batch) }
    applyPresences(presences, &batch)
    return makeCommit(of: batch, &store, framing)
  }

  private mutating func nextBatch(_ now: Int64) -> Batch {
    batchNumber += 1
    return Batch(number: batchNumber, now: now, requests: 0, loops: loops)
  }

  /// Reads the rooms of batches that are not in memory.
  /// - Returns: their indices: they are in the state after all of the batches.
  private mutating func loadRooms(
    of followed: [SequencedBatch], _ store: inout some EntryLookup
  ) throws(StoreFailure) -> Set<Int> {
    var loaded: Set<Int> = []
    for followed in followed {
      for name in followed.roomNames {
        let known = indices[name]
        if let known, !rooms[known].isStale { continue }
        loaded.insert(try room(name, &store))
      }
    }
    return loaded
  }

  private mutating func applyBatch(
    _ followed: SequencedBatch, _ loaded: Set<Int>, _ batch: inout Batch
  ) {
    let changes = followed.changes
    if !changes.newRooms.isEmpty { nextRoomNumber = nil }
    for (number, name) in changes.newRooms {
      if let room = indices[name], !loaded.contains(room) { becomeStored(room, number) }
    }
    for new in changes.entries {
      guard let room = indices[new.entry.room] else { continue }
      if !loaded.contains(room) { applyEntry(new, to: room) }
      batch.appendFollowed(new, room: room)
      if let member = new.entry.member {
        recordDeparture(member, by: new.entry.from, at: new.entry.seq, in: room, &batch)
      } else if new.entry.settings?.access == .private,
        !isPrivate(room) || loaded.contains(room) || changes.cleared.contains(new.room)
      {
        // Of a room in the state after the batch it is not known what it was before. Who may read it stays.
        batch.recordClosing(of: room, by: new.entry.from, at: new.entry.seq)
      }
    }
    /// Returns the index of a room whose state in memory is that before the batch.
    func index(of number: Int64) -> Int? {
      followed.rooms[number].flatMap { indices[$0] }.flatMap { loaded.contains($0) ? nil : $0 }
    }
    for (number, user) in changes.formerMembers {
      if let room = index(of: number) { rooms[room].members[user] = nil }
    }
    for (number, user, marks, _) in changes.members {
      guard let room = index(of: number) else { continue }
      rooms[room].members[user] = marks
      rooms[room].hasDerivedMarks =
        rooms[room].members[rooms[room].last.sender]?.received == rooms[room].head
    }
    for (number, rules) in changes.rules {
      guard let room = index(of: number) else { continue }
      rooms[room].isGoverned = true
      governed[number, default: Governance(rules: rules)].rules = rules
    }
    for number in changes.cleared where index(of: number) != nil {
      governed[number]?.clearStandings()
    }
    // An invitation counts among the rooms of one user or the other.
    if !changes.standings.isEmpty { membershipCounts = [:] }
    for (number, user, standing) in changes.standings where index(of: number) != nil {
      governed[number]?.standings[user] = standing
    }
    for (number, state) in changes.directs {
      if let room = index(of: number) { rooms[room].direct = state }
    }
    for change in changes.blocks {
      blocks.apply(change)
      if let room = indices[RoomName.direct(change.user, change.blocked)] {
        batch.audienceRooms.insert(room)
      }
    }
    batch.blocks += changes.blocks
    batch.requests += followed.requests
    batch.bans += changes.bans
    for (number, first) in changes.trims {
      if let room = index(of: number) { rooms[room].first = max(rooms[room].first, first) }
      if let room = followed.rooms[number].flatMap({ indices[$0] }) { batch.trimmed.append(room) }
    }
    for redaction in followed.redactions {
      guard let room = indices[redaction.room] else { continue }
      batch.redactions.append(
        Batch.Redaction(room: room, seq: redaction.through, through: redaction.through, body: []))
    }
    for (name, user) in followed.marked {
      if let room = indices[name] { batch.marked.insert(MemberKey(room: room, user: user)) }
    }
    for (name, user, belongs) in followed.memberships {
      membershipCounts[user] = nil
      if !belongs { _ = retries.take(.init(room: name, user: user)) }
      batch.membershipChanges.append(
        Commit.MembershipChange(room: name, user: user, belongs: belongs))
    }
    batch.typing += followed.typing
  }

  private mutating func applyPresences(_ changes: [PresenceBook.Shift], _ batch: inout Batch) {
    for (user, from, to) in changes { shiftPresence(of: user, from: from, to: to, &batch) }
  }

  /// Applies an entry to a room in memory, as `append` does for an entry of this sequencer.
  private mutating func applyEntry(_ new: StoreChanges.NewEntry, to room: Int) {
    let entry = new.entry
    guard entry.seq == rooms[room].head + 1 else {
      // Memory and store differ, which is a mistake of ours: the store is right.
      assertionFailure("entry \(entry.seq) of \(entry.room) follows \(rooms[room].head)")
      rooms[room].isStale = true
      return
    }
    rooms[room].head = entry.seq
    rooms[room].lastAt = entry.at
    if rooms[room].last.sender != entry.from { rooms[room].hasDerivedMarks = false }
    rooms[room].last.record(entry.from, seq: entry.seq, isContent: entry.kind.isContent)
    if let change = new.change { rooms[room].changes = change.number }
    rooms[room].recordSend(by: entry.from)
    if rooms[room].isGoverned, entry.kind.isEditable {
      recordText(of: entry.from, at: entry.at, inRoom: new.room)
    }
  }

  /// Another sequencer has stored a room that this one has in memory only. Its members here are stored
  /// with the next batch.
  private mutating func becomeStored(_ room: Int, _ number: Int64) {
    guard rooms[room].number == nil else { return }
    rooms[room].number = number
    for user in rooms[room].members.keys.sorted() {
      recordStored(rooms[room].name, user)
      membershipCounts[user] = nil
      retries.keep(.init(belongs: true), for: .init(room: rooms[room].name, user: user))
    }
    rooms[room].members = [:]
  }
}
