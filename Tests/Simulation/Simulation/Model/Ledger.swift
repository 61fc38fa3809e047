internal import Relay
internal import Wire

/// What must be true of the log: everything that was published or found after a start.
///
/// A value, so that a backup's is simply a copy.
struct Ledger {
  struct Identity: Hashable {
    var room: String
    var user: String
    var id: String

    init(_ entry: Entry) { self.init(room: entry.room, user: entry.from, id: entry.id) }

    init(room: String, user: String, id: String) {
      self.room = room
      self.user = user
      self.id = id
    }
  }
  struct Room {
    var first: Int64 = 1
    /// From `first` to `head`.
    var entries: [Int64: Entry] = [:]
    /// For every `seq` from 1 on, kept or not, the place of its epoch in `lineage`.
    var epochs: [Int] = []
    var head: Int64 = 0
    var lastAt: Int64 = 0
    /// Of `entries`, those whose text was deleted, as they were.
    var deleted: [Int64: Deleted] = [:]
    /// Entries that came without their text: the one that deletes them has to follow.
    var bare: Set<Int64> = []
  }
  struct Deleted {
    var entry: Entry
    /// In milliseconds of the monotonic clock.
    var at: Int64
  }

  private(set) var rooms: [String: Room] = [:]
  /// The epochs that clients were told of, of this history.
  private(set) var lineage: [String] = []
  /// Epochs that the log has lost, and their places in `lineage`.
  private var lostEpochs: [String: Int] = [:]
  /// Of what is kept.
  private(set) var seqs: [Identity: Int64] = [:]
  /// The most that a user was told of its own marks.
  private var marks: [String: MemberMarks] = [:]

  func room(_ name: String) -> Room { rooms[name] ?? Room() }

  func entry(_ room: String, _ seq: Int64) -> Entry? { rooms[room]?.entries[seq] }

  mutating func begin(epoch: String) { lineage.append(epoch) }

  /// How an entry was before its text was deleted, if that was so not before `time`.
  func deleted(_ room: String, _ seq: Int64, notBefore time: Int64) -> Entry? {
    guard let deleted = rooms[room]?.deleted[seq], deleted.at >= time else { return nil }
    return deleted.entry
  }

  /// Whether it is a text that may be changed.
  func isText(_ room: String, _ seq: Int64) -> Bool {
    guard let entry = entry(room, seq) else { return false }
    return entry.kind == .text && !entry.isDeleted
  }

  /// What a text or its edits have ever said.
  func versions(of seq: Int64, in room: String) -> Set<String> {
    var versions: Set<String> = []
    for entry in (rooms[room]?.entries ?? [:]).values
    where entry.seq == seq || entry.kind == .edit && entry.target == seq {
      versions.insert((rooms[room]?.deleted[entry.seq]?.entry ?? entry).text ?? "")
    }
    return versions
  }

  /// Entries without a text that nothing deletes.
  var bare: [String] {
    rooms.flatMap { name, room in room.bare.map { "\(name) \($0)" } }.sorted()
  }

  /// Adds an entry that comes next in its room.
  /// - Returns: which promise that breaks.
  mutating func append(_ entry: Entry, now: Int64) -> String? {
    let name = entry.room
    let (head, first, lastAt) = (
      rooms[name]?.head ?? 0, rooms[name]?.first ?? 1, rooms[name]?.lastAt
    )
    let place = "\(name) \(entry.seq)"
    guard entry.seq == head + 1 else { return "\(place) follows \(head)" }
    if entry.at < lastAt ?? 0 { return "the clock of \(place) goes back" }
    let identity = Identity(entry)
    if let earlier = seqs[identity], earlier >= first {
      return "\(place) has the id of \(earlier): \(entry.id) of \(entry.from)"
    }
    rooms[name, default: Room()].head = entry.seq
    rooms[name, default: Room()].lastAt = entry.at
    rooms[name, default: Room()].entries[entry.seq] = entry
    rooms[name, default: Room()].epochs.append(lineage.count - 1)
    seqs[identity] = entry.seq
    if entry.isDeleted || entry.kind == .edit && entry.text == "" {
      rooms[name]?.bare.insert(entry.seq)
    }
    if entry.kind.isContent { return nil }
    return change(by: entry, now)
  }

  /// Does what an entry says that is about an earlier one.
  private mutating func change(by entry: Entry, _ now: Int64) -> String? {
    let name = entry.room
    guard let target = entry.target, target < entry.seq else {
      return "\(name) \(entry.seq) is about nothing"
    }
    // What is no longer kept was there when the entry was made.
    guard let about = self.entry(name, target) else {
      return target >= room(name).first ? "\(name) \(entry.seq) is about nothing" : nil
    }
    let isBare = rooms[name]?.bare.contains(target) == true
    let isFit = about.kind == .text || about.kind == .data && entry.kind == .delete
    if !isFit || about.isDeleted && !isBare {
      return "\(name) \(entry.seq) is about \(target), which is no text"
    }
    if entry.kind != .react, about.from != entry.from {
      return "\(name) \(entry.seq) changes \(target), which is \(about.from)'s"
    }
    if entry.kind == .delete { delete(target, of: name, now) }
    return nil
  }

  /// Takes the text out of an entry and its edits.
  mutating func delete(_ target: Int64, of name: String, _ now: Int64) {
    guard let room = rooms[name] else { return }
    for entry in room.entries.values
    where entry.seq == target || entry.kind == .edit && entry.target == target {
      rooms[name]?.bare.remove(entry.seq)
      if entry.isDeleted || entry.text == "" { continue }
      rooms[name]?.deleted[entry.seq] = Deleted(entry: entry, at: now)
      rooms[name]?.entries[entry.seq]?.body =
        entry.kind == .edit ? Entry.deletedEditBody(of: target) : entry.deletedBody
    }
  }

  /// Brings back what only a deletion took that is lost itself.
  private mutating func restore(_ target: Int64, of name: String) {
    for (seq, deleted) in rooms[name]?.deleted ?? [:]
    where seq == target || deleted.entry.target == target {
      rooms[name]?.entries[seq] = deleted.entry
      rooms[name]?.deleted[seq] = nil
    }
  }

  /// Entries before `first` are no longer kept.
  /// - Returns: whether any were.
  mutating func trim(_ name: String, to first: Int64) -> Bool {
    guard let room = rooms[name], first > room.first else { return false }
    drop(room.first..<min(first, room.head + 1), of: name)
    rooms[name]?.first = first
    return true
  }

  /// Entries up to `seq` were made and deleted before anyone was told of them.
  mutating func skip(_ name: String, to seq: Int64) {
    guard let room = rooms[name] ?? (seq > 0 ? Room() : nil), seq > room.head else { return }
    drop(room.first..<(room.head + 1), of: name)
    rooms[name, default: Room()].epochs += Array(
      repeating: lineage.count - 1, count: Int(seq - room.head))
    rooms[name]?.head = seq
    rooms[name]?.first = seq + 1
  }

  /// Forgets entries after `head`: for a log that promises less than to survive a loss of power.
  mutating func cutBack(_ name: String, to head: Int64) {
    guard let room = rooms[name], room.head > head else { return }
    for entry in room.entries.values where entry.seq > head && entry.kind == .delete {
      if let target = entry.target { restore(target, of: name) }
    }
    drop((head + 1)..<(room.head + 1), of: name)
    rooms[name]?.epochs.removeLast(Int(room.head - head))
    rooms[name]?.head = head
    rooms[name]?.lastAt = room.entries[head]?.at ?? 0
  }

  /// A room was trimmed, and is not any more: as `cutBack`.
  mutating func forgetTrim(_ name: String, _ stored: StoredLog) {
    rooms[name]?.first = stored.first
    for entry in stored.entries where rooms[name]?.entries[entry.seq] == nil {
      guard entry.seq <= rooms[name]?.head ?? 0 else { break }
      rooms[name]?.entries[entry.seq] = entry
      seqs[Identity(entry)] = entry.seq
    }
  }

  /// The log has lost this epoch's line: it knows nothing of it any more.
  mutating func forget(epoch: String) {
    guard let place = lineage.lastIndex(of: epoch) else { return }
    lineage[place] = ""
    lostEpochs[epoch] = place
  }

  /// The log has an epoch's line that it had lost: what was written in part before the power went was
  /// completed by what was written later, over it and in part again.
  mutating func remember(epoch: String) {
    if let place = lostEpochs.removeValue(forKey: epoch) { lineage[place] = epoch }
  }

  private mutating func drop(_ range: Range<Int64>, of name: String) {
    for seq in range {
      guard let entry = rooms[name]?.entries.removeValue(forKey: seq) else { continue }
      rooms[name]?.deleted[seq] = nil
      rooms[name]?.bare.remove(seq)
      if seqs[Identity(entry)] == seq { seqs[Identity(entry)] = nil }
    }
  }

  // MARK: - Marks

  mutating func note(_ told: MemberMarks, of user: String, in room: String) {
    let known = marks(of: user, in: room)
    marks["\(room) \(user)"] = MemberMarks(
      read: max(known.read, told.read), received: max(known.received, told.received))
  }

  func marks(of user: String, in room: String) -> MemberMarks {
    marks["\(room) \(user)"] ?? MemberMarks()
  }

  mutating func forgetMarks() { marks = [:] }

  // MARK: - Resume

  struct Expectation: Equatable {
    var after: Int64
    var resume: ServerMessage.Resume
  }

  /// What `joined` may say to a client at `after` in `epoch`, if the room is from `first` to `head`
  /// and the log in its epoch `current`.
  func expectations(
    _ name: String, after: Int64?, epoch: String?, current: String, first: Int64, head: Int64
  ) -> [Expectation] {
    guard let after else {
      // All that came behind the join in its batch may be trimmed already.
      let isTrimmed = head > 0 && head == first - 1
      return [Expectation(after: head, resume: .ok)]
        + (isTrimmed ? [Expectation(after: head, resume: .truncated)] : [])
    }
    let reset = Expectation(after: first - 1, resume: .reset)
    var limit = head
    if let epoch, epoch != current {
      guard let number = lineage.lastIndex(of: epoch) else { return [reset] }
      let epochs = room(name).epochs
      limit = min(head, Int64(epochs.count))
      while limit > 0, epochs[Int(limit) - 1] > number { limit -= 1 }
    }
    let agrees =
      after < first - 1
      ? Expectation(after: first - 1, resume: .truncated) : Expectation(after: after, resume: .ok)
    let exact =
      if after <= limit {
        agrees
      } else {
        limit < first - 1 ? reset : Expectation(after: limit, resume: .diverged)
      }
    // Where nothing of that epoch or before is kept, a log cannot tell how far it went: then a client
    // whose entries would not be kept either is believed.
    return limit < first && first > 1 ? [exact, after < first ? agrees : reset] : [exact]
  }
}
