import Relay
import Wire

/// A store in memory that fails when it is told to.
struct FaultyStore: EntryStore, EntryReader {
  var memory = MemoryStore()
  var failsCommits = false
  var failsReads = false
  /// Of its failures.
  var mayHaveMore = false
  /// The number of lookups of an epoch's last entry.
  private(set) var epochLookups = 0
  /// The number of rooms read for lists, and the number of times that a user's rooms were counted.
  var roomsRead = 0
  var membershipCounts = 0
  private(set) var commits: [StoreChanges] = []
  /// Entries that were read so far, users of reactions, and how often changes were counted.
  private(set) var entriesRead = 0
  private(set) var usersRead = 0
  private(set) var counts = 0
  /// How many runs of content were read.
  private(set) var runsRead = 0

  var identityKey: EntryIdentity.Key { memory.identityKey }

  private func check() throws(StoreFailure) {
    if failsReads { throw StoreFailure("reading fails") }
  }

  mutating func loadRoom(_ name: String) throws(StoreFailure) -> StoredRoom? {
    try check()
    roomsRead += 1
    return try memory.loadRoom(name)
  }

  mutating func nextRoomNumber() throws(StoreFailure) -> Int64 {
    try check()
    return try memory.nextRoomNumber()
  }

  mutating func find(
    _ identity: EntryIdentity, room: Int64, named name: String, sender: String, id: String
  ) throws(StoreFailure) -> Entry? {
    try check()
    return try memory.find(identity, room: room, named: name, sender: sender, id: id)
  }

  mutating func lastEntry(
    ofRoom room: Int64, throughEpoch number: Int64
  ) throws(StoreFailure) -> (seq: Int64, epoch: Int64)? {
    try check()
    epochLookups += 1
    return try memory.lastEntry(ofRoom: room, throughEpoch: number)
  }

  mutating func lastSeq(
    ofRoom room: Int64, in seqs: ClosedRange<Int64>, throughEpoch number: Int64
  ) throws(StoreFailure) -> Int64? {
    try check()
    return try memory.lastSeq(ofRoom: room, in: seqs, throughEpoch: number)
  }

  mutating func memberships(
    of user: String, after number: Int64, limit: Int
  ) throws(StoreFailure) -> [StoredMembership] {
    try check()
    let memberships = try memory.memberships(of: user, after: number, limit: limit)
    roomsRead += memberships.count
    return memberships
  }

  mutating func membership(
    of user: String, toRoom name: String
  ) throws(StoreFailure) -> StoredMembership? {
    try check()
    roomsRead += 1
    return try memory.membership(of: user, toRoom: name)
  }

  mutating func membershipCount(of user: String) throws(StoreFailure) -> Int {
    try check()
    membershipCounts += 1
    return try memory.membershipCount(of: user)
  }

  mutating func entry(
    _ seq: Int64, ofRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    try check()
    entriesRead += 1
    return try memory.entry(seq, ofRoom: number, named: room)
  }

  mutating func lastEdit(
    of target: Int64, inRoom number: Int64, named room: String
  ) throws(StoreFailure) -> Entry? {
    try check()
    entriesRead += 1
    return try memory.lastEdit(of: target, inRoom: number, named: room)
  }

  mutating func editCount(
    of target: Int64, inRoom number: Int64, upTo limit: Int
  ) throws(StoreFailure) -> Int {
    try check()
    return try memory.editCount(of: target, inRoom: number, upTo: limit)
  }

  mutating func emoji(
    of target: Int64, inRoom number: Int64, by user: String?, upTo limit: Int
  ) throws(StoreFailure) -> Set<String> {
    try check()
    return try memory.emoji(of: target, inRoom: number, by: user, upTo: limit)
  }

  mutating func changes(
    inRoom number: Int64, through seq: Int64, total: Int64
  ) throws(StoreFailure) -> Int64 {
    try check()
    return try memory.changes(inRoom: number, through: seq, total: total)
  }

  mutating func contentRun(
    endingAt seq: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> ContentRun? {
    try check()
    runsRead += 1
    return try memory.contentRun(endingAt: seq, inRoom: number)
  }

  mutating func commit(_ changes: StoreChanges) throws(StoreFailure) {
    if failsCommits {
      var failure = StoreFailure("the disk is full")
      failure.mayHaveMore = mayHaveMore
      throw failure
    }
    commits.append(changes)
    try memory.commit(changes)
  }

  mutating func bounds(
    of room: String
  ) throws(StoreFailure) -> (number: Int64, first: Int64, head: Int64)? {
    try check()
    return try memory.bounds(of: room)
  }

  mutating func forEachEntry(
    ofRoom number: Int64, named room: String, in seqs: ClosedRange<Int64>, _ body: (Entry) -> Bool
  ) throws(StoreFailure) {
    try check()
    var read = 0
    try memory.forEachEntry(ofRoom: number, named: room, in: seqs) {
      read += 1
      return body($0)
    }
    entriesRead += read
  }

  mutating func changes(
    inRoom number: Int64, through seq: Int64
  ) throws(StoreFailure) -> Int64 {
    try check()
    counts += 1
    return try memory.changes(inRoom: number, through: seq)
  }

  mutating func firstTarget(
    inRoom number: Int64, in seqs: ClosedRange<Int64>
  ) throws(StoreFailure) -> Int64? {
    try check()
    return try memory.firstTarget(inRoom: number, in: seqs)
  }

  mutating func reactions(
    to target: Int64, inRoom number: Int64
  ) throws(StoreFailure) -> [(emoji: String, users: Int64)] {
    try check()
    return try memory.reactions(to: target, inRoom: number)
  }

  mutating func forEachUser(
    giving emoji: String, to target: Int64, inRoom number: Int64, _ body: (String) -> Bool
  ) throws(StoreFailure) {
    try check()
    var read = 0
    try memory.forEachUser(giving: emoji, to: target, inRoom: number) {
      read += 1
      return body($0)
    }
    usersRead += read
  }

  mutating func lastSeen(_ user: String) throws(StoreFailure) -> Int64? {
    try check()
    return try memory.lastSeen(user)
  }
}
