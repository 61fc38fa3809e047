/// A message from a client to the relay.
public enum ClientMessage: Equatable, Sendable {
  case auth(token: String)
  case join(Join)
  /// Joins several rooms; an error stands for one that could not be read.
  case joinRooms([Result<Join, WireError>])
  case leave(room: String, forget: Bool)
  case send(Send)
  case received(room: String, seq: Int64)
  case read(room: String, seq: Int64)
  case typing(room: String, on: Bool)
  case history(HistoryRequest)
  case rooms(RoomsRequest)
  case people(PeopleRequest)
  /// Whether this connection is away; a client cannot set `offline`.
  case presence(isAway: Bool)
  /// `t` is any JSON, which is returned byte for byte.
  case ping(t: [UInt8]?)
  /// Ends all contact with a user, or lets it begin again.
  case block(user: String, on: Bool)
  case blocks
  /// The direct room of a user who is not known yet is no request any more.
  case accept(room: String)
  /// Shows an entry to the room's moderators and the relay's operators.
  case report(room: String, seq: Int64, reason: String)
  /// The reports about a room's entries; `nil` = about all, for an operator.
  case reports(room: String?)
  /// For operators: lets a user in no more, or again. `until`: milliseconds since 1970; `nil` = for good.
  case ban(user: String, on: Bool, until: Int64?)
  /// For operators: removes the entries and the members of a room.
  case deleteRoom(room: String)
  /// For operators: removes what a user has said or is: an entry, all but the entries of a room, or what is
  /// in no room. An entry has a room.
  case erase(user: String, room: String?, seq: Int64?)

  /// The maximum number of characters of a report's reason.
  public static let reasonLimit = MemberChange.reasonLimit

  /// Subscribes to a room, from the client's position.
  public struct Join: Equatable, Sendable {
    public var room: String
    /// The last `seq` that the client has; 0 = from the oldest kept entry; `nil` = from the head.
    public var after: Int64?
    /// The epoch of the log to which `after` refers.
    public var epoch: String?
    /// As the client was told in `joined`, the newest first; tells more than `epoch`.
    public var lineage: [EpochStart]?
    /// Whether to receive the number of subscribed users.
    public var subscribers: Bool

    public init(
      room: String, after: Int64? = nil, epoch: String? = nil, lineage: [EpochStart]? = nil,
      subscribers: Bool = false
    ) {
      self.room = room
      self.after = after
      self.epoch = epoch
      self.lineage = lineage
      self.subscribers = subscribers
    }
  }

  /// Sends a new entry.
  public struct Send: Equatable, Sendable {
    public var room: String
    /// 1 to 64 printable ASCII characters.
    public var id: String
    public var kind: EntryKind
    /// As in `Entry.body`; that of a `forward` has no text, which the relay adds.
    public var body: [UInt8]
    /// What this entry refers to; `nil` for most.
    public var reference: Reference?
    /// The span of the sender's own trace that this is a part of; for traces only, and not stored.
    public var traceparent: Traceparent?

    public init(
      room: String, id: String, kind: EntryKind, body: [UInt8], reference: Reference? = nil
    ) {
      self.room = room
      self.id = id
      self.kind = kind
      self.body = body
      self.reference = reference
    }

    /// Creates a `text` entry. The relay checks the text against its limits.
    /// - Parameter replyTo: the `seq` of the entry that it replies to.
    public init(room: String, id: String, text: String, replyTo: Int64? = nil) {
      var body: [UInt8] = []
      body.append(member: "\"text\":", text)
      if let replyTo { body.append(member: ",\"reply_to\":", replyTo) }
      self.init(
        room: room, id: id, kind: .text, body: body, reference: replyTo.map { .reply(to: $0) })
    }

    /// Creates a `text` entry that forwards an entry of a room that the sender may read.
    public init(room: String, id: String, forward: Forward) {
      var body: [UInt8] = []
      body.append("\"forward\":")
      forward.append(to: &body)
      self.init(room: room, id: id, kind: .text, body: body, reference: .forward(forward))
    }

    /// Creates an edit with a new text for the entry `target`.
    public init(room: String, id: String, edit target: Int64, text: String) {
      var body: [UInt8] = []
      body.append(member: "\"target\":", target)
      body.append(member: ",\"text\":", text)
      self.init(room: room, id: id, kind: .edit, body: body, reference: .target(target))
    }

    /// Creates a deletion of the entry `target`.
    public init(room: String, id: String, delete target: Int64) {
      var body: [UInt8] = []
      body.append(member: "\"target\":", target)
      self.init(room: room, id: id, kind: .delete, body: body, reference: .target(target))
    }

    /// Adds an emoji to the entry `target`, or removes it.
    public init(room: String, id: String, react target: Int64, emoji: String, isOn: Bool) {
      var body: [UInt8] = []
      body.append(member: "\"target\":", target)
      body.append(member: ",\"emoji\":", emoji)
      body.append(isOn ? ",\"on\":true" : ",\"on\":false")
      self.init(room: room, id: id, kind: .react, body: body, reference: .target(target))
    }

    /// Creates a `file` entry.
    public init(room: String, id: String, file: FileContent) {
      self.init(
        room: room, id: id, kind: .file, body: file.body,
        reference: .file(id: file.id, replyTo: file.replyTo))
    }

    /// Changes the settings of a room, or makes a room with them.
    public init(room: String, id: String, settings: RoomSettings.Change) {
      self.init(
        room: room, id: id, kind: .settings, body: settings.body, reference: .settings(settings))
    }

    /// Changes what a user is in a room.
    public init(room: String, id: String, member: MemberChange) {
      self.init(room: room, id: id, kind: .member, body: member.body, reference: .member(member))
    }
  }

  /// What an entry refers to: another entry, or the room itself.
  public indirect enum Reference: Equatable, Sendable {
    case reply(to: Int64)
    case forward(Forward)
    case target(Int64)
    case settings(RoomSettings.Change)
    case member(MemberChange)
    /// A file, which the sender has uploaded or may read, and the entry that it replies to.
    case file(id: String, replyTo: Int64?)
  }

  /// Requests a page of a room's log.
  public struct HistoryRequest: Equatable, Sendable {
    public static let defaultLimit = 50
    public static let limits = 1...500

    public var room: String
    public var before: Int64?
    public var after: Int64?
    public var limit: Int
    /// Whether to return entries in their current state instead of the log as it is.
    public var isFolded: Bool
    /// With `after`: as in `Join`.
    public var epoch: String?
    public var lineage: [EpochStart]?

    public init(
      room: String, before: Int64? = nil, after: Int64? = nil, limit: Int = defaultLimit,
      isFolded: Bool = false, epoch: String? = nil, lineage: [EpochStart]? = nil
    ) {
      self.room = room
      self.before = before
      self.after = after
      self.limit = limit
      self.isFolded = isFolded
      self.epoch = epoch
      self.lineage = lineage
    }
  }

  /// The maximum length of a cursor.
  public static let cursorLimitBytes = 256

  /// Requests a page of the listed rooms and those that the user belongs to.
  public struct RoomsRequest: Equatable, Sendable {
    public static let defaultLimit = 50
    public static let limits = 1...200

    /// The `next` of the previous page.
    public var cursor: String?
    public var limit: Int

    public init(cursor: String? = nil, limit: Int = defaultLimit) {
      self.cursor = cursor
      self.limit = limit
    }
  }

  /// Requests a page of the list of people.
  public struct PeopleRequest: Equatable, Sendable {
    public static let defaultLimit = 50
    public static let limits = 1...200

    /// A part of a name or user name, case-insensitive; empty for all people.
    public var query: String
    /// The `next` of the previous page.
    public var cursor: String?
    public var limit: Int

    public init(query: String = "", cursor: String? = nil, limit: Int = defaultLimit) {
      self.query = query
      self.cursor = cursor
      self.limit = limit
    }
  }

  /// The `type` on the wire.
  public var type: RequestName {
    switch self {
    case .auth: .auth
    case .join, .joinRooms: .join
    case .leave: .leave
    case .send: .send
    case .received: .received
    case .read: .read
    case .typing: .typing
    case .history: .history
    case .rooms: .rooms
    case .people: .people
    case .presence: .presence
    case .ping: .ping
    case .block: .block
    case .blocks: .blocks
    case .accept: .accept
    case .report: .report
    case .reports: .reports
    case .ban: .ban
    case .deleteRoom: .deleteRoom
    case .erase: .erase
    }
  }
}

extension ClientMessage {
  /// The JSON text of this message.
  public var json: [UInt8] { json(ref: nil) }

  /// Returns the JSON text of this message as a request that its answer names.
  /// - Parameter ref: 1 to 64 printable ASCII characters.
  public func json(ref: String?) -> [UInt8] {
    var json: [UInt8] = []
    append(to: &json)
    json.append(ref: ref)
    return json
  }

  /// Appends the JSON text of this message.
  public func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":", type.rawValue)
    switch self {
    case .auth(let token):
      json.append(member: ",\"token\":", token)
    case .join(let join):
      json.append(",")
      join.appendMembers(to: &json)
    case .joinRooms(let joins):
      json.append(",\"rooms\":[")
      for (index, join) in joins.compactMap({ try? $0.get() }).enumerated() {
        json.append(index == 0 ? "{" : ",{")
        join.appendMembers(to: &json)
        json.append("}")
      }
      json.append("]")
    case .leave(let room, let forget):
      json.append(member: ",\"room\":", room)
      if forget { json.append(",\"forget\":true") }
    case .send(let send):
      json.append(member: ",\"room\":", send.room)
      json.append(member: ",\"id\":", send.id)
      json.append(member: ",\"kind\":", send.kind.rawValue)
      if let span = send.traceparent { json.append(member: ",\"traceparent\":", span.text) }
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
      if request.isFolded { json.append(",\"fold\":true") }
      if let epoch = request.epoch { json.append(member: ",\"epoch\":", epoch) }
      json.append(lineage: request.lineage)
    case .rooms(let request):
      if let cursor = request.cursor { json.append(member: ",\"cursor\":", cursor) }
      if request.limit != RoomsRequest.defaultLimit {
        json.append(member: ",\"limit\":", Int64(request.limit))
      }
    case .people(let request):
      if !request.query.isEmpty { json.append(member: ",\"query\":", request.query) }
      if let cursor = request.cursor { json.append(member: ",\"cursor\":", cursor) }
      json.append(member: ",\"limit\":", Int64(request.limit))
    case .presence(let isAway):
      json.append(isAway ? ",\"presence\":\"away\"" : ",\"presence\":\"online\"")
    case .ping(let t):
      if let t {
        json.append(",\"t\":")
        json.append(contentsOf: t)
      }
    case .block(let user, let on):
      json.append(member: ",\"user\":", user)
      json.append(on ? ",\"on\":true" : ",\"on\":false")
    case .blocks: break
    case .accept(let room): json.append(member: ",\"room\":", room)
    case .report(let room, let seq, let reason):
      json.append(member: ",\"room\":", room)
      json.append(member: ",\"seq\":", seq)
      json.append(member: ",\"reason\":", reason)
    case .reports(let room):
      if let room { json.append(member: ",\"room\":", room) }
    case .ban(let user, let on, let until):
      json.append(member: ",\"user\":", user)
      json.append(on ? ",\"on\":true" : ",\"on\":false")
      if let until { json.append(member: ",\"until\":", until) }
    case .deleteRoom(let room): json.append(member: ",\"room\":", room)
    case .erase(let user, let room, let seq):
      json.append(member: ",\"user\":", user)
      if let room { json.append(member: ",\"room\":", room) }
      if let seq { json.append(member: ",\"seq\":", seq) }
    }
    json.append(UInt8(ascii: "}"))
  }
}

extension ClientMessage.Join {
  fileprivate func appendMembers(to json: inout [UInt8]) {
    json.append(member: "\"room\":", room)
    if let after { json.append(member: ",\"after\":", after) }
    if let epoch { json.append(member: ",\"epoch\":", epoch) }
    json.append(lineage: lineage)
    if subscribers { json.append(",\"subscribers\":true") }
  }
}
