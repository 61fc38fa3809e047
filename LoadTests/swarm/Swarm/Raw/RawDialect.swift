/// The protocol of a server: the messages that open a connection and publish, and what counts as a
/// delivery.
///
/// Texts may contain the placeholders `{room}`, `{user}` and `{run}` (a tag that is new for each
/// run); ``publish`` also `{number}` (of the send, twelve digits), `{text}` and `{lane}` (the number
/// modulo ``RawLoad/Plan/lanes``, five digits), ``resume`` also `{after}`.
public struct RawDialect: Equatable, Sendable {
  /// One step from the open WebSocket to membership of the room.
  public enum Step: Equatable, Sendable {
    /// Sends this as a message.
    case send(String)
    /// Waits for a message that contains this; earlier messages are ignored.
    case await(String)
  }

  /// What counts as one delivery.
  public enum Counting: Equatable, Sendable {
    /// A WebSocket message, identified by its prefix.
    case messages
    /// An occurrence of ``mark``, with which each text begins: for servers that put several
    /// messages in one frame, or split one over several. Acknowledgements then must not repeat the
    /// text.
    case marks
  }

  /// The first character of each text, before the time at which it was sent; it occurs nowhere
  /// else.
  public static let mark = UInt8(ascii: "~")
  /// A prefix is compared with this many bytes at the start of a message. It is written without
  /// spaces; the server may insert some.
  public static let prefixLimitBytes = 64

  /// The name in reports.
  public var name: String
  /// `Sec-WebSocket-Protocol`, if any.
  public var subprotocol: String?
  /// Path and query; `nil` uses those of the URL.
  public var target: String?
  /// Appended to the target's query, such as `user={user}`.
  public var query: String?
  /// Additional headers of the handshake.
  public var headers: [Header] = []
  /// Whether messages are sent in binary frames; received messages of both kinds are counted.
  public var isBinary = false
  /// The steps that make a connection a member of its room.
  public var prelude: [Step] = []
  /// The messages that a returning member sends, with `{after}`; empty if the server cannot resume.
  public var resume: [String] = []
  /// The message that publishes a text.
  public var publish: String
  /// What counts as one delivery.
  public var counting = Counting.messages
  /// The prefix of a delivery, for ``Counting/messages``; `nil`: a delivery is a message with none
  /// of the other prefixes.
  public var deliveryPrefix: String?
  /// The prefix of an acknowledgement; they arrive in the order of the sends.
  public var ackPrefix: String?
  /// The prefix of a refusal.
  public var errorPrefix: String?
  /// The prefixes of other messages that are not deliveries.
  public var otherPrefixes: [String] = []

  /// A header field.
  public struct Header: Equatable, Sendable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: String

    /// Creates a header field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// Creates a dialect in which every connection is a member, and a publish is the text alone.
  public init(name: String, publish: String = "{text}") {
    self.name = name
    self.publish = publish
  }
}

extension RawDialect {
  /// Whether clients join by a message.
  var asksToJoin: Bool {
    prelude.contains { if case .send = $0 { true } else { false } }
  }

  /// The relay, and other servers that implement its protocol.
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

  /// An echo server: each connection is a room of its own.
  public static let echo = RawDialect(name: "echo")

  /// A broadcast server: it sends every message unchanged to all members of the room, which the
  /// path names.
  public static let plain: RawDialect = {
    var dialect = RawDialect(name: "plain")
    dialect.target = "/room/{room}"
    return dialect
  }()

  /// The dialects with a name on the command line.
  public static let known = [relay, echo, plain]
}

extension RawDialect {
  /// Returns path and query of the request: the dialect's own, or else those of the URL.
  func target(at url: String) -> String {
    var target = self.target ?? Self.target(in: url)
    // For a relay a URL without a path means /ws; for other servers it is taken literally.
    if target == "/", self == .relay { target = "/ws" }
    guard let query else { return target }
    return target + (target.contains("?") ? "&" : "?") + query
  }

  /// Returns the part after the host in `ws://…`.
  static func target(in url: String) -> String {
    let rest = url[(url.firstRange(of: "://")?.upperBound ?? url.startIndex)...]
    guard let start = rest.firstIndex(where: { "/?".contains($0) }) else { return "/" }
    return rest[start] == "/" ? String(rest[start...]) : "/" + rest[start...]
  }
}
