import Wire

/// Nodes that share a store: each applies the batches that the others have committed, in the order of
/// commits, and so has the same picture of the rooms as if it had sequenced them.
extension Sequencer {
  /// A batch that another node has committed.
  public struct Followed: Sendable {
    /// The number of the node.
    public var node: Int64
    public var changes: StoreChanges

    public init(node: Int64, changes: StoreChanges) {
      self.node = node
      self.changes = changes
    }
  }

  /// Announces the presence of this node's users in the next batch, and asks for that of the others.
  public mutating func introduce() { nodes.introduce() }

  /// Announces the presence of this node's users in the next batch: the other nodes may have taken
  /// this one for dead.
  public mutating func tellAllPresences() { nodes.tellAll() }

  /// Continues with a store that may have lost batches, or has others that this node has not applied:
  /// what is in memory of it is read again. To be called between batches.
  /// - Returns: what is to be published; `nil` if there is nothing.
  public mutating func startAgain(
    _ lineage: Lineage, store: inout some EntryStore, now: Int64, framing: Framing
  ) -> Commit? {
    self.lineage = lineage
    for room in rooms.indices {
      if rooms[room].number != nil { rooms[room].members = [:] }
      rooms[room].becomeUnstored()
      rooms[room].epochs = nil
      rooms[room].isStale = true
    }
    membershipCounts = [:]
    nextRoomNumber = nil
    history = CommitHistory()
    batchNumber += 1
    var batch = Batch(number: batchNumber, now: now, requests: 0, loops: loops)
    recordPresences(nodes.startAgain(), &batch)
    return commit(of: batch, &store, framing)
  }

  /// Whether the other nodes have to be told presences, with a batch that may be empty otherwise.
  public var hasPresencesToTell: Bool { nodes.hasNews }

  /// Returns the identities that a batch looks up in the store, as far as their rooms are in memory.
  public func identities(
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
  public func unknownRooms(
    of followed: [Followed], _ submissions: [(loop: Int, requests: [LogRequest])]
  ) -> [String] {
    var names: Set<String> = []
    for changes in followed.lazy.map(\.changes) { names.formUnion(Self.rooms(of: changes)) }
    for request in submissions.lazy.flatMap(\.requests) {
      switch request {
      case .append(let append): names.insert(append.room)
      case .subscribe(let subscribe): names.insert(subscribe.room)
      case .mark(let room, _, _), .forget(let room, _, _), .typing(let room, _, _, _):
        names.insert(room)
      case .unsubscribe, .presence, .spent, .memberships, .trace: break
      }
    }
    return names.filter { name in indices[name].map { rooms[$0].isStale } ?? true }.sorted()
  }

  private static func rooms(of changes: StoreChanges) -> Set<String> {
    Set(changes.entries.lazy.map(\.entry.room)).union((changes.news?.rooms ?? [:]).values)
  }

  /// Applies batches of other nodes.
  /// - Parameters:
  ///   - followed: all batches since the last call, in the order of their commits, but for this
  ///     node's own. The store is in the state after the last of them.
  ///   - gone: nodes that have ended, so that their users are no longer present. A node that comes back
  ///     introduces itself with a later batch.
  /// - Returns: what is to be published; `nil` if there is nothing.
  /// - Throws: if a room cannot be read. Nothing is applied then, and the call can be repeated.
  public mutating func follow(
    _ followed: [Followed], gone: [Int64] = [], store: inout some EntryStore, now: Int64,
    framing: Framing
  ) throws(StoreFailure) -> Commit? {
    let loaded = try loadRooms(of: followed, &store)
    batchNumber += 1
    var batch = Batch(number: batchNumber, now: now, requests: 0, loops: loops)
    for followed in followed { apply(followed, loaded, &batch) }
    for node in gone { recordPresences(nodes.forget(node), &batch) }
    return commit(of: batch, &store, framing)
  }

  /// Reads the rooms of batches that are not in memory.
  /// - Returns: their indices: they are in the state after all of the batches.
  private mutating func loadRooms(
    of followed: [Followed], _ store: inout some EntryStore
  ) throws(StoreFailure) -> Set<Int> {
    var loaded: Set<Int> = []
    for changes in followed.lazy.map(\.changes) {
      for name in Self.rooms(of: changes) {
        let known = indices[name]
        if let known, !rooms[known].isStale { continue }
        loaded.insert(try room(name, &store))
      }
    }
    return loaded
  }

  private mutating func apply(_ followed: Followed, _ loaded: Set<Int>, _ batch: inout Batch) {
    let changes = followed.changes
    let news = changes.news ?? StoreChanges.News()
    if !changes.newRooms.isEmpty { nextRoomNumber = nil }
    for (number, name) in changes.newRooms {
      if let room = indices[name], !loaded.contains(room) { becomeStored(room, number) }
    }
    for new in changes.entries {
      guard let room = indices[new.entry.room] else { continue }
      if !loaded.contains(room) { apply(new, to: room) }
      batch.appendFollowed(new, room: room)
    }
    func index(of number: Int64) -> Int? { news.rooms[number].flatMap { indices[$0] } }
    for (number, user) in changes.formerMembers {
      guard let room = index(of: number) else { continue }
      if !loaded.contains(room) { rooms[room].members[user] = nil }
    }
    for (number, user, marks, _) in changes.members {
      guard let room = index(of: number), !loaded.contains(room) else { continue }
      rooms[room].members[user] = marks
      rooms[room].hasDerivedMarks =
        rooms[room].members[rooms[room].last.sender]?.received == rooms[room].head
    }
    for (number, first) in changes.trims {
      guard let room = index(of: number), !loaded.contains(room) else { continue }
      rooms[room].first = max(rooms[room].first, first)
    }
    for redaction in news.redactions {
      guard let room = indices[redaction.room] else { continue }
      batch.redactions.append(
        Batch.Redaction(room: room, seq: redaction.through, through: redaction.through, body: []))
    }
    for (name, user) in news.marked {
      if let room = indices[name] { batch.marked.insert(MemberKey(room: room, user: user)) }
    }
    for (name, user, belongs) in news.memberships {
      membershipCounts[user] = nil
      batch.membershipChanges.append(
        Commit.MembershipChange(room: name, user: user, belongs: belongs))
    }
    batch.typing += news.typing
    if !news.spending.isEmpty {
      batch.spendingElsewhere.append(
        NodeSpending(node: followed.node, spending: news.spending))
    }
    recordPresences(nodes.apply(news, of: followed.node), &batch)
  }

  /// Records changes of presence on another node.
  private mutating func recordPresences(
    _ changes: [(user: String, from: Presence, to: Presence)], _ batch: inout Batch
  ) {
    for (user, from, to) in changes {
      let before = presences.shift(user, from: from, to: to)
      if batch.presences[user] == nil { batch.presences[user] = before }
    }
  }

  /// Applies an entry to a room in memory, as `handle` does for an entry of this node.
  private mutating func apply(_ new: StoreChanges.NewEntry, to room: Int) {
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
  }

  /// Another node has stored a room that this one has in memory only. Its members here are stored
  /// with the next batch.
  private mutating func becomeStored(_ room: Int, _ number: Int64) {
    guard rooms[room].number == nil else { return }
    rooms[room].number = number
    for user in rooms[room].members.keys.sorted() {
      recordStored(rooms[room].name, user)
      membershipCounts[user] = nil
      keep(MemberRetry(belongs: true), for: MemberKey(room: room, user: user))
    }
    rooms[room].members = [:]
  }

  /// Returns what the other nodes have to know of a batch besides its changes to the store.
  func news(of batch: Batch) -> StoreChanges.News {
    var news = StoreChanges.News()
    func name(_ room: Int) {
      if let number = rooms[room].number { news.rooms[number] = rooms[room].name }
    }
    for key in batch.dirtyMembers { name(key.room) }
    for key in batch.formerMembers { name(key.room) }
    for room in batch.trimmed { name(room) }
    for key in batch.marked where rooms[key.room].number != nil {
      news.marked.append((rooms[key.room].name, key.user))
    }
    for change in batch.membershipChanges {
      guard let room = indices[change.room], rooms[room].number != nil else { continue }
      news.memberships.append((change.room, change.user, change.belongs))
    }
    news.redactions = Self.redactions(batch, rooms)
    news.typing = batch.typing
    news.spending = batch.spending
    nodes.add(to: &news)
    return news
  }
}
