public import Wire

/// What one batch changes in the store.
public struct StoreChanges: Sendable {
  /// An entry with what the store needs to know besides.
  public struct NewEntry: Sendable {
    public var room: Int64
    public var identity: EntryIdentity
    public var entry: Entry
    /// Where the entry is about another one.
    public var change: Change?

    public init(room: Int64, identity: EntryIdentity, entry: Entry, change: Change? = nil) {
      self.room = room
      self.identity = identity
      self.entry = entry
      self.change = change
    }
  }

  /// That an entry is about another one.
  public struct Change: Equatable, Sendable {
    /// The other one's `seq`.
    public var target: Int64
    /// How many of the room's entries up to this one are not content.
    public var number: Int64

    public init(target: Int64, number: Int64) {
      self.target = target
      self.number = number
    }
  }

  /// Rooms to be made, with the number that they get. A room is stored with its first entry: one
  /// that has none lives as long as it has subscribers, and those are gone after a restart.
  public var newRooms: [(number: Int64, name: String)] = []
  /// New entries, each with its room's number, in commit order.
  public var entries: [NewEntry] = []
  /// Members to be added or whose marks moved by a `mark`, and the room's last `seq` with this batch.
  /// The marks that only sends have moved are not among them: the store derives those from the
  /// entries behind that `seq`.
  public var members: [(room: Int64, user: String, marks: MemberMarks, head: Int64)] = []
  /// Members to be removed, before `members` are written.
  public var formerMembers: [(room: Int64, user: String)] = []
  /// Entries before `first` are to be deleted.
  public var trims: [(room: Int64, first: Int64)] = []
  /// Earlier entries that are deleted, and what they say from now on. From this commit on every reader
  /// is shown these so, and every edit of them without its text, wherever these are stored; the store
  /// may take its time to overwrite the edits.
  public var redactions: [(room: Int64, seq: Int64, body: [UInt8])] = []
  /// Users who came or went, and when, in milliseconds since 1970.
  public var seen: [(user: String, at: Int64, isHere: Bool)] = []

  public init() {}

  public var isEmpty: Bool {
    newRooms.isEmpty && entries.isEmpty && members.isEmpty && formerMembers.isEmpty
      && trims.isEmpty && redactions.isEmpty && seen.isEmpty
  }
}
