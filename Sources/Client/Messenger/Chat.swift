public import Terminal
public import Wire

/// All that the messenger shows: what `draw` turns into a grid. Changed by `Chat.handle` alone,
/// which says what is to be done besides.
///
/// A value without clock, terminal, socket or file.
public struct Chat: Sendable {
  public enum Connection: Equatable, Sendable {
    case connecting
    /// The round trip, once it is known.
    case live(roundTripMilliseconds: Int?)
    /// Until the next attempt, in milliseconds since 1970.
    case waiting(until: Int64, reason: String)
    /// Nothing more will be tried, and why.
    case ended(String)
  }

  public enum Pane: Equatable, Sendable {
    case list
    case messages
    case composer
  }

  /// How the list of people stands.
  public enum Directory: Equatable, Sendable {
    case loading
    case complete
    /// More pages follow.
    case partial
    /// The source has had enough of us, until then (milliseconds since 1970).
    case limited(until: Int64)
    case failed(String)
  }

  /// What lies over the screen, and takes the keys.
  public enum Overlay: Equatable, Sendable {
    /// The list of keys, from this line on.
    case help(line: Int)
    /// Choose a conversation; `forwarding` a message to it.
    case switcher(Switcher)
    /// What to do with the selected message.
    case actions(selected: Int)
    /// Emoji to react with.
    case reactions(selected: Int)
    /// Something that cannot be undone; yes or no.
    case confirmDeletion(Message.Key)
  }

  public struct Switcher: Equatable, Sendable {
    public var query = LineEditor()
    /// Rooms, best first.
    public var matches: [String] = []
    public var selected = 0
    public var forwarding: Message.Key?
  }

  /// A search in what is loaded.
  public struct Search: Equatable, Sendable {
    public var query = LineEditor()
    /// Newest first.
    public var matches: [Message.Key] = []
    public var selected = 0
    /// So many older pages may still be looked through for the next match; `nil` where none is
    /// wanted.
    var pagesLeft: Int?
  }

  /// What the composer is for.
  public enum Composition: Equatable, Sendable {
    case new
    case reply(Message.Key)
    case edit(Message.Key)
  }

  /// A short text about something that went wrong, or was done.
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
  /// Who we are, once that is known.
  public var user: String?
  public var relay: String
  public var connection = Connection.connecting
  public var directory = Directory.loading

  /// By room.
  public var conversations: [String: Conversation] = [:]
  /// Rooms as they are listed, the filter applied.
  public var listed: [String] = []
  public var filter = LineEditor()
  public var isFiltering = false
  /// The row the keys are on while the list has them.
  public var listSelection: String?
  var isListSelectionChosen = false
  /// The first row of the list that is seen.
  public var listTop = 0
  /// The mouse has scrolled the list, away from its selection perhaps.
  var isListScrolled = false
  /// What users are called.
  public var names: [String: String] = [:]

  /// The conversation on the right; `nil` for none.
  public var timeline: Timeline?
  public var composer = TextEditor()
  public var composition = Composition.new
  /// The place of the message that is answered or edited: it need not be loaded any more.
  var compositionTarget: Int64?
  /// What Tab would complete, and which is chosen.
  public var completion: Completion?
  public var search: Search?
  public var pane = Pane.composer
  public var overlay: Overlay?
  public var notice: Notice?
  /// Whether the terminal has the keyboard; `nil` where it does not say.
  public var hasFocus: Bool?

  /// What is not acknowledged, or was refused, in the order in which it was sent.
  var outgoing: [Outgoing] = []
  /// What was forwarded, by the id of what is sent, until it comes back.
  var forwarded: [String: Message] = [:]
  /// Of the ids of what is sent: at least 96 random bits.
  var idPrefix = ""
  var idCount = 0
  var textLimitBytes = 0
  var times = Times()
  /// The list has to be put in order again before it is shown.
  var isListStale = true
  /// A page of older entries was asked of the relay, for this room.
  var historyAsked: String?
  /// The cursor of the directory's next page.
  var peopleCursor: String?
  var peopleCount = 0
  /// What was asked of the directory, and not answered yet.
  var peopleAsked: [PeopleQuestion] = []
  /// Until the relay is asked again whether its list has been read for the first time.
  var peopleWaitMilliseconds: Int64 = 0
  /// That the directory failed was told since the connection came.
  var peopleFailed = false

  /// What the clock on the wall shows at a time in milliseconds since 1970.
  public var localTime: @Sendable (Int64) -> LocalTime

  /// - Parameter idPrefix: at most 40 printable ASCII characters with at least 96 random bits.
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
  }

  /// Something of one's own that the relay has not acknowledged.
  public struct Outgoing: Equatable, Sendable {
    public var send: ClientMessage.Send
    /// Milliseconds since 1970.
    public var at: Int64
    /// Why it was refused for good.
    public var refusal: String?

    public init(send: ClientMessage.Send, at: Int64, refusal: String? = nil) {
      self.send = send
      self.at = at
      self.refusal = refusal
    }
  }

  /// A question about people that is not answered yet.
  enum PeopleQuestion: Sendable {
    /// The next page of all.
    case list
    /// Those who are called like this.
    case query
  }

  /// When something was done last, or is to be done, in milliseconds since 1970.
  struct Times: Sendable {
    var pinged: Int64?
    var nextPing: Int64 = .max
    var typed: Int64 = 0
    var sounded: Int64 = 0
    var lastInput: Int64 = 0
    var nextPeople: Int64 = .max
    var nextQuery: Int64 = .max
    /// The first of all who are typing; kept here, since there may be thousands of conversations, and
    /// thousands of events a second.
    var nextTypingEnd: Int64 = .max
    var draftSaved: Int64 = 0
    var isAway = false

    mutating func shift(by milliseconds: Int64) {
      if let pinged { self.pinged = pinged + milliseconds }
      for time in [
        \Self.nextPing, \.typed, \.sounded, \.lastInput, \.nextPeople, \.nextQuery, \.nextTypingEnd,
        \.draftSaved,
      ] where self[keyPath: time] != .max { self[keyPath: time] += milliseconds }
    }
  }

  /// The conversation that is open.
  public var open: Conversation? { timeline.flatMap { conversations[$0.room] } }

  /// What a user is called.
  public func name(of user: String) -> String { names[user] ?? user }
}
