/// The part of the open conversation that is loaded, in order, what waits at the end.
public struct Timeline: Equatable, Sendable {
  /// Which line of which message stands at the lower edge.
  public enum Scroll: Equatable, Sendable {
    /// The newest, also when more comes.
    case newest
    /// This line of this message, wherever others come and go: from 0, where what depends on the
    /// message before it (a date, a name) stands above, at negative ones.
    case at(Message.Key, line: Int)
  }

  public var room: String
  public var messages: [Message] = []
  public var scroll = Scroll.newest
  /// Where the message of `scroll` was last.
  var hint = Hint()
  /// The message that actions are about.
  public var selected: Message.Key?
  /// The line "new" stands above the first message after this `seq`; `nil` for no line.
  public var unreadAfter: Int64?
  /// So many have come below since it was scrolled up.
  public var newBelow = 0
  /// Whether older ones are being asked for.
  public var isLoading = false
  /// Whether there is nothing before the first.
  public var isComplete = false
  /// Newer ones have come that are not loaded: it was scrolled up for too long.
  var isDetached = false
  /// How far the user had read when the connection came.
  var readBefore: Int64 = 0
  /// Nothing was loaded yet.
  var isFresh = true
  /// The messages found by a search, and which of them is looked at.
  public var found: Set<Message.Key> = []

  public init(room: String) { self.room = room }

  /// Spares a search, and says nothing about the timeline.
  struct Hint: Equatable, Sendable {
    var index = 0

    static func == (_: Hint, _: Hint) -> Bool { true }
  }
}
