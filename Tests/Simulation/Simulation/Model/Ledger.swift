internal import Relay
internal import Wire

/// The expected content of the log: every entry that was published, or found after a start.
///
/// A value type, so that a backup's ledger is a copy.
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
    /// The index of the epoch in `lineage`, for every `seq` from 1 on, kept or not.
    var epochs: [Int] = []
    var head: Int64 = 0
    var lastAt: Int64 = 0
    /// The original content of those `entries` whose text was deleted.
    var deleted: [Int64: Deleted] = [:]
    /// Entries that were published without their text: the entry that deletes them must follow.
    var bare: Set<Int64> = []
    var rights = Rights()
    /// The entries that a direct room's other user is not shown, kept or not.
    var hidden: [Int64: Blocks.Hidden] = [:]
  }
  struct Deleted {
    var entry: Entry
    /// In milliseconds of the monotonic clock.
    var at: Int64
  }

  private(set) var rooms: [String: Room] = [:]
  /// The heads of the rooms before the current commit.
  private(set) var headsBefore: [String: Int64] = [:]
  /// The epochs of this history that were announced to clients.
  private(set) var lineage: [String] = []
  /// Epochs that the log has lost, and their indices in `lineage`.
  private var lostEpochs: [String: Int] = [:]
  /// The `seq` of every kept entry.
  private(set) var seqs: [Identity: Int64] = [:]
  var blocks = Blocks()
  /// The highest own marks that a user was told, or that follow from these.
  private var marks: [String: MemberMarks] = [:]
  /// The highest `seq` up to which a user has asked to mark entries as read.
  private var readsAsked: [String: Int64] = [:]

  func room(_ name: String) -> Room { rooms[name] ?? Room() }

  var heads: [String: Int64] { rooms.mapValues(\.head) }

  mutating func beginCommit() { headsBefore = heads }

  func entry(_ room: String, _ seq: Int64) -> Entry? { rooms[room]?.entries[seq] }

  mutating func begin(epoch: String) { lineage.append(epoch) }

  /// Returns an entry as it was before its text was deleted, if it was deleted at `time` or later.
  func deleted(_ room: String, _ seq: Int64, notBefore time: Int64) -> Entry? {
    guard let deleted = rooms[room]?.deleted[seq], deleted.at >= time else { return nil }
    return deleted.entry
  }

  /// Returns whether the entry is a text that may be changed.
  func isText(_ room: String, _ seq: Int64) -> Bool {
    guard let entry = entry(room, seq) else { return false }
    return entry.kind == .text && !entry.isDeleted
  }

  /// Returns whether an entry of this kind may refer to the entry.
  func mayChange(_ room: String, _ seq: Int64, by kind: EntryKind) -> Bool {
    guard let entry = entry(room, seq), !entry.isDeleted else { return false }
    return entry.kind.isEditable || entry.kind == .data && kind == .delete
  }

  /// Returns whether the content of an entry was removed.
  func isRedacted(_ room: String, _ seq: Int64) -> Bool {
    guard let entry = entry(room, seq) else { return false }
    return entry.isDeleted || entry.kind == .edit && entry.text == ""
  }

  /// Returns whether a send has the content that an entry had before its deletion; `nil` if that is
  /// unknown.
  func hasContent(of send: ClientMessage.Send, _ seq: Int64) -> Bool? {
    let deleted = rooms[send.room]?.deleted[seq]?.entry
    if deleted == nil, isRedacted(send.room, seq) { return nil }
    guard let entry = deleted ?? entry(send.room, seq) else { return nil }
    if case .forward(let source)? = send.reference {
      return entry.forward?.room == source.room && entry.forward?.seq == source.seq
    }
    return entry.kind == send.kind && entry.sentBody == send.body
  }

  /// Returns every version of a text that a user may be shown: its original and all its edits.
  func versions(of seq: Int64, in room: String, shownTo user: String) -> Set<String> {
    var versions: Set<String> = []
    for entry in (rooms[room]?.entries ?? [:]).values
    where entry.seq == seq || entry.kind == .edit && entry.target == seq {
      if hides(entry.seq, in: room, from: user) == true { continue }
      versions.insert((rooms[room]?.deleted[entry.seq]?.entry ?? entry).text ?? "")
    }
    return versions
  }

  /// Entries without a text that no entry deletes.
  var bare: [String] {
    rooms.flatMap { name, room in room.bare.map { "\(name) \($0)" } }.sorted()
  }

  /// Returns whether an entry is hidden from a user; `nil` if that is unknown.
  func hides(_ seq: Int64, in room: String, from user: String) -> Bool? {
    guard let hidden = rooms[room]?.hidden[seq], hidden.from == user else { return false }
    return hidden.isCertain ? true : nil
  }

  /// Records whether an entry of a direct room is hidden from the other user; `nil` = that is unknown.
  mutating func record(_ entry: Entry, isHidden: Bool?) {
    guard isHidden != false, let peer = RoomName.peer(in: entry.room, of: entry.from) else {
      rooms[entry.room]?.hidden[entry.seq] = nil
      return
    }
    rooms[entry.room, default: Room()].hidden[entry.seq] = Blocks.Hidden(
      from: peer, isCertain: isHidden != nil)
  }

  /// Appends the next entry of its room.
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
    let fault = rooms[name]?.rights.append(entry, headBefore: headsBefore[name] ?? 0)
    if let about = entry.target ?? entry.replyTo, self.entry(name, about) != nil,
      hides(about, in: name, from: entry.from) == true
    {
      return "\(place) refers to \(about), which is hidden from \(entry.from)"
    }
    if fault != nil || entry.kind.isContent || entry.kind.isNotice { return fault }
    return change(by: entry, now)
  }

  /// Applies an edit, a deletion or a reaction to the earlier entry that it names.
  private mutating func change(by entry: Entry, _ now: Int64) -> String? {
    let name = entry.room
    guard let target = entry.target, target < entry.seq else {
      return "\(name) \(entry.seq) has a target that does not exist"
    }
    // A target that is no longer kept existed when the entry was made.
    guard let about = self.entry(name, target) else {
      return target >= room(name).first
        ? "\(name) \(entry.seq) has a target that does not exist" : nil
    }
    let isBare = rooms[name]?.bare.contains(target) == true
    let isFit = about.kind.isEditable || about.kind == .data && entry.kind == .delete
    if !isFit || about.isDeleted && !isBare {
      return "\(name) \(entry.seq) has the target \(target), which is not a text"
    }
    if !room(name).rights.mayRead(target, by: entry.from, since: entry.seq, entry.at) {
      return "\(name) \(entry.seq) changes \(target), which \(entry.from) may not read"
    }
    if entry.kind != .react, about.from != entry.from,
      entry.kind != .delete
        || room(name).rights.refusesDeletion(of: about.from, by: entry.from, at: entry.at)
    {
      return "\(name) \(entry.seq) changes \(target), which belongs to \(about.from)"
    }
    if entry.kind == .delete {
      delete(target, of: name, by: about.from == entry.from ? nil : entry.from, now)
    }
    return nil
  }

  /// Removes the text of an entry and of its edits.
  /// - Parameter moderator: who does it, unless that is its sender.
  mutating func delete(
    _ target: Int64, of name: String, by moderator: String?, _ now: Int64
  ) {
    guard let room = rooms[name] else { return }
    for entry in room.entries.values
    where entry.seq == target || entry.kind == .edit && entry.target == target {
      rooms[name]?.bare.remove(entry.seq)
      if entry.isDeleted || entry.text == "" { continue }
      rooms[name]?.deleted[entry.seq] = Deleted(entry: entry, at: now)
      rooms[name]?.entries[entry.seq]?.body =
        entry.kind == .edit ? Entry.deletedEditBody(of: target) : entry.deletedBody(by: moderator)
    }
  }

  /// Restores content whose deletion is itself lost.
  private mutating func restore(_ target: Int64, of name: String) {
    for (seq, deleted) in rooms[name]?.deleted ?? [:]
    where seq == target || deleted.entry.target == target {
      rooms[name]?.entries[seq] = deleted.entry
      rooms[name]?.deleted[seq] = nil
    }
  }

  /// Drops entries before `first`, which are no longer kept.
  /// - Returns: whether any were.
  mutating func trim(_ name: String, to first: Int64) -> Bool {
    guard let room = rooms[name], first > room.first else { return false }
    drop(room.first..<min(first, room.head + 1), of: name)
    rooms[name]?.first = first
    return true
  }

  /// Skips entries up to `seq`, which were made and deleted before any client received them.
  mutating func skip(_ name: String, to seq: Int64) {
    guard let room = rooms[name] ?? (seq > 0 ? Room() : nil), seq > room.head else { return }
    drop(room.first..<(room.head + 1), of: name)
    rooms[name, default: Room()].rights.forgetAll()
    rooms[name, default: Room()].epochs += Array(
      repeating: lineage.count - 1, count: Int(seq - room.head))
    rooms[name]?.head = seq
    rooms[name]?.first = seq + 1
  }

  /// Drops entries after `head`: for a log whose durability does not cover a loss of power.
  mutating func cutBack(_ name: String, to head: Int64) {
    guard let room = rooms[name], room.head > head else { return }
    for entry in room.entries.values where entry.seq > head && entry.kind == .delete {
      if let target = entry.target { restore(target, of: name) }
    }
    drop((head + 1)..<(room.head + 1), of: name)
    rooms[name]?.epochs.removeLast(Int(room.head - head))
    rooms[name]?.head = head
    rooms[name]?.rights.cutBack(to: head)
    rooms[name]?.hidden = room.hidden.filter { $0.key <= head }
    rooms[name]?.lastAt = room.entries[head]?.at ?? 0
  }

  /// Undoes a trim of a room, for the same kind of log as `cutBack`.
  mutating func forgetTrim(_ name: String, _ stored: StoredLog) {
    rooms[name]?.first = stored.first
    for entry in stored.entries where rooms[name]?.entries[entry.seq] == nil {
      guard entry.seq <= rooms[name]?.head ?? 0 else { break }
      rooms[name]?.entries[entry.seq] = entry
      seqs[Identity(entry)] = entry.seq
    }
  }

  /// Records that the log has lost this epoch's record and no longer knows the epoch.
  mutating func forget(epoch: String) {
    guard let place = lineage.lastIndex(of: epoch) else { return }
    lineage[place] = ""
    lostEpochs[epoch] = place
  }

  /// Records that the log has an epoch's record again: a part of it was written before the power
  /// failed, and later writes over it, also partial, completed it.
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

  mutating func record(_ told: MemberMarks, of user: String, in room: String) {
    let known = marks(of: user, in: room)
    marks["\(room) \(user)"] = MemberMarks(
      read: max(known.read, told.read), received: max(known.received, told.received))
  }

  /// Moves the marks of the sender of an acknowledged entry if all entries after them are its own.
  /// - Parameter known: the marks when it was sent, or earlier ones.
  mutating func recordSend(
    _ seq: Int64, of user: String, in room: String, _ known: MemberMarks
  ) {
    var moved = known
    if isAllOwn(after: known.read, through: seq, of: user, in: room, ifUnknown: false) {
      moved.read = seq
    }
    if isAllOwn(after: known.received, through: seq, of: user, in: room, ifUnknown: false) {
      moved.received = seq
    }
    if moved != known { record(moved, of: user, in: room) }
  }

  mutating func recordReadAsked(_ seq: Int64, of user: String, in room: String) {
    readsAsked["\(room) \(user)", default: 0] = max(
      seq, readsAsked["\(room) \(user)"] ?? 0)
  }

  /// Returns whether a read mark can be where a user is told that it is: the user was told so
  /// before, has asked for it, or has sent everything between that and the mark.
  func mayHaveRead(_ read: Int64, of user: String, in room: String) -> Bool {
    // A membership begins at the head, and begins anew if it was never stored: it certainly was
    // with an entry of the user's.
    guard let known = marks["\(room) \(user)"],
      self.room(room).entries.values.contains(where: { $0.from == user && $0.seq <= known.read })
    else { return true }
    let explained = max(known.read, readsAsked["\(room) \(user)"] ?? 0)
    return read <= explained
      || isAllOwn(after: explained, through: read, of: user, in: room, ifUnknown: true)
  }

  /// - Parameter ifUnknown: the answer if some of the entries are no longer kept.
  private func isAllOwn(
    after: Int64, through seq: Int64, of user: String, in name: String, ifUnknown: Bool
  ) -> Bool {
    let room = room(name)
    var next = seq
    while next > after {
      guard let entry = room.entries[next] else { return ifUnknown }
      if entry.from != user { return false }
      next -= 1
    }
    return true
  }

  func marks(of user: String, in room: String) -> MemberMarks {
    marks["\(room) \(user)"] ?? MemberMarks()
  }

  mutating func forgetMarks() { marks = [:] }

  // MARK: - Resume

  /// What a client tells of its entries.
  struct Position {
    var after: Int64?
    var epoch: String?
    var lineage: [EpochStart]?
  }

  struct Expectation: Equatable {
    var after: Int64
    var resume: ServerMessage.Resume
  }

  /// The newest epoch that a client and the log have in common.
  struct Common {
    /// Its index in `lineage`.
    var number: Int
    /// Where the client's next epoch begins.
    var end: Int64?
  }

  /// Returns `nil` if the log knows none of the client's epochs.
  func common(_ position: Position, current: String) -> Common? {
    var named = position.epoch.map { [EpochStart(epoch: $0, after: 0)] } ?? []
    if let lineage = position.lineage, !lineage.isEmpty { named = lineage }
    if named.isEmpty { named = [EpochStart(epoch: current, after: 0)] }
    for (index, start) in named.enumerated() where !start.epoch.isEmpty {
      // An answer may arrive after the log has lost the epoch that it is of.
      let lost = start.epoch == current ? lostEpochs[current] : nil
      guard let number = lineage.lastIndex(of: start.epoch) ?? lost else { continue }
      return Common(number: number, end: index == 0 ? nil : named[index - 1].after)
    }
    return nil
  }

  /// Returns the valid answers to a client at a position, if the room ranges from `first` to `head`
  /// and the log is in its epoch `current`.
  func expectations(
    _ name: String, _ position: Position, current: String, first: Int64, head: Int64
  ) -> [Expectation] {
    guard let after = position.after else {
      // Entries after the join in its batch may be trimmed already.
      let isTrimmed = head > 0 && head == first - 1
      return [Expectation(after: head, resume: .ok)]
        + (isTrimmed ? [Expectation(after: head, resume: .truncated)] : [])
    }
    let reset = Expectation(after: first - 1, resume: .reset)
    guard let common = common(position, current: current) else { return [reset] }
    var last = head
    if lineage[common.number] != current {
      let epochs = room(name).epochs
      last = min(head, Int64(epochs.count))
      while last > 0, epochs[Int(last) - 1] > common.number { last -= 1 }
    }
    let limit = min(last, common.end ?? .max)
    let agrees =
      after < first - 1
      ? Expectation(after: first - 1, resume: .truncated) : Expectation(after: after, resume: .ok)
    let exact =
      if after <= limit {
        agrees
      } else {
        limit < first - 1 ? reset : Expectation(after: limit, resume: .diverged)
      }
    // If no entry of that epoch or earlier ones is kept, a log does not know its last `seq`. It
    // then believes a client whose entries would not be kept either.
    guard last < first, first > 1 else { return [exact] }
    return [exact, after <= min(first - 1, common.end ?? .max) ? agrees : reset]
  }

  /// Returns the epochs of a room's entries from `first` to `head`, and the current one.
  func lineage(
    of name: String, current: String, first: Int64, head: Int64
  ) -> [EpochStart] {
    let epochs = room(name).epochs
    var starts = [EpochStart(epoch: current, after: head)]
    for seq in stride(from: min(head, Int64(epochs.count)), through: first, by: -1) {
      let epoch = lineage[epochs[Int(seq) - 1]]
      if starts[starts.count - 1].epoch != epoch {
        starts.append(EpochStart(epoch: epoch, after: seq))
      }
      starts[starts.count - 1].after = seq - 1
    }
    return Array(starts.prefix(EpochStart.limit))
  }
}
