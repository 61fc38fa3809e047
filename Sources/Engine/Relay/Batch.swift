import Wire

/// A batch of requests while it is processed: its changes and its answers. It is never copied: a copy would
/// count a reference for each of its parts.
package struct Batch: ~Copyable {
  /// The acks for one loop, in the order of its requests: those of a batch that is stored are not
  /// copied again.
  struct Acks {
    private(set) var answers: [LogAnswer] = []
    /// The indices of those for duplicates of entries that earlier batches have stored, ascending.
    private(set) var stored: [Int] = []

    var ofStored: [LogAnswer] { stored.map { answers[$0] } }

    mutating func reserveCapacity(_ count: Int) { answers.reserveCapacity(count) }

    @inline(__always)
    mutating func append(
      _ ack: ServerMessage.Ack, to session: SessionID, wasStored: Bool
    ) {
      if wasStored { stored.append(answers.count) }
      answers.append(.ack(session, ack))
    }
  }
  struct RefusedAppend {
    var loop: Int
    var session: SessionID
    var error: WireError
    /// The number of acks for its loop that precede it in the order of requests.
    var acksBefore: Int
  }
  struct Subscribing {
    var loop: Int
    var request: LogRequest.Subscribe
    var room: Int
    /// The head of the room at the position of this request.
    var head: Int64
    var resumption: Resumption
    /// Why the user is not subscribed. Refusals are answered in order with the other joins: a loop
    /// distinguishes the joins of one session to one room by their order alone.
    var refusal: WireError?
  }
  struct Question {
    var loop: Int
    var ticket: UInt32
    var user: String
    var listed: [String]
    var after: MembershipsCursor
    var limit: Int
  }
  /// The deletion of an entry that an earlier batch has stored.
  struct Redaction {
    var room: Int
    var seq: Int64
    /// The last entry that loses its text: this one, or an edit of it.
    var through: Int64
    /// The body of the entry after the redaction.
    var body: [UInt8]
  }
  struct GivenEmoji {
    /// Given by any user.
    var all: Set<String>
    /// Given by each user whose reactions were looked up.
    var own: [String: Set<String>] = [:]
  }
  struct Place: Hashable {
    var room: Int
    var seq: Int64
  }
  /// Distinguishes batches.
  let number: Int
  let now: Int64
  /// The maximum size in bytes that the entries of a batch have for the loops, unless there is only
  /// one entry. The size needs a limit because a `forward` of a few bytes can become a text of
  /// maximum length, and `Frames` stores offsets as `Int32`.
  static let bytesLimit = 268_435_456
  /// A lower bound of the overhead of an entry besides its body.
  private static let entryBytes = 512

  var entries: [StoreChanges.NewEntry] = []
  private var bytes = 0
  /// The room of each of `entries`.
  var entryRooms: [Int] = []
  /// When each of `entries` was received, in microseconds of the monotonic clock.
  var received: [Int64] = []
  /// Entries that are part of a trace of their sender's own.
  var traced: [CommitTrace.Span] = []
  /// Indices of `entries` by identity.
  var identities: HashTable
  /// For each loop.
  var acks: [Acks]
  var refusals: [RefusedAppend] = []
  var subscribing: [Subscribing] = []
  var questions: [Question] = []
  /// Answers that do not depend on whether the batch is stored.
  var answers: [(loop: Int, LogAnswer)] = []
  /// Answers that hold if the batch is stored.
  var promises: [(loop: Int, origin: LogRequest.Origin, room: String?)] = []
  /// Rooms whose stored state changed, without duplicates.
  var touched: [Int] = []
  var newRooms: [Int] = []
  /// The change in the number of rooms that each user belongs to, compared to the store before this
  /// batch. Rooms that are not stored do not count.
  var unwritten: [String: Int] = [:]
  /// Members who were added, or whose marks moved by a `mark`. The marks that a send moves follow
  /// from the entries.
  var dirtyMembers: Set<Sequencer.MemberKey> = []
  /// Members whose marks moved by a `mark`, which is published.
  var marked: Set<Sequencer.MemberKey> = []
  var formerMembers: [Sequencer.MemberKey] = []
  var membershipChanges: [Commit.MembershipChange] = []
  /// Rooms whose rules changed.
  var ruled: Set<Int> = []
  /// Users who became something else in a room by an entry.
  var judged: Set<Sequencer.MemberKey> = []
  /// What the notice that is being appended makes of its room.
  var verdict: Verdict?
  /// Users that an entry has made members, or none.
  var byEntry: Set<Sequencer.MemberKey> = []
  /// Those of them who were members of a room before its first entry.
  var evicted: [Sequencer.MemberKey] = []
  var departures: [Commit.Departure] = []
  /// Rooms that became private, each with the first entry that made it so.
  private(set) var closings: [Int: ServerMessage.Departure] = [:]
  var typing: [Commit.TypingChange] = []
  /// Blocks that began or ended.
  var blocks: [BlockChange] = []
  /// What `BlockTable` had before each of them.
  var undoneBlocks: [BlockChange] = []
  /// Direct rooms whose `DirectState` changed.
  var directs: Set<Int> = []
  var requests: [Commit.RequestChange] = []
  var reports: [ReportChange] = []
  /// The user of each new report.
  var reporters: [String] = []
  var bans: [BanChange] = []
  /// Rooms of which all standings are removed.
  var cleared: Set<Int> = []
  /// Users whose last visit the store forgets.
  var erasedUsers: [String] = []
  /// Whether the send that is being appended is what only an operator may do.
  var isAct = false
  var newFiles: [StoredFile] = []
  var expiredFiles: [String] = []
  /// Of these, the ones that no entry of this batch may name any more.
  var removedFiles: Set<String> = []
  var removedBytes: [String] = []
  /// Files that entries of this batch name.
  var sentFiles: Set<String> = []
  /// What the batch adds to the size of each user's files.
  var fileBytes: [String: Int64] = [:]
  /// Who is answered `done` if the batch is stored.
  var filePromises: [(loop: Int, asker: FileAsker, answer: FileAnswer)] = []
  var audienceRooms: Set<Int> = []
  var audiences: [Commit.AudienceChange] = []
  var trimmed: [Int] = []
  /// The number of entries that retention has removed.
  var trimmedEntries = 0
  /// Deletions of entries that earlier batches have stored.
  var redactions: [Redaction] = []
  /// The emoji given to entries, filled on demand. Those that this batch removes stay in the sets:
  /// within one batch they count towards the limit.
  var emoji: [Place: GivenEmoji] = [:]
  /// The users whose presence changed, and their presence before this batch.
  var presences: [String: Presence] = [:]
  /// Indices of `entries` by place, filled on demand: most batches do not need it.
  private var indices: [Place: Int] = [:]
  private var indexedEntries = 0
  /// Indices of the edits, reactions and deletions of each entry.
  private var changes: [Place: [Int]] = [:]
  /// Changes that are retried from an earlier batch.
  var retried: [MemberRetries.Member: MemberRetries.Retry] = [:]
  /// The users of this batch whose coming or going it stores.
  var seen: [String] = []
  /// The error of a read during the batch, which must not be stored then.
  package internal(set) var failure: StoreFailure?
  /// Why a part of the store could not be read that a request needs.
  var damage: StoreFailure?

  /// - Parameters:
  ///   - requests: their number.
  ///   - loops: the number of loops.
  init(number: Int, now: Int64, requests: Int, loops: Int) {
    self.number = number
    self.now = now
    identities = HashTable(capacity: requests)
    entries.reserveCapacity(requests)
    entryRooms.reserveCapacity(requests)
    received.reserveCapacity(requests)
    acks = Array(repeating: Acks(), count: loops)
  }

  /// Whether there is anything that nearly all batches have none of: each would cost them a step.
  var hasRareChanges: Bool {
    !(directs.isEmpty && blocks.isEmpty && reports.isEmpty && bans.isEmpty && cleared.isEmpty
      && erasedUsers.isEmpty && filePromises.isEmpty)
  }

  /// Returns the index of the entry of this batch that the user has sent to the room with this id.
  @inline(__always)
  func find(
    _ identity: EntryIdentity, room: Int, sender: String, id: String
  ) -> Int? {
    identities.find(UInt64(bitPattern: identity.hash)) { index in
      entries[index].identity == identity && entryRooms[index] == room
        && entries[index].entry.from == sender && entries[index].entry.id == id
    }
  }

  /// Refuses a request at its position among the others.
  mutating func refuse(_ session: SessionID, from loop: Int, _ error: WireError) {
    refusals.append(
      RefusedAppend(
        loop: loop, session: session, error: error, acksBefore: acks[loop].answers.count))
  }

  /// Whether another entry fits.
  func hasRoom(forBody bodyBytes: Int, limitBytes: Int) -> Bool {
    entries.isEmpty || bytes + bodyBytes + Self.entryBytes <= limitBytes
  }

  mutating func append(_ entry: consuming StoreChanges.NewEntry, room: Int, receivedAt: Int64) {
    appendFollowed(entry, room: room, receivedAt: receivedAt)
    identities.insert(entries.count - 1) { UInt64(bitPattern: entries[$0].identity.hash) }
  }

  /// Appends an entry that another sequencer has committed: it is not found by its identity, which
  /// is not told.
  mutating func appendFollowed(
    _ entry: consuming StoreChanges.NewEntry, room: Int, receivedAt: Int64 = 0
  ) {
    bytes += entry.entry.body.count + Self.entryBytes
    entries.append(entry)
    entryRooms.append(room)
    received.append(receivedAt)
  }

  /// Records that an entry makes a room private. The first one counts.
  mutating func recordClosing(of room: Int, by sender: String, at seq: Int64) {
    if closings[room] == nil { closings[room] = .init(seq: seq, by: sender) }
  }

  /// Returns the index of the entry of this batch with that `seq` in the room.
  mutating func index(ofRoom room: Int, seq: Int64) -> Int? {
    while indexedEntries < entries.count {
      let place = Place(room: entryRooms[indexedEntries], seq: entries[indexedEntries].entry.seq)
      indices[place] = indexedEntries
      indexedEntries += 1
    }
    return indices[Place(room: room, seq: seq)]
  }

  /// Records that the last entry refers to another one.
  mutating func recordChange(of target: Int64, room: Int) {
    changes[Place(room: room, seq: target), default: []].append(entries.count - 1)
  }

  /// Whether this batch deletes an entry that an earlier batch has stored, or the text that it
  /// edits.
  func redacts(_ entry: Entry, room: Int) -> Bool {
    let target = entry.kind == .edit ? entry.target : nil
    return redactions.contains { $0.room == room && ($0.seq == entry.seq || $0.seq == target) }
  }

  /// Returns the indices of the entries of this batch that are edits of another entry.
  func edits(of target: Int64, room: Int) -> [Int] {
    (changes[Place(room: room, seq: target)] ?? []).filter { entries[$0].entry.kind == .edit }
  }
}
