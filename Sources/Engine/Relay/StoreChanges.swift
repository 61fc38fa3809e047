public import Moderation
public import Wire

/// The changes of one batch to the store.
public struct StoreChanges: Sendable {
  /// An entry with the additional data that the store needs.
  public struct NewEntry: Sendable {
    public var room: Int64
    public var identity: EntryIdentity
    public var entry: Entry
    /// Set if the entry changes another one.
    public var change: Change?
    /// The last `seq` before it that another user sent.
    public var others: Int64
    /// The last text or data before it: if it is content itself, that of another user.
    public var content: Int64

    /// - Parameters:
    ///   - others: `nil` = the entry before it.
    ///   - content: `nil` = the entry before it.
    public init(
      room: Int64, identity: EntryIdentity, entry: Entry, change: Change? = nil,
      others: Int64? = nil, content: Int64? = nil
    ) {
      self.room = room
      self.identity = identity
      self.entry = entry
      self.change = change
      self.others = others ?? entry.seq - 1
      self.content = content ?? entry.seq - 1
    }

    /// - Parameter last: who sent the last entries of the room, this one included.
    public init(
      room: Int64, identity: EntryIdentity, entry: Entry, change: Change? = nil, last: LastSenders
    ) {
      self.init(
        room: room, identity: identity, entry: entry, change: change, others: last.others,
        content: entry.kind.isContent ? last.content.others : last.content.last)
    }
  }

  /// The relation of an edit, reaction or deletion to its target, or of a notice to its room.
  public struct Change: Equatable, Sendable {
    /// The `seq` of the target; 0 = the room itself.
    public var target: Int64
    /// The number of the room's entries up to this one that are not content.
    public var number: Int64

    public init(target: Int64, number: Int64) {
      self.target = target
      self.number = number
    }
  }

  /// Rooms to create, with their numbers. A room is stored with its first entry: a room without
  /// entries lasts as long as it has subscribers, who are gone after a restart.
  public var newRooms: [(number: Int64, name: String)] = []
  /// New entries, each with its room's number, in commit order.
  public var entries: [NewEntry] = []
  /// Members to add, or whose marks moved by a `mark`, and the last `seq` of the room with this
  /// batch. A member whose marks moved only by sends is not included until another user sends an
  /// entry: until then the store derives the marks (`MemberMarks.current`).
  public var members: [(room: Int64, user: String, marks: MemberMarks, head: Int64)] = []
  /// Members to remove, before `members` are written.
  public var formerMembers: [(room: Int64, user: String)] = []
  /// Rooms whose entries before `first` are to be deleted.
  public var trims: [(room: Int64, first: Int64)] = []
  /// Deletions of earlier entries, with their new bodies. From this commit on every reader gets
  /// these bodies, and every edit of the entries without its text, wherever they are stored; the
  /// store may overwrite the edits later.
  public var redactions: [(room: Int64, seq: Int64, body: [UInt8])] = []
  /// Rooms whose settings, or numbers of members by role, changed.
  public var rules: [(room: Int64, rules: RoomRules)] = []
  /// What users are in rooms. One who is `Standing.unnamed` need not be kept.
  public var standings: [(room: Int64, user: String, standing: Standing)] = []
  /// Direct rooms in which entries are hidden, or not any more, or that are requests, or were.
  public var directs: [(room: Int64, state: DirectState)] = []
  /// Blocks that began or ended, in their order.
  public var blocks: [BlockChange] = []
  /// Users who are banned from the relay, or not any more.
  public var bans: [BanChange] = []
  /// Rooms whose standings are removed, before `standings` are written.
  public var cleared: [Int64] = []
  /// New reports, and those that have lost their copies.
  public var reports: [ReportChange] = []
  /// The oldest record of a report that is kept, if that changes.
  public var firstReport: Int64?
  /// Users whose last visit is forgotten, after `seen` is written.
  public var erasedUsers: [String] = []
  /// Users who came or went, and the time in milliseconds since 1970.
  public var seen: [(user: String, at: Int64, isOnline: Bool)] = []

  /// Files that entries may name from now on.
  public var files: [StoredFile] = []
  /// Files that are forgotten, unless an entry names them.
  public var expiredFiles: [String] = []
  /// The hashes of bytes that were removed.
  public var removedBytes: [String] = []

  public init() {}

  /// Whether there is anything that nearly all batches have none of.
  public var hasRareChanges: Bool {
    !(directs.isEmpty && blocks.isEmpty && reports.isEmpty && bans.isEmpty && cleared.isEmpty
      && erasedUsers.isEmpty && firstReport == nil && !hasFileChanges)
  }

  public var isEmpty: Bool {
    newRooms.isEmpty && entries.isEmpty && members.isEmpty && formerMembers.isEmpty
      && trims.isEmpty && redactions.isEmpty && rules.isEmpty && standings.isEmpty
      && directs.isEmpty && blocks.isEmpty && reports.isEmpty && bans.isEmpty && cleared.isEmpty
      && erasedUsers.isEmpty && seen.isEmpty && !hasFileChanges
  }

  private var hasFileChanges: Bool {
    !(files.isEmpty && expiredFiles.isEmpty && removedBytes.isEmpty)
  }
}
