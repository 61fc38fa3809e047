import Wire

/// One batch while it is gathered: what it changes, and whom it answers.
struct Batch {
  struct Acknowledgement {
    var loop: Int
    var session: SessionID
    var ack: ServerMessage.Ack
    /// A duplicate of an entry that was stored by an earlier batch.
    var wasStored: Bool
  }
  struct RefusedAppend {
    var loop: Int
    var session: SessionID
    var error: WireError
    /// How many of `acks` are of what came before it.
    var acksBefore: Int
  }
  struct Subscribing {
    var loop: Int
    var request: LogRequest.Subscribe
    var room: Int
    /// At this request's place in the order.
    var head: Int64
    var resumption: Resumption
    /// Why the user does not enter. It is answered in its place among the others: a loop tells the
    /// joins of one session to one room apart by their order alone.
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
  /// An entry that was stored before this batch, and is deleted by it.
  struct Redaction {
    var room: Int
    var seq: Int64
    /// The last entry that loses its text: this one, or an edit of it.
    var through: Int64
    /// What it says from now on.
    var body: [UInt8]
  }
  struct GivenEmoji {
    /// By anyone.
    var all: Set<String>
    /// By users who have asked.
    var own: [String: Set<String>] = [:]
  }
  struct Place: Hashable {
    var room: Int
    var seq: Int64
  }
  /// Tells batches apart.
  let number: Int
  let now: Int64
  /// What the entries of a batch take for the loops at most, in bytes, unless there is only one: a
  /// `forward` of a few bytes becomes a text as long as any, and places in `Frames` are kept as `Int32`.
  static let bytesLimit = 268_435_456
  /// At least what an entry takes beside its body.
  private static let entryBytes = 512

  var entries: [StoreChanges.NewEntry] = []
  private var bytes = 0
  /// The room of each of `entries`.
  var entryRooms: [Int] = []
  /// Of `entries`.
  var identities: SlotTable
  var acks: [Acknowledgement] = []
  var refusals: [RefusedAppend] = []
  var subscribing: [Subscribing] = []
  var questions: [Question] = []
  /// Rooms whose stored state changed, each once.
  var touched: [Int] = []
  var newRooms: [Int] = []
  /// How many more rooms users belong to than the store knows before this batch is in it; rooms that
  /// the store does not keep are left out.
  var unwritten: [String: Int] = [:]
  /// Came, or were moved by a `mark`: the marks that a send moves follow from the entries.
  var dirtyMembers: Set<Sequencer.MemberKey> = []
  /// Moved by a `mark`: others are told.
  var marked: Set<Sequencer.MemberKey> = []
  var formerMembers: [Sequencer.MemberKey] = []
  var membershipChanges: [Commit.MembershipChange] = []
  var typing: [Commit.TypingChange] = []
  var audienceRooms: Set<Int> = []
  var audiences: [Commit.AudienceChange] = []
  var trimmed: [Int] = []
  /// Earlier entries that are deleted.
  var redactions: [Redaction] = []
  /// The emoji that entries have been given, as far as somebody has asked. What the batch takes back is
  /// still among them: within one batch a limit counts it.
  var emoji: [Place: GivenEmoji] = [:]
  /// Users whose presence changed, and what it was before this batch.
  var presences: [String: Presence] = [:]
  /// Of `entries`, by place, as far as somebody has asked: most batches need none of it.
  private var indices: [Place: Int] = [:]
  private var indexedEntries = 0
  /// The entries about others, by these.
  private var changes: [Place: [Int]] = [:]
  /// What is tried again from an earlier batch.
  var retried: [Sequencer.MemberKey: Sequencer.MemberRetry] = [:]
  /// Reading failed on the way: the batch must not be stored.
  var failure: StoreFailure?

  /// - Parameter requests: how many there are.
  init(number: Int, now: Int64, requests: Int) {
    self.number = number
    self.now = now
    identities = SlotTable(capacity: requests)
    entries.reserveCapacity(requests)
    entryRooms.reserveCapacity(requests)
    acks.reserveCapacity(requests)
  }

  /// The entry of this batch that a user sends to a room under this id.
  @inline(__always)
  func find(
    _ identity: EntryIdentity, room: Int, sender: String, id: String
  ) -> Int? {
    identities.find(UInt64(bitPattern: identity.hash)) { index in
      entries[index].identity == identity && entryRooms[index] == room
        && entries[index].entry.from == sender && entries[index].entry.id == id
    }
  }

  /// Refuses a request at its place among the others.
  mutating func refuse(_ session: SessionID, from loop: Int, _ error: WireError) {
    refusals.append(
      RefusedAppend(loop: loop, session: session, error: error, acksBefore: acks.count))
  }

  /// Whether another entry fits.
  func hasRoom(forBody bodyBytes: Int, limitBytes: Int) -> Bool {
    entries.isEmpty || bytes + bodyBytes + Self.entryBytes <= limitBytes
  }

  mutating func append(_ entry: StoreChanges.NewEntry, room: Int) {
    bytes += entry.entry.body.count + Self.entryBytes
    entries.append(entry)
    entryRooms.append(room)
    identities.insert(entries.count - 1) { UInt64(bitPattern: entries[$0].identity.hash) }
  }

  /// Which of this batch's entries has this place in a room.
  mutating func index(ofRoom room: Int, seq: Int64) -> Int? {
    while indexedEntries < entries.count {
      let place = Place(room: entryRooms[indexedEntries], seq: entries[indexedEntries].entry.seq)
      indices[place] = indexedEntries
      indexedEntries += 1
    }
    return indices[Place(room: room, seq: seq)]
  }

  /// Takes note that the last entry is about another one.
  mutating func noteChange(of target: Int64, room: Int) {
    changes[Place(room: room, seq: target), default: []].append(entries.count - 1)
  }

  /// Which of this batch's entries are edits of another one.
  func edits(of target: Int64, room: Int) -> [Int] {
    (changes[Place(room: room, seq: target)] ?? []).filter { entries[$0].entry.kind == .edit }
  }
}
