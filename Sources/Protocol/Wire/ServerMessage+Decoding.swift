/// The reason for which a message is not relay.v1: the peer is another service, or newer.
public enum UndecodableMessage: Error, Equatable, Sendable {
  /// Not one JSON object.
  case json
  /// A type that this client does not know; the protocol may add types, so ignore it.
  case unknownType(String)
  /// A field is missing or has the wrong type.
  case field(type: String, name: String)
}

extension ServerMessage {
  /// Returns the `ref` of the request that a message answers.
  public static func ref(in json: Span<UInt8>) -> String? {
    (try? ObjectReader(json))?.optionalString(.ref, json)
  }

  /// Returns the type of a message, and the room and `seq` that it names.
  public static func place(
    in json: Span<UInt8>
  ) -> (type: String, room: String?, seq: Int64?)? {
    guard let reader = try? ObjectReader(json) else { return nil }
    return (
      reader.type, reader.optionalString(.room, json), json.jsonSequence(reader.fields[.seq])
    )
  }

  /// Decodes one message as a client does. Unknown fields are ignored.
  public init(decoding json: Span<UInt8>) throws(UndecodableMessage) {
    let reader = try ObjectReader(json)
    switch reader.type {
    case "welcome": self = .welcome(try Welcome(reader, json))
    case "renewed":
      self = .renewed(expiresInMilliseconds: json.jsonSequence(reader.fields[.expiresIn]))
    case "ok": self = .ok
    case "joined": self = .joined(try Joined(reader, json))
    case "left": self = .left(room: try reader.string(.room, json), Departure(reader, json))
    case "message": self = .message(try Entry(reader, json))
    case "ack":
      self = .ack(
        Ack(
          room: try reader.string(.room, json), id: try reader.string(.id, json),
          seq: try reader.integer(.seq, json), at: try reader.integer(.at, json),
          duplicate: reader.flag(.duplicate), ref: reader.optionalString(.ref, json)))
    case "history":
      self = .history(
        HistoryPage(
          room: try reader.string(.room, json),
          entries: try reader.array(.entries, json) ?? [],
          first: try reader.integer(.first, json), head: try reader.integer(.head, json),
          more: reader.flag(.more), epoch: reader.optionalString(.epoch, json) ?? "",
          resume: reader.optionalString(.resume, json).flatMap(Resume.init),
          after: json.jsonSequence(reader.fields[.after])))
    case "receipt":
      self = .receipt(room: try reader.string(.room, json), try Marks(reader, json))
    case "typing":
      self = .typing(
        room: try reader.string(.room, json), user: try reader.string(.user, json),
        on: reader.flag(.on))
    case "subscribers":
      self = .subscribers(
        room: try reader.string(.room, json), count: try reader.integer(.subscribers, json))
    case "rooms":
      self = .rooms(
        try reader.array(.rooms, json) ?? [], next: reader.optionalString(.next, json))
    case "people": self = .people(try PeoplePage(reader, json))
    case "presence": self = .presence(try UserPresence(reader, json))
    case "activity":
      var activity = Activity(
        room: try reader.string(.room, json), head: try reader.integer(.head, json),
        unread: try reader.integer(.unread, json), unreadMore: reader.flag(.unreadMore),
        last: try reader.object(.last, json))
      activity.isRequest = reader.flag(.request)
      self = .activity(activity)
    case "blocks":
      guard reader.fields[.users].kind == .array else { throw reader.bad(.users) }
      self = .blocks(try json.extracting(reader.fields[.users].range).jsonStrings())
    case "reports": self = .reports(try reader.array(.reports, json) ?? [])
    case "pong":
      let t = reader.fields[.t]
      self = .pong(
        t: t.kind == .absent ? nil : json.extracting(t.range).bytes,
        time: try reader.integer(.time, json))
    case "error": self = .error(try WireError(reader, json))
    case "closing":
      self = .closing(
        reason: try reader.string(.reason, json),
        reconnectAfterMilliseconds: try reader.integer(.reconnectAfter, json))
    default: throw .unknownType(reader.type)
    }
  }
}

/// An object inside a message that can be decoded.
protocol WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage)
}

extension ServerMessage.Marks: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      user: try reader.string(.user, json), read: try reader.integer(.read, json),
      received: try reader.integer(.received, json))
    role = reader.role(json)
  }
}

extension ObjectReader {
  /// `nil` if it is absent or one that this client does not know.
  fileprivate func role(_ json: Span<UInt8>) -> Role? {
    optionalString(.role, json).flatMap(Role.init)
  }
}

extension ServerMessage.Departure {
  /// `nil` for the answer to `leave`.
  fileprivate init?(_ reader: ObjectReader, _ json: Span<UInt8>) {
    guard let seq = json.jsonSequence(reader.fields[.seq]) else { return nil }
    self.init(
      seq: seq, by: reader.optionalString(.by, json) ?? "", role: reader.role(json),
      reason: reader.optionalString(.reason, json))
  }
}

extension ServerMessage.RoomDescription {
  /// `nil` for a room without settings and members of its own.
  fileprivate init?(_ reader: ObjectReader, _ json: Span<UInt8>) {
    guard
      let access = reader.optionalString(.access, json).flatMap(RoomSettings.Access.init)
    else { return nil }
    self.init(
      title: reader.optionalString(.title, json), topic: reader.optionalString(.topic, json),
      access: access, role: reader.role(json))
  }
}

extension ServerMessage.RoomSummary: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      room: try reader.string(.room, json), title: reader.optionalString(.title, json) ?? "",
      head: try reader.integer(.head, json), read: try reader.integer(.read, json),
      unread: try reader.integer(.unread, json), unreadMore: reader.flag(.unreadMore),
      listed: reader.flag(.listed),
      peer: reader.optionalString(.peer, json), last: try reader.object(.last, json))
    avatar = reader.optionalString(.avatar, json)
    presence = reader.presence(json)
    lastSeen = json.jsonSequence(reader.fields[.lastSeen])
    about = ServerMessage.RoomDescription(reader, json)
    isRequest = reader.flag(.request)
  }
}

extension ServerMessage.Report: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      room: try reader.string(.room, json), seq: try reader.integer(.seq, json),
      by: reader.optionalString(.by, json) ?? "",
      reason: reader.optionalString(.reason, json) ?? "",
      at: json.jsonSequence(reader.fields[.at]), copy: try reader.object(.copy, json))
  }

  /// Decodes a report from the entry that it is recorded in.
  public init(recorded entry: Entry) throws(UndecodableMessage) {
    guard let data = entry.data.map(Array.init) else { throw .json }
    let span = data.span
    try self.init(ObjectReader(span), span)
    at = entry.at
  }
}

extension ServerMessage.PeoplePage: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      people: try reader.array(.people, json) ?? [], next: reader.optionalString(.next, json),
      source: reader.optionalString(.source, json) ?? "", asOf: try reader.integer(.asOf, json))
  }
}

extension ServerMessage.PersonRow: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      user: try reader.string(.user, json), name: reader.optionalString(.name, json) ?? "",
      avatar: reader.optionalString(.avatar, json), presence: reader.presence(json) ?? .offline,
      lastSeen: json.jsonSequence(reader.fields[.lastSeen]), isBot: reader.flag(.bot),
      room: reader.optionalString(.room, json))
  }
}

extension ServerMessage.UserPresence: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    guard let presence = reader.presence(json) else { throw reader.bad(.presence) }
    self.init(
      user: try reader.string(.user, json), presence: presence,
      lastSeen: json.jsonSequence(reader.fields[.lastSeen]))
  }
}

extension ServerMessage.Joined: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    guard
      let resume = ServerMessage.Resume(rawValue: reader.optionalString(.resume, json) ?? "")
    else { throw reader.bad(.resume) }
    self.init(
      room: try reader.string(.room, json), epoch: try reader.string(.epoch, json),
      head: try reader.integer(.head, json), first: try reader.integer(.first, json),
      after: try reader.integer(.after, json), resume: resume,
      read: try reader.integer(.read, json), received: try reader.integer(.received, json),
      members: try reader.array(.members, json),
      lineage: try reader.array(.lineage, json) ?? [],
      subscribers: json.jsonSequence(reader.fields[.subscribers]))
    about = ServerMessage.RoomDescription(reader, json)
  }
}

extension ServerMessage.Welcome: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    self.init(
      user: try reader.string(.user, json), session: try reader.string(.session, json),
      server: reader.optionalString(.server, json) ?? "", time: try reader.integer(.time, json),
      heartbeatSeconds: try reader.integer(.heartbeat, json),
      limits: try reader.object(.limits, json) ?? ServerMessage.Welcome.Limits(),
      expiresInMilliseconds: json.jsonSequence(reader.fields[.expiresIn]))
  }
}

extension ServerMessage.Welcome.Limits: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    func limit(_ key: JSONFields.Key) -> Int { Int(json.jsonSequence(reader.fields[key]) ?? 0) }
    frameBytes = limit(.frameBytes)
    textBytes = limit(.textBytes)
    rooms = limit(.rooms)
    sendsPerSecond = limit(.sendsPerSecond)
    burst = limit(.burst)
    requestsPerSecond = limit(.requestsPerSecond)
    bytesPerSecond = limit(.bytesPerSecond)
    fileBytes = json.jsonSequence(reader.fields[.fileBytes]).map { Int($0) }
  }
}

extension WireError: WireObject {
  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    let name = try reader.string(.code, json)
    self.init(
      ErrorCode(rawValue: name) ?? .unknown,
      reader.optionalString(.message, json) ?? "The relay answered \(name).",
      room: reader.optionalString(.room, json), id: reader.optionalString(.id, json),
      field: reader.optionalString(.field, json),
      retryAfterMilliseconds: json.jsonSequence(reader.fields[.retryAfter]))
    type = reader.optionalString(.re, json)
    resetAt = json.jsonSequence(reader.fields[.resetAt])
    until = json.jsonSequence(reader.fields[.until])
    ref = reader.optionalString(.ref, json)
    support = reader.optionalString(.support, json)
    seq = json.jsonSequence(reader.fields[.seq])
  }
}
