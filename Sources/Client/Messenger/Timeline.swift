/// The loaded part of the open conversation, in order, with the waiting messages at the end.
public struct Timeline: Equatable, Sendable {
  /// The line that is at the lower edge of the pane.
  public enum Scroll: Equatable, Sendable {
    /// The newest, including those that arrive later.
    case newest
    /// This line of this message, even if messages around it come and go. Lines are counted from 0;
    /// the lines above the message that depend on its predecessor (a date, a name) are negative.
    case at(Message.Key, line: Int)
  }

  public var room: String
  public var messages: [Message] = []
  public var scroll = Scroll.newest
  /// Where the message of `scroll` was found last.
  var hint = Hint()
  /// The message to which actions apply.
  public var selected: Message.Key? { didSet { if selected == nil { anchor = nil } } }
  /// The other end of the selection, if several messages are selected.
  var anchor: Message.Key?
  /// Whether keys that move the selected message keep the anchor: after the key that marks.
  var isMarked = false
  /// The line "new" is drawn above the first message after this `seq`; `nil` for no line.
  public var unreadAfter: Int64?
  /// The number of messages that arrived while the user had scrolled up.
  public var newBelow = 0
  /// Whether older messages have been requested.
  public var isLoading = false
  /// Whether there are no older messages.
  public var isComplete = false
  /// Newer messages have arrived that are not loaded, because the user has scrolled up for too
  /// long.
  var isDetached = false
  /// Whether newer messages have been requested.
  var isLoadingNewer = false
  /// The user's read mark when the connection was made.
  var readBefore: Int64 = 0
  /// Nothing has been loaded yet.
  var isFresh = true
  /// The messages that the search has found.
  public var found: Set<Message.Key> = []

  public init(room: String) { self.room = room }

  /// Speeds up a search; all hints compare equal.
  struct Hint: Equatable, Sendable {
    var index = 0

    static func == (_: Hint, _: Hint) -> Bool { true }
  }
}
