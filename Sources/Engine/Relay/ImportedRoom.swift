package import Moderation
internal import Wire

/// A room while the lines of an export are read: checks that they are what a log may hold, and derives
/// what a store keeps beside each entry.
package struct ImportedRoom {
  package let number: Int64
  package private(set) var head: Int64
  private var lastAt: Int64 = 0
  private var epoch: Int64 = 0
  /// How many of its entries change other entries.
  package private(set) var changes: Int64 = 0
  private var last = LastSenders()
  /// The last entry of each sender.
  private var senders: [String: Int64] = [:]
  /// The members; empty if the export has no marks.
  private var members: [String: MarksLine] = [:]

  /// As JSON members without braces; `nil` for a room without rules.
  private var settings: [UInt8]?
  package private(set) var standings: [String: Standing] = [:]
  package fileprivate(set) var direct = DirectState()

  /// - Parameter first: the `seq` of its first entry.
  package init(number: Int64, first: Int64) {
    self.number = number
    head = first - 1
  }

  /// Takes the next entry.
  /// - Parameter epoch: the number of the epoch of the line.
  package mutating func append(
    _ line: ExportLine, epoch: Int64, identityKey: EntryIdentity.Key
  ) throws(ExportLine.Malformed) -> StoreChanges.NewEntry {
    let entry = line.entry
    guard entry.seq == head + 1 else {
      throw ExportLine.Malformed(
        reason: "in room \(entry.room), seq \(entry.seq) does not follow seq \(head)")
    }
    guard entry.at >= lastAt else {
      throw ExportLine.Malformed(
        reason: "in room \(entry.room) the clock goes back from \(lastAt) to \(entry.at)")
    }
    guard epoch >= self.epoch else {
      throw ExportLine.Malformed(
        reason: "room \(entry.room) goes back to the epoch \(line.epoch)")
    }
    last.record(entry.from, seq: entry.seq, isContent: entry.kind.isContent)
    var change: StoreChanges.Change?
    if !entry.kind.isContent, let target = entry.kind.isNotice ? 0 : entry.target {
      changes += 1
      change = StoreChanges.Change(target: target, number: changes)
    }
    head = entry.seq
    lastAt = entry.at
    self.epoch = epoch
    senders[entry.from] = entry.seq
    return StoreChanges.NewEntry(
      room: number,
      identity: EntryIdentity(room: number, sender: entry.from, id: entry.id, key: identityKey),
      entry: entry, change: change, last: last)
  }

  /// Continues with a later entry: those before it are no longer kept.
  package mutating func trim(_ line: TrimLine) throws(ExportLine.Malformed) {
    guard line.first > head else {
      throw ExportLine.Malformed(
        reason: "in room \(line.room), the entries up to \(head) are not before seq \(line.first)")
    }
    head = line.first - 1
  }

  fileprivate mutating func record(_ marks: MarksLine) throws(ExportLine.Malformed) {
    guard max(marks.read, marks.received, marks.since) <= head else {
      throw ExportLine.Malformed(
        reason: "the marks of \(marks.user) exceed the last entry of \(marks.room), \(head)")
    }
    members[marks.user] = marks
  }

  fileprivate mutating func record(_ rules: RulesLine) { settings = rules.settings }

  fileprivate mutating func record(_ line: StandingLine) throws(ExportLine.Malformed) {
    guard settings != nil, line.standing.since <= head else {
      throw ExportLine.Malformed(
        reason:
          "room \(line.room) has no rules before the standing of \(line.user), or ends before it")
    }
    standings[line.user] = line.standing
  }

  /// The rules, with the numbers of the users that they name.
  package var rules: RoomRules? {
    settings.flatMap { RoomRules(settings: $0, RoomRules.Counts(standings.values)) }
  }

  /// The members as they are stored. Without marks, in the older format of exports, every sender is
  /// one, and so are both users of a direct room.
  package func members(named name: String) -> [MarksLine] {
    if !members.isEmpty { return Array(members.values) }
    var users = senders
    if let (a, b) = RoomName.peers(of: name) {
      users[a] = users[a] ?? 0
      users[b] = users[b] ?? 0
    }
    return users.map {
      MarksLine(room: name, user: $0, read: $1, received: $1, since: head)
    }
  }
}

/// The rooms of an import, by name.
extension [String: ImportedRoom] {
  package mutating func record(_ marks: MarksLine) throws(ExportLine.Malformed) {
    if RoomName.isReserved(marks.room) { return }
    try check(marks.room, "the marks")
    try self[marks.room]?.record(marks)
  }

  package mutating func record(_ rules: RulesLine) throws(ExportLine.Malformed) {
    try check(rules.room, "its rules")
    self[rules.room]?.record(rules)
  }

  package mutating func record(_ line: StandingLine) throws(ExportLine.Malformed) {
    try check(line.room, "its members")
    try self[line.room]?.record(line)
  }

  package mutating func record(_ line: DirectLine) throws(ExportLine.Malformed) {
    try check(line.room, "its state")
    // What began after the last exported entry begins with the next one.
    let head = self[line.room]?.head ?? 0
    self[line.room]?.direct = line.state.limited(to: head)
  }

  /// Throws unless the room has had an entry.
  private func check(_ room: String, _ what: String) throws(ExportLine.Malformed) {
    guard self[room] == nil else { return }
    throw ExportLine.Malformed(reason: "no entry of the room \(room) precedes \(what)")
  }
}
