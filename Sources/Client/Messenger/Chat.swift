internal import Archive
public import Terminal
public import Wire

/// The state of the messenger, which `draw` turns into a grid. Only `Chat.handle` changes it, and
/// returns the effects that the driver must perform.
///
/// A value without clock, terminal, socket or file.
public struct Chat: Sendable {
  public enum Connection: Equatable, Sendable {
    case connecting
    /// The round trip, when it has been measured.
    case live(roundTripMilliseconds: Int?)
    /// Until the next attempt, in milliseconds since 1970.
    case waiting(until: Int64, reason: String)
    /// No further attempt follows, for this reason.
    case ended(String)
  }

  public enum Pane: Equatable, Sendable {
    case list
    case messages
    case composer
  }

  /// The state of the directory of users.
  public enum Directory: Equatable, Sendable {
    case loading
    case complete
    /// More pages follow.
    case partial
    /// The directory's requests are rate-limited until then (milliseconds since 1970).
    case limited(until: Int64)
    case failed(String)
  }

  /// An overlay, which takes the keys.
  public enum Overlay: Equatable, Sendable {
    /// The list of keys, scrolled to this line.
    case help(line: Int)
    /// Choose a conversation, perhaps to forward a message to it.
    case switcher(Switcher)
    /// The actions on the selected message.
    case actions(selected: Int)
    /// Emoji to react with: the usual ones, or those of a name.
    case reactions(selected: Int, query: LineEditor = LineEditor())
    /// Confirm an action that cannot be undone.
    case confirmDeletion(Message.Key)
    /// Confirm that a conversation is left and forgotten.
    case confirmLeaving(String)
    /// Confirm that what cannot be saved is lost.
    case confirmQuitting
    /// Confirm that a member is removed or banned.
    case confirmChange(MemberChange)
    /// The members of the room; the selected user.
    case members(selected: String?)
    /// Search all conversations.
    case find(Find)
    /// Write the date to go to.
    case date(LineEditor)
    /// Sign in again; see `Chat.signIn`.
    case signIn
    /// Confirm that a file is sent whose path was pasted, instead of that text.
    case confirmSending(ChosenFile, pasted: String)
    /// Confirm that a downloaded file is opened that may be a program.
    case confirmOpening(name: String, path: String)
  }

  public struct Switcher: Equatable, Sendable {
    public var query = LineEditor()
    /// Rooms, best first.
    public var matches: [String] = []
    public var selected = 0
    public var forwarding: Message.Key?
  }

  /// A search in the loaded messages.
  public struct Search: Equatable, Sendable {
    public var query = LineEditor()
    /// Newest first.
    public var matches: [Message.Key] = []
    public var selected = 0
    /// The number of older pages that may still be searched for the next match; `nil` if none is
    /// wanted.
    var pagesLeft: Int?
  }

  /// The purpose of the composer's text.
  public enum Composition: Equatable, Sendable {
    case new
    case reply(Message.Key)
    case edit(Message.Key)
  }

  /// A short message about a failure or a completed action.
  public struct Notice: Equatable, Sendable {
    public var text: String
    public var isError: Bool
    /// Milliseconds since 1970.
    public var until: Int64
  }

  public var settings: Settings
  public var size: Size
  /// Milliseconds since 1970, of the last event.
  public var now: Int64
  /// The user's own name, once known.
  public var user: String?
  /// The user's display name, until the directory has one.
  public var ownName: String?
  public var relay: String
  public var connection = Connection.connecting
  public var directory = Directory.loading

  /// By room.
  public var conversations: [String: Conversation] = [:]
  /// The rooms of the list in its order, after filtering.
  public var listed: [String] = []
  public var filter = LineEditor()
  public var isFiltering = false
  /// The selected row, while the list is focused.
  public var listSelection: String?
  var isListSelectionChosen = false
  /// The first visible row of the list.
  public var listTop = 0
  /// Where the list's sections begin, by index in `listed`.
  var headings: [Int: Section] = [:]
  /// The mouse has scrolled the list, possibly away from its selection.
  var isListScrolled = false
  /// The display names of users.
  public var names: [String: String] = [:]

  /// Whether pictures are shown in the list, with initials for those who have none.
  public var showsPictures = false
  /// The numbers under which the terminal knows the pictures of users.
  public var pictures: [String: UInt32] = [:]

  /// How pictures in conversations are drawn; `nil` for not at all.
  public var pictureForm: PictureForm?
  public var thumbnails: [WantedThumbnail: Thumbnail] = [:]

  /// Whether a click on a link opens it, by the terminal.
  public var showsLinks = false

  /// Whether the token is that of a login, so that another login can replace it.
  public var canSignIn = false
  /// The login that is going on, while its overlay is open or covered by the help.
  public internal(set) var signIn: SignIn?

  /// The conversation on the right; `nil` for none.
  public var timeline: Timeline?
  public var composer = TextEditor()
  public var composition = Composition.new
  /// The texts of this run that can be written again.
  var written = WrittenTexts()
  /// The user goes through the sent texts; the draft waits in it.
  var recall: Recall?
  /// The `seq` of the message that is being replied to or edited: it may not be loaded any more.
  var compositionTarget: Int64?
  /// The conversation whose text is in the user's editor, which covers the screen.
  var editorRoom: String?
  /// The keys of a sequence that is not complete.
  var pendingKeys: PendingKeys?
  /// The candidates for Tab, and which is selected.
  public var completion: Completion?
  public var search: Search?
  public var pane = Pane.composer
  public var overlay: Overlay?
  /// Whether the messages get the keys once they are loaded, unless a key is pressed before.
  var entersMessages = false
  /// What the help covers.
  var covered: Overlay?
  public var notice: Notice?
  /// What is wrong until it is mended, for people.
  public internal(set) var conditions: [Condition: String] = [:]
  /// Whether the terminal is focused; `nil` if it does not report that.
  public var hasFocus: Bool?

  /// How the terminal is told to report its focus; shown once, when the user comes back without it.
  public var focusHint: String?

  /// The messages that are not acknowledged or were refused, in the order in which they were sent.
  var outgoing: [Outgoing] = []
  /// The changes of rooms that the relay has not answered, by the id of their entry.
  var changes: [String: AskedChange] = [:]
  /// The users that the user has blocked, once the relay has told.
  var blocked: Set<String> = []
  /// What commands about people asked for and the relay has not answered, by `ref`.
  var personRequests: [String: PersonCommand.Request] = [:]
  /// The originals of forwarded messages, by the id of the outgoing message, until it is
  /// acknowledged.
  var forwarded: [String: Message] = [:]
  /// The stored drafts, for conversations that are added later.
  var drafts: [String: [Archive.Draft]] = [:]
  /// The prefix of message ids: at least 96 random bits.
  var idPrefix = ""
  var idCount = 0
  var textLimitBytes = 0
  /// The most bytes of a file that the relay takes; `nil` for no limit.
  var fileLimitBytes: Int64?
  var times = Times()
  /// The requests that are not answered.
  var asked: [Asked] = []
  /// The list must be sorted again before it is drawn.
  var isListStale = true
  /// The room for which the relay was asked for a page of older entries.
  var historyAsked: String?
  /// The place that is being looked for.
  var seeking: Seeking?
  /// The room of which a page will be requested when the relay's budget allows it.
  var fetchWaiting: String?
  /// The relay's limit; 0 for none.
  var requestsPerSecond = 0
  /// The cursor of the directory's next page.
  var peopleCursor: String?
  var peopleCount = 0
  /// The directory requests that are not answered yet.
  var peopleAsked: [PeopleQuestion] = []
  /// The wait before the relay is asked again whether it has read the directory for the first time.
  var peopleWaitMilliseconds: Int64 = 0
  /// The code of the directory's last failure.
  var directoryCode: String?
  /// Whether a failure of the directory was reported on this connection.
  var peopleFailed = false

  /// Converts milliseconds since 1970 to local time.
  public var localTime: @Sendable (Int64) -> LocalTime

  /// - Parameter idPrefix: At most 40 printable ASCII characters with at least 96 random bits.
  public init(
    settings: Settings, size: Size, now: Int64, relay: String, user: String?,
    idPrefix: String = "", localTime: @escaping @Sendable (Int64) -> LocalTime
  ) {
    self.settings = settings
    self.size = size
    self.now = now
    self.relay = relay
    self.user = user
    self.idPrefix = idPrefix
    self.localTime = localTime
    times.lastInput = now
  }

  /// A message of the user that the relay has not acknowledged.
  public struct Outgoing: Equatable, Sendable {
    public var send: ClientMessage.Send
    /// Milliseconds since 1970.
    public var at: Int64
    /// Why it was refused for good.
    public var refusal: String?
    /// Whether it is stored on this machine.
    var isKept = true
    /// When it is sent again, if the relay has answered that it cannot store it now; in milliseconds
    /// since 1970.
    var againAt: Int64?
    /// The file that the relay must have before the message is sent.
    var upload: Upload?
    /// Whether it waits for the file of a message before it.
    public internal(set) var isHeld = false

    public init(send: ClientMessage.Send, at: Int64, refusal: String? = nil) {
      self.send = send
      self.at = at
      self.refusal = refusal
    }
  }

  /// A directory request that is not answered yet.
  enum PeopleQuestion: Sendable {
    /// The next page of the whole directory.
    case list
    /// A search by name.
    case query
  }

  /// When something was done last or is due, in milliseconds since 1970.
  struct Times: Sendable {
    /// The pings that are not answered, the oldest first.
    var pings: [Int64] = []
    /// When the current connection was established.
    var connected: Int64 = 0
    /// When the process went on after a pause.
    var resumed: Int64 = 0
    /// When the relay answered again after it was overdue.
    var recovered: Int64 = 0
    var nextPing: Int64 = .max
    var typed: Int64 = 0
    var sounded: Int64 = 0
    var lastInput: Int64 = 0
    var nextPeople: Int64 = .max
    var nextQuery: Int64 = .max
    /// When the next page of older entries may be requested.
    var nextFetch: Int64 = 0
    /// When what was not indexed is searched again.
    var nextFind: Int64 = .max
    /// The earliest end of a typing notice. Kept here because there may be thousands of
    /// conversations and thousands of events per second.
    var nextTypingEnd: Int64 = .max
    var draftSaved: Int64 = 0
    var isAway = false

    mutating func shift(by milliseconds: Int64) {
      for index in pings.indices { pings[index] += milliseconds }
      for time in [
        \Self.connected, \.resumed, \.recovered, \.nextPing, \.typed, \.sounded, \.lastInput,
        \.nextPeople,
        \.nextQuery,
        \.nextTypingEnd, \.nextFetch, \.nextFind,
        \.draftSaved,
      ] where self[keyPath: time] != .max { self[keyPath: time] += milliseconds }
    }
  }

  /// The open conversation.
  public var open: Conversation? { timeline.flatMap { conversations[$0.room] } }

  /// Returns the display name of a user.
  public func name(of user: String) -> String {
    names[user] ?? (user == self.user ? ownName : nil) ?? user
  }
}
