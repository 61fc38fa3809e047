public import Moderation
public import Relay
public import Wire

/// A store, or a reader of one, that counts its operations, and that fails when it is told to.
public struct CountingStore<Base> {
  public var base: Base
  public let meter: WorkMeter
  /// Whether commits fail, as with a full disk.
  public var failsCommits = false
  public var failsReads = false
  /// The `mayHaveMore` of a commit's failure.
  public var mayHaveMore = false
  /// Whether the changes of each commit are kept in `commits`.
  public var keepsCommits = false
  public private(set) var commits: [StoreChanges] = []

  public init(_ base: Base, _ meter: WorkMeter) {
    self.base = base
    self.meter = meter
  }

  private func check() throws(StoreFailure) {
    if failsReads { throw StoreFailure("reading fails") }
  }
}

extension CountingStore: StandingLookup where Base: StandingLookup {
  public mutating func standing(
    of user: String, inRoom number: Int64
  ) throws(StoreFailure) -> Standing {
    try check()
    meter.lookUp(.standings)
    return try base.standing(of: user, inRoom: number)
  }
}

extension CountingStore: FileLookup where Base: FileLookup {
  public mutating func file(_ id: String) throws(StoreFailure) -> StoredFile? {
    try check()
    meter.lookUp()
    return try base.file(id)
  }

  public mutating func places(ofFile id: String) throws(StoreFailure) -> [FilePlace] {
    try check()
    meter.lookUp()
    return try base.places(ofFile: id)
  }

  public mutating func fileBytes(of user: String) throws(StoreFailure) -> Int64 {
    try check()
    meter.lookUp()
    return try base.fileBytes(of: user)
  }

  public mutating func unusedBytes(limit: Int) throws(StoreFailure) -> [String] {
    try check()
    return try base.unusedBytes(limit: limit)
  }

  public mutating func usedBytes(among hashes: [String]) throws(StoreFailure) -> [String] {
    try check()
    return try base.usedBytes(among: hashes)
  }

  public mutating func unsentFiles(
    before at: Int64, limit: Int
  ) throws(StoreFailure) -> [String] {
    try check()
    return try base.unsentFiles(before: at, limit: limit)
  }
}

extension CountingStore: EntryLookup, EntryStore where Base: EntryStore {
  public mutating func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    try check()
    meter.lookUp(.rooms)
    return try base.loadRoom(name)
  }

  public mutating func nextRoomNumber() throws(StoreFailure) -> Int64 {
    try check()
    return try base.nextRoomNumber()
  }

  public mutating func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    try check()
    meter.lookUp()
    return try base.find(identity, room: room, named: name, sender: sender, id: id)
  }

  public mutating func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    try check()
    meter.lookUp(.epochs)
    return try base.lastEntry(ofRoom: room, throughEpoch: number)
  }

  public mutating func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    try check()
    meter.lookUp(.entries)
    return try base.entry(seq, ofRoom: number, named: room)
  }

  public var identityKey: EntryIdentity.Key { base.identityKey }

  public mutating func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    try check()
    meter.lookUp(.entries)
    return try base.lastEdit(of: target, through: seq, inRoom: number, named: room)
  }

  public mutating func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    try check()
    let count = try base.editCount(of: target, inRoom: number, upTo: limit)
    meter.lookUp()
    meter.read(rows: count)
    return count
  }

  public mutating func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    try check()
    let emoji = try base.emoji(of: target, inRoom: number, by: user, upTo: limit)
    meter.lookUp()
    meter.read(rows: emoji.count)
    return emoji
  }

  public mutating func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    try check()
    meter.lookUp()
    return try base.changes(inRoom: number, through: seq, total: total)
  }

  public mutating func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    try check()
    meter.lookUpRun()
    return try base.contentRun(endingAt: seq, inRoom: number)
  }

  public mutating func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    try check()
    let memberships = try base.memberships(of: user, after: number, limit: limit)
    meter.read(rows: memberships.count, .rooms)
    return memberships
  }

  public mutating func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    try check()
    meter.lookUp(.rooms)
    return try base.membership(of: user, toRoom: name)
  }

  public mutating func membershipCount(of user: String) throws(StoreFailure) -> Int {
    try check()
    meter.lookUp(.membershipCount)
    return try base.membershipCount(of: user)
  }

  public mutating func blocks() throws(StoreFailure) -> BlockTable {
    try check()
    return try base.blocks()
  }

  public mutating func bans() throws(StoreFailure) -> [BanChange] {
    try check()
    return try base.bans()
  }

  public mutating func copies(
    ofRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> [Int64] {
    try check()
    meter.lookUp()
    return try base.copies(ofRoom: number, in: seqs)
  }

  /// Asked for once an hour, whatever is done.
  public mutating func copies(before at: Int64, limit: Int) throws(StoreFailure) -> [Int64] {
    try check()
    return try base.copies(before: at, limit: limit)
  }

  public mutating func members(
    ofRoom number: Int64, limit: Int
  ) throws(StoreFailure) -> [String] {
    try check()
    let members = try base.members(ofRoom: number, limit: limit)
    meter.read(rows: members.count)
    return members
  }

  public mutating func commit(_ changes: StoreChanges) throws(StoreFailure) {
    if failsCommits {
      var failure = StoreFailure("the disk is full")
      failure.mayHaveMore = mayHaveMore
      throw failure
    }
    meter.append(changes.entries.count + changes.members.count + changes.redactions.count)
    if keepsCommits { commits.append(changes) }
    try base.commit(changes)
  }
}

extension CountingStore: EntryReader where Base: EntryReader {
  public mutating func room(_ name: String) throws(StoreFailure) -> ReadableRoom? {
    try check()
    meter.lookUp()
    return try base.room(name)
  }

  public mutating func notice(
    inRoom number: Int64, in seqs: ClosedRange<Int64>, last: Bool
  ) throws(StoreFailure) -> Int64? {
    try check()
    meter.lookUp()
    return try base.notice(inRoom: number, in: seqs, last: last)
  }

  public mutating func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>,
    _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    try check()
    var count = 0
    defer { meter.read(rows: count, .entries) }
    try base.forEachEntry(ofRoom: number, named: room, in: seqs) {
      count += 1
      return body($0)
    }
  }

  public mutating func lastSeq(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64? {
    try check()
    meter.lookUp()
    return try base.lastSeq(ofRoom: room, in: seqs, throughEpoch: number)
  }

  public mutating func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(StoreFailure) -> Int64 {
    try check()
    // A lookup in an index that is repeated many times for one page.
    meter.read(rows: 1, .changeCounts)
    return try base.changes(inRoom: number, through: seq)
  }

  public mutating func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64? {
    try check()
    meter.read(rows: 1)
    return try base.firstTarget(inRoom: number, in: seqs)
  }

  public mutating func lastEdit(
    of target: Int64, through seq: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    try check()
    meter.read(changes: 1, .entries)
    return try base.lastEdit(of: target, through: seq, inRoom: number, named: room)
  }

  public mutating func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)] {
    try check()
    let reactions = try base.reactions(to: target, inRoom: number)
    meter.read(changes: reactions.count)
    return reactions
  }

  public mutating func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64,
    _ body: (_ user: String, _ seq: Int64) -> Bool
  ) throws(StoreFailure) {
    try check()
    var count = 0
    defer { meter.read(changes: count, .users) }
    try base.forEachUser(giving: emoji, to: target, inRoom: number) {
      count += 1
      return body($0, $1)
    }
  }

  public mutating func reports(
    ofRoom number: Int64, limit: Int
  ) throws(StoreFailure) -> [Int64] {
    try check()
    meter.lookUp()
    return try base.reports(ofRoom: number, limit: limit)
  }

  public mutating func lastSeen(_ user: String) throws(StoreFailure) -> Int64? {
    try check()
    meter.lookUp()
    return try base.lastSeen(user)
  }

  public mutating func users(after user: String, limit: Int) throws(StoreFailure) -> [String] {
    try check()
    let users = try base.users(after: user, limit: limit)
    meter.read(rows: users.count)
    return users
  }
}
