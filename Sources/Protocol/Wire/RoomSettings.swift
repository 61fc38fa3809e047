/// The settings of a room, as the `settings` entries up to some entry of its log have them.
public struct RoomSettings: Equatable, Sendable {
  public enum Access: String, CaseIterable, Sendable {
    /// For everyone who is not banned.
    case open
    /// For members; for all others the room does not exist.
    case `private`
  }

  public enum History: String, CaseIterable, Sendable {
    case all
    /// Members read what was sent since they were let in.
    case joined
  }

  public enum Posting: String, CaseIterable, Sendable {
    case everyone
    /// Members may read, edit and delete their own, and react.
    case moderators
  }

  public var title: String?
  public var topic: String?
  public var access = Access.open
  public var history = History.all
  public var posting = Posting.everyone
  /// Between two texts of a member, in seconds.
  public var slowSeconds: Int64 = 0

  public init() {}

  /// What a `settings` entry changes; `nil` = it stays.
  public struct Change: Equatable, Sendable {
    public var title: String?
    public var topic: String?
    public var access: Access?
    public var history: History?
    public var posting: Posting?
    public var slowSeconds: Int64?

    public init() {}

    /// In characters, as Unicode scalars.
    static let titleLimit = 100
    static let topicLimit = 1000
    package static let slowLimit: Int64 = 3600

    public var isEmpty: Bool { self == Change() }
  }

  public mutating func apply(_ change: Change) {
    title = change.title ?? title
    topic = change.topic ?? topic
    access = change.access ?? access
    history = change.history ?? history
    posting = change.posting ?? posting
    slowSeconds = change.slowSeconds ?? slowSeconds
  }

  /// The change that makes these of the settings of a new room.
  public var change: Change {
    var change = Change()
    change.title = title
    change.topic = topic
    change.access = access
    change.history = history
    change.posting = posting
    change.slowSeconds = slowSeconds
    return change
  }
}

extension RoomSettings.Change {
  /// Its JSON members without braces, as in the body of an entry.
  public var body: [UInt8] {
    var body: [UInt8] = []
    func append(_ key: JSONFields.Key, _ value: String?) {
      guard let value else { return }
      body.appendKey(key)
      body.append(jsonString: value)
    }
    append(.title, title)
    append(.topic, topic)
    append(.access, access?.rawValue)
    append(.history, history?.rawValue)
    append(.post, posting?.rawValue)
    if let slowSeconds {
      body.appendKey(.slowSeconds)
      body.append(decimal: slowSeconds)
    }
    return body
  }

  /// Reads the body of an entry. What this relay does not know of is left out.
  init(_ reader: ObjectReader, _ json: Span<UInt8>) {
    func name(_ key: JSONFields.Key) -> String { reader.optionalString(key, json) ?? "" }
    self.init()
    title = reader.optionalString(.title, json)
    topic = reader.optionalString(.topic, json)
    access = RoomSettings.Access(rawValue: name(.access))
    history = RoomSettings.History(rawValue: name(.history))
    posting = RoomSettings.Posting(rawValue: name(.post))
    slowSeconds = json.jsonSequence(reader.fields[.slowSeconds])
  }

  /// Reads a body, as a store keeps it; `nil` if it is none.
  public init?(body: [UInt8]) {
    let object = [UInt8(ascii: "{")] + body + [UInt8(ascii: "}")]
    guard let reader = try? ObjectReader(object.span) else { return nil }
    self.init(reader, object.span)
  }
}

extension [UInt8] {
  /// Appends the key of a member, after a comma unless it is the first.
  fileprivate mutating func appendKey(_ key: JSONFields.Key) {
    if !isEmpty { append(",") }
    append("\"")
    append(contentsOf: key.name.utf8)
    append("\":")
  }
}
