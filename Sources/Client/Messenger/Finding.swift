public import Wire

extension Chat {
  /// The search of all conversations: what was received, and on request what only the relay has.
  public struct Find: Equatable, Sendable {
    public var query = LineEditor()
    /// Newest first.
    public var matches: [Match] = []
    /// A match, or after the last one the search at the relay.
    public var selected = 0
    /// The number of matches to look for.
    var wanted = Find.page
    /// Whether the search goes on in the archive.
    public var isSearching = false
    /// The number of messages that the archive has not indexed yet.
    public var unindexed: Int64 = 0
    /// The conversations of which older messages may be at the relay; first the one whose oldest
    /// message here is the newest, with which the search goes on.
    public var older: [Beginning] = []
    /// The number of pages that the relay may still be asked for; `nil` if it is not being searched.
    public var pagesLeft: Int?
    /// The room of the page that was asked for.
    var asked: String?
    /// The number of matches before the relay was searched.
    var known = 0

    /// The number of matches that are looked for at once, and at most.
    static let page = 100
    static let limit = 1000
    /// The maximum number of pages searched per key press, so that it is answered soon.
    static let searchedPages = 20

    public init() {}
  }

  /// A message that was found.
  public struct Match: Equatable, Sendable {
    public var room: String
    public var seq: Int64
    public var from: String
    /// Milliseconds since 1970.
    public var at: Int64
    public var text: String
  }

  /// Where the entries of a room begin that the archive has.
  public struct Beginning: Equatable, Sendable {
    public var room: String
    /// The time of the oldest one, in milliseconds since 1970; the greatest if there is none.
    public var at: Int64

    public init(room: String, at: Int64) {
      self.room = room
      self.at = at
    }
  }

  /// The archive's answer to `Effect.find`.
  public struct Found: Equatable, Sendable {
    /// What was searched for.
    public var text: String
    /// Newest first.
    public var entries: [Entry]
    /// False if more of it follows.
    public var isComplete: Bool
    public var unindexed: Int64
    public var older: [Beginning]

    public init(
      text: String, entries: [Entry], isComplete: Bool, unindexed: Int64, older: [Beginning]
    ) {
      self.text = text
      self.entries = entries
      self.isComplete = isComplete
      self.unindexed = unindexed
      self.older = older
    }
  }

  /// A place in a conversation to go to.
  public enum Place: Hashable, Sendable {
    case message(Int64)
    /// The first message at a time or later (milliseconds since 1970).
    case time(Int64)
    /// The first message of others after a `seq`.
    case unread(after: Int64)
    /// The newest message before a `seq` that mentions the user.
    case previousMention(before: Int64)
    /// The oldest message after a `seq` that mentions the user.
    case nextMention(after: Int64)
  }

  /// The archive's answer to `Effect.seek`.
  public enum Sought: Sendable {
    /// The message, and those around it.
    case page(seq: Int64, [Entry], isComplete: Bool, isNewest: Bool)
    /// It may be before what the archive has; with the `seq` of the oldest message there.
    case older(oldest: Int64?)
    case nothing
  }

  /// The way to a place for which older messages may have to be requested.
  struct Seeking: Equatable, Sendable {
    var room: String
    var place: Place
    var pagesLeft = Find.searchedPages
  }
}
