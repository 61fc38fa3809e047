/// A message from a client to the relay.
public enum ClientMessage: Equatable, Sendable {
  case auth(token: String)
  case join(Join)
  case leave(room: String, forget: Bool)
  case send(Send)
  case received(room: String, seq: Int64)
  case read(room: String, seq: Int64)
  case typing(room: String, on: Bool)
  case history(HistoryRequest)
  case rooms
  /// `t` is any JSON, to come back byte for byte.
  case ping(t: [UInt8]?)

  /// Subscribe to a room from where the client is.
  public struct Join: Equatable, Sendable {
    public var room: String
    /// The last seq the client has; 0 = from the first kept; absent = from the head.
    public var after: Int64?
    /// The log that `after` belongs to.
    public var epoch: String?
    /// Whether to be told how many users are subscribed.
    public var subscribers: Bool

    public init(
      room: String, after: Int64? = nil, epoch: String? = nil, subscribers: Bool = false
    ) {
      self.room = room
      self.after = after
      self.epoch = epoch
      self.subscribers = subscribers
    }
  }

  /// A new entry.
  public struct Send: Equatable, Sendable {
    public var room: String
    /// 1 to 64 printable ASCII characters.
    public var id: String
    public var kind: EntryKind
    /// As in `Entry.body`.
    public var body: [UInt8]

    public init(room: String, id: String, kind: EntryKind, body: [UInt8]) {
      self.room = room
      self.id = id
      self.kind = kind
      self.body = body
    }

    /// A `text` entry; the relay holds the text against its limits.
    public init(room: String, id: String, text: String) {
      var body: [UInt8] = []
      body.append(member: "\"text\":", text)
      self.init(room: room, id: id, kind: .text, body: body)
    }
  }

  /// A page of a room's log.
  public struct HistoryRequest: Equatable, Sendable {
    public static let defaultLimit = 50
    public static let limits = 1...500

    public var room: String
    public var before: Int64?
    public var after: Int64?
    public var limit: Int

    public init(
      room: String, before: Int64? = nil, after: Int64? = nil, limit: Int = defaultLimit
    ) {
      self.room = room
      self.before = before
      self.after = after
      self.limit = limit
    }
  }

  /// The `type` on the wire.
  public var type: String {
    switch self {
    case .auth: "auth"
    case .join: "join"
    case .leave: "leave"
    case .send: "send"
    case .received: "received"
    case .read: "read"
    case .typing: "typing"
    case .history: "history"
    case .rooms: "rooms"
    case .ping: "ping"
    }
  }
}

extension ClientMessage {
  /// The JSON text of this message.
  public var json: [UInt8] {
    var json: [UInt8] = []
    append(to: &json)
    return json
  }

  /// Appends the JSON text of this message.
  public func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":", type)
    switch self {
    case .auth(let token):
      json.append(member: ",\"token\":", token)
    case .join(let join):
      json.append(member: ",\"room\":", join.room)
      if let after = join.after { json.append(member: ",\"after\":", after) }
      if let epoch = join.epoch { json.append(member: ",\"epoch\":", epoch) }
      if join.subscribers { json.append(",\"subscribers\":true") }
    case .leave(let room, let forget):
      json.append(member: ",\"room\":", room)
      if forget { json.append(",\"forget\":true") }
    case .send(let send):
      json.append(member: ",\"room\":", send.room)
      json.append(member: ",\"id\":", send.id)
      json.append(member: ",\"kind\":", send.kind.rawValue)
      json.append(UInt8(ascii: ","))
      json.append(contentsOf: send.body)
    case .received(let room, let seq), .read(let room, let seq):
      json.append(member: ",\"room\":", room)
      json.append(member: ",\"seq\":", seq)
    case .typing(let room, let on):
      json.append(member: ",\"room\":", room)
      json.append(on ? ",\"on\":true" : ",\"on\":false")
    case .history(let request):
      json.append(member: ",\"room\":", request.room)
      if let before = request.before { json.append(member: ",\"before\":", before) }
      if let after = request.after { json.append(member: ",\"after\":", after) }
      json.append(member: ",\"limit\":", Int64(request.limit))
    case .rooms:
      break
    case .ping(let t):
      if let t {
        json.append(",\"t\":")
        json.append(contentsOf: t)
      }
    }
    json.append(UInt8(ascii: "}"))
  }
}
