public import Relay
public import Wire

/// The work of a thread of the relay for one batch or one request, as counts that are the same on
/// every machine, and the simulated time that follows from them.
///
/// It counts expensive operations: entries that the store looks up or reads, names that it lists,
/// entries that are appended, and bytes that are encoded. Without these counts a simulated relay
/// would do everything in no time, and no client would ever wait.
public struct Work {
  public init() {}

  /// Entries and rooms that were looked up individually.
  public var lookups = 0
  /// Edits, deletions and reactions that were read to fold entries.
  public var changes = 0
  /// Entries that were read sequentially, and names that were listed.
  public var rows = 0
  /// Runs of entries of one sender that were looked up to count unread entries.
  public var runs = 0
  public var appended = 0
  public var bytes = 0

  public static func += (left: inout Work, right: Work) {
    left.lookups += right.lookups
    left.changes += right.changes
    left.rows += right.rows
    left.runs += right.runs
    left.appended += right.appended
    left.bytes += right.bytes
  }

  /// The time for these counts on the machine on which the product was measured, with SQLite: 20 µs
  /// per index lookup, 5 µs per committed entry, 2 µs per sequentially read row.
  public var microseconds: Int {
    20 * (lookups + runs + changes) + 5 * appended + 2 * rows + bytes / 1000
  }

  /// The factor by which the simulated machine is slower: a run has hundreds of entries where a
  /// real attack has tens of thousands.
  public static let slowdown = 20

  public var milliseconds: Int64 { Int64(microseconds * Self.slowdown / 1000) }
}

/// The bounds for the impact of other clients on an honest one, and for the cost of one request.
public enum Bound {
  /// The longest time in which the relay may read bytes that have arrived from an honest client,
  /// answer its sends and joins, or read storage for it: 50 ms, which no user notices, on a machine
  /// that is `Work.slowdown` times slower. Only the relay's own time counts, from when it has
  /// received the bytes; waits during which the run itself has stalled a thread do not count.
  public static let waitMilliseconds: Int64 = 50 * Int64(Work.slowdown)
  /// The maximum number of lookups of the log's thread for a request: its room, id and target, one
  /// edit of a forwarded text, a slice of the edits of a deleted text, or the epochs of a room.
  public static let lookupsPerRequest = 48
  /// The maximum number of runs that are looked up to count unread entries, for all marks of a batch
  /// or for a slice of rooms. Each comes with at most one further lookup.
  public static let runsPerCount =
    Sequencer.unreadRunsLimit + 2 * Int(Sequencer.unreadLimit) + 3
  /// The maximum number of rooms of a page of `rooms`, each with its unread count.
  public static let roomsPerPage = 256
  /// The maximum number of changes read to fold an entry: its last edit, its deletion and its
  /// reactions.
  public static let changesPerFoldedEntry = 64
  /// The maximum number of rows read for a folded page, per requested entry: changes of other
  /// entries are skipped.
  public static let rowsPerFoldedEntry = 16
  public static let rowsPerFoldedPage = 256
  /// The maximum number of edits of deleted texts that one transaction overwrites.
  public static let redactedEditsPerCommit = 128
  /// The size at which a reply ends, after at least one item.
  public static let replyBytes = 131_072
  /// The size of a reply's envelope, and of the part of the last item that no limit covers.
  public static let replySlackBytes = 4096
}

/// Counts the operations of a store. Each thread has its own.
public final class WorkMeter {
  private var work = Work()

  public init() {}

  /// Returns the work since the last call.
  public func take() -> Work {
    defer { work = Work() }
    return work
  }

  public func lookUp(_ count: Int = 1) { work.lookups += count }
  public func lookUpRun() { work.runs += 1 }
  public func read(rows: Int) { work.rows += rows }
  public func read(changes: Int) { work.changes += changes }
  public func append(_ count: Int) { work.appended += count }
}

/// A store that counts its operations.
public struct CountingStore<Base: EntryStore>: EntryStore {
  public var base: Base
  public let meter: WorkMeter
  /// Whether the disk is full: commits then fail.
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
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    meter.lookUp()
    return try base.find(identity, room: room, named: name, sender: sender, id: id)
  }

  public mutating func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    meter.lookUp()
    return try base.lastEntry(ofRoom: room, throughEpoch: number)
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

  public mutating func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    meter.lookUpRun()
    return try base.contentRun(endingAt: seq, inRoom: number)
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

/// A reader that counts its operations.
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

  public mutating func lastSeq(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64? {
    meter.lookUp()
    return try base.lastSeq(ofRoom: room, in: seqs, throughEpoch: number)
  }

  public mutating func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(StoreFailure) -> Int64 {
    // A lookup in an index that is repeated many times for one page.
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
