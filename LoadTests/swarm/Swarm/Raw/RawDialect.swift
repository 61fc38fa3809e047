/// How to speak to a server: what opens a connection, what publishes, and what counts as delivered.
///
/// Texts may hold `{room}`, `{user}`, `{run}` (a tag that is new for each run) and, in
/// ``publish``, `{number}` (of the send, twelve digits) and `{text}`, in ``resume`` also `{after}`.
public struct RawDialect: Equatable, Sendable {
  /// One step from the open WebSocket to a member of the room.
  public enum Step: Equatable, Sendable {
    /// Sends this as a message.
    case send(String)
    /// Waits for a message that contains this; what comes before it is passed over.
    case await(String)
  }

  /// What is one delivery.
  public enum Counting: Equatable, Sendable {
    /// A WebSocket message, told from others by its prefix.
    case messages
    /// An occurrence of ``mark``, with which each text begins: for servers that put several
    /// messages in one frame, or one in several. Acknowledgements then must not repeat the text.
    case marks
  }

  /// With this each text begins, before the time at which it was sent, and it is nowhere else.
  public static let mark = UInt8(ascii: "~")
  /// A prefix is held against the first so many bytes of a message. It is written without spaces;
  /// a server may put some between.
  public static let prefixLimitBytes = 64

  /// What reports call it.
  public var name: String
  /// `Sec-WebSocket-Protocol`, if any.
  public var subprotocol: String?
  /// Path and query; `nil` takes those of the URL.
  public var target: String?
  /// Added to the target's query, such as `user={user}`.
  public var query: String?
  /// Headers of the handshake, besides those that every one has.
  public var headers: [Header] = []
  /// Whether messages are sent in binary frames; those that come are counted either way.
  public var isBinary = false
  /// What makes a connection a member of its room.
  public var prelude: [Step] = []
  /// What one sends that comes back, with `{after}`; empty if the server has no such thing.
  public var resume: [String] = []
  /// What is sent to publish one text.
  public var publish: String
  /// What is one delivery.
  public var counting = Counting.messages
  /// Of ``Counting/messages``: a delivery begins so; `nil`: whatever begins with none of the others.
  public var deliveryPrefix: String?
  /// An acknowledgement begins so; they come in the order of the sends.
  public var ackPrefix: String?
  /// A refusal begins so.
  public var errorPrefix: String?
  /// What else is no delivery begins with one of these.
  public var otherPrefixes: [String] = []

  /// A header field.
  public struct Header: Equatable, Sendable {
    /// As in HTTP.
    public var name: String
    /// As in HTTP.
    public var value: String

    /// A header field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A dialect in which a member is whoever is connected, and a publish is the text alone.
  public init(name: String, publish: String = "{text}") {
    self.name = name
    self.publish = publish
  }
}

extension RawDialect {
  /// Our own relay, and whoever speaks its protocol.
  public static let relay: RawDialect = {
    var dialect = RawDialect(
      name: "relay.v1",
      publish: #"{"type":"send","room":"{room}","id":"{run}-{number}","text":"{text}"}"#)
    dialect.subprotocol = "relay.v1"
    dialect.query = "user={user}"
    dialect.prelude = [
      .send(#"{"type":"join","room":"{room}"}"#), .await(#""joined""#),
    ]
    dialect.resume = [#"{"type":"join","room":"{room}","after":{after}}"#]
    dialect.deliveryPrefix = #"{"type":"message""#
    dialect.ackPrefix = #"{"type":"ack""#
    dialect.errorPrefix = #"{"type":"error""#
    return dialect
  }()

  /// A server that sends back what it gets: each connection is a room of its own.
  public static let echo = RawDialect(name: "echo")

  /// A broadcast server: what a member sends comes back to all of the room, as it is. Which room
  /// that is, the path says.
  public static let plain: RawDialect = {
    var dialect = RawDialect(name: "plain")
    dialect.target = "/room/{room}"
    return dialect
  }()

  /// Those that have a name on the command line.
  public static let known = [relay, echo, plain]
}

extension RawDialect {
  /// Path and query of the request: the dialect's own, or else those of the URL.
  func target(at url: String) -> String {
    var target = self.target ?? Self.target(in: url)
    // A relay's URL without a path means /ws; others mean what they say.
    if target == "/", self == .relay { target = "/ws" }
    guard let query else { return target }
    return target + (target.contains("?") ? "&" : "?") + query
  }

  /// What follows the host in `ws://…`.
  static func target(in url: String) -> String {
    let rest = url[(url.firstRange(of: "://")?.upperBound ?? url.startIndex)...]
    guard let start = rest.firstIndex(where: { "/?".contains($0) }) else { return "/" }
    return rest[start] == "/" ? String(rest[start...]) : "/" + rest[start...]
  }
}
