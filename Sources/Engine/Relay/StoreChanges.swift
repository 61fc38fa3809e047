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

  /// The relation of an edit, reaction or deletion to its target.
  public struct Change: Equatable, Sendable {
    /// The `seq` of the target.
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
  /// Users who came or went, and the time in milliseconds since 1970.
  public var seen: [(user: String, at: Int64, isOnline: Bool)] = []

  /// What other nodes have to know besides; `nil` if the store is this node's alone.
  public var news: News?

  public init() {}

  public var isEmpty: Bool {
    newRooms.isEmpty && entries.isEmpty && members.isEmpty && formerMembers.isEmpty
      && trims.isEmpty && redactions.isEmpty && seen.isEmpty && news?.isEmpty != false
  }
}

extension StoreChanges {
  /// The part of a batch that is published but not stored, for the other nodes of a shared store.
  public struct News: Sendable {
    /// The names of the rooms whose members, first entries or redacted entries changed.
    public var rooms: [Int64: String] = [:]
    /// Members whose marks moved by a `mark`.
    public var marked: [(room: String, user: String)] = []
    public var memberships: [(room: String, user: String, belongs: Bool)] = []
    public var redactions: [Commit.Redaction] = []
    public var typing: [Commit.TypingChange] = []
    public var spending: [Spending] = []
    /// The presence of users in the sessions of this node.
    public var presences: [(user: String, presence: Presence)] = []
    /// Whether `presences` are all of this node's, so that others forget what they know of it.
    public var hasAllPresences = false
    /// Whether the node has just started, and has to be told the presence of all users.
    public var asksForPresences = false

    public init() {}

    /// Whether there is nothing to tell: `rooms` belongs to other changes.
    public var isEmpty: Bool {
      marked.isEmpty && memberships.isEmpty && redactions.isEmpty && typing.isEmpty
        && spending.isEmpty && presences.isEmpty && !hasAllPresences && !asksForPresences
    }
  }
}
