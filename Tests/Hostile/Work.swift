public import Relay
public import Wire

/// What a thread of the relay did for one batch or one request, in counts that are the same on every
/// machine, and the simulated time that follows from them.
///
/// Counted is what costs: entries that the store looks up or reads, names that it lists, entries that
/// are appended, and bytes that are encoded. Without it a simulated relay would do anything in no
/// time, and nobody could be kept waiting.
public struct Work {
  public init() {}

  /// Entries and rooms that were found one at a time.
  public var lookups = 0
  /// Entries that are about others, read to fold them.
  public var changes = 0
  /// Entries that were read in a run, and names that were listed.
  public var rows = 0
  public var appended = 0
  public var bytes = 0

  public static func += (left: inout Work, right: Work) {
    left.lookups += right.lookups
    left.changes += right.changes
    left.rows += right.rows
    left.appended += right.appended
    left.bytes += right.bytes
  }

  /// What the counts cost on the machine that the product was measured on, with SQLite: 20 µs for what
  /// an index has to be asked for, 5 µs for an entry to be committed, 2 µs for one in a row.
  public var microseconds: Int {
    20 * (lookups + changes) + 5 * appended + 2 * rows + bytes / 1000
  }

  /// The simulated machine is so much slower than that one: a run has hundreds of entries where an
  /// attack on a relay has tens of thousands.
  public static let slowdown = 20

  public var milliseconds: Int64 { Int64(microseconds * Self.slowdown / 1000) }
}

/// What others may cost an honest client, and what one request may cost at all.
public enum Bound {
  /// How long the relay may take to read what has arrived from an honest client, to answer its sends
  /// and joins, and to read what it asks for: 50 ms, which nobody notices, on a machine that is
  /// `Work.slowdown` times as slow. Only the relay's own time counts, from when it has the bytes in
  /// hand; waits in which the run itself has stalled a thread do not.
  public static let waitMilliseconds: Int64 = 50 * Int64(Work.slowdown)
  /// What a request may have the log's thread look up: its room, id and target, one edit of a text
  /// that is passed on, or a slice of the edits of one that is deleted.
  public static let lookupsPerRequest = 48
  /// A page of `rooms`: so many names, and for each how much of it is unread.
  public static let roomsPerPage = 256
  /// What folding an entry may read: its last edit, its deletion and what reacts to it.
  public static let changesPerFoldedEntry = 64
  /// What a folded page may read on its way, for each entry that was asked for: it passes over what is
  /// about others.
  public static let rowsPerFoldedEntry = 16
  public static let rowsPerFoldedPage = 256
  /// How many edits of deleted texts one transaction may overwrite.
  public static let redactedEditsPerCommit = 128
  /// A reply is cut there, behind its first item.
  public static let replyBytes = 131_072
  /// The envelope of a reply, and the part of the last item that no limit foresees.
  public static let replySlackBytes = 4096
}

/// Notes what a store is asked for. One for each thread.
public final class WorkMeter {
  private var work = Work()

  public init() {}

  /// What was done since the last call.
  public func take() -> Work {
    defer { work = Work() }
    return work
  }

  public func lookUp(_ count: Int = 1) { work.lookups += count }
  public func read(rows: Int) { work.rows += rows }
  public func read(changes: Int) { work.changes += changes }
  public func append(_ count: Int) { work.appended += count }
}

/// A store that notes what it is asked for.
public struct CountingStore<Base: EntryStore>: EntryStore {
  public var base: Base
  public let meter: WorkMeter
  /// The disk is full: nothing is stored.
  public var isFull = false

  public init(_ base: Base, _ meter: WorkMeter) {
    self.base = base
    self.meter = meter
  }

  public mutating func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    meter.lookUp()
    return try base.loadRoom(name)
  }

  public mutating func nextRoomNumber() throws(StoreFailure) -> Int64 { try base.nextRoomNumber() }

  public mutating func find(
    _ identity: EntryIdentity, room: Int64, sender: String, id: String
  ) throws(StoreFailure) -> (seq: Int64, at: Int64)? {
    meter.lookUp()
    return try base.find(identity, room: room, sender: sender, id: id)
  }

  public mutating func lastSeq(room: Int64, throughEpoch number: Int64) throws(StoreFailure)
    -> Int64
  {
    meter.lookUp()
    return try base.lastSeq(room: room, throughEpoch: number)
  }

  public mutating func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    meter.lookUp()
    return try base.entry(seq, ofRoom: number, named: room)
  }

  public var identityKey: EntryIdentity.Key { base.identityKey }

  public mutating func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    meter.lookUp()
    return try base.lastEdit(of: target, inRoom: number, named: room)
  }

  public mutating func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    let count = try base.editCount(of: target, inRoom: number, upTo: limit)
    meter.lookUp()
    meter.read(rows: count)
    return count
  }

  public mutating func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    let emoji = try base.emoji(of: target, inRoom: number, by: user, upTo: limit)
    meter.lookUp()
    meter.read(rows: emoji.count)
    return emoji
  }

  public mutating func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    meter.lookUp()
    return try base.changes(inRoom: number, through: seq, total: total)
  }

  public mutating func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    let memberships = try base.memberships(of: user, after: number, limit: limit)
    meter.read(rows: memberships.count)
    return memberships
  }

  public mutating func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    meter.lookUp()
    return try base.membership(of: user, toRoom: name)
  }

  public mutating func membershipCount(of user: String) throws(StoreFailure) -> Int {
    meter.lookUp()
    return try base.membershipCount(of: user)
  }

  public mutating func commit(_ changes: StoreChanges) throws(StoreFailure) {
    if isFull { throw StoreFailure("the disk is full") }
    meter.append(changes.entries.count + changes.members.count + changes.redactions.count)
    try base.commit(changes)
  }
}

/// A reader that notes what it reads.
public struct CountingReader<Base: EntryReader>: EntryReader {
  public var base: Base
  public let meter: WorkMeter

  public init(_ base: Base, _ meter: WorkMeter) {
    self.base = base
    self.meter = meter
  }

  public mutating func bounds(
    of room: String
  ) throws(StoreFailure) -> (number: Int64, first: Int64, head: Int64)? {
    meter.lookUp()
    return try base.bounds(of: room)
  }

  public mutating func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>,
    _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    var count = 0
    defer { meter.read(rows: count) }
    try base.forEachEntry(ofRoom: number, named: room, in: seqs) {
      count += 1
      return body($0)
    }
  }

  public mutating func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(StoreFailure) -> Int64 {
    // A place in an index, which is asked for many times for one page.
    meter.read(rows: 1)
    return try base.changes(inRoom: number, through: seq)
  }

  public mutating func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64? {
    meter.read(rows: 1)
    return try base.firstTarget(inRoom: number, in: seqs)
  }

  public mutating func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    meter.read(changes: 1)
    return try base.lastEdit(of: target, inRoom: number, named: room)
  }

  public mutating func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)] {
    let reactions = try base.reactions(to: target, inRoom: number)
    meter.read(changes: reactions.count)
    return reactions
  }

  public mutating func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64, _ body: (String) -> Bool
  ) throws(StoreFailure) {
    var count = 0
    defer { meter.read(changes: count) }
    try base.forEachUser(giving: emoji, to: target, inRoom: number) {
      count += 1
      return body($0)
    }
  }

  public mutating func lastSeen(_ user: String) throws(StoreFailure) -> Int64? {
    meter.lookUp()
    return try base.lastSeen(user)
  }
}
