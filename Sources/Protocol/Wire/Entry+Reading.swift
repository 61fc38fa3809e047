/// Access to the members of an entry's body. Each property parses the body anew.
extension Entry {
  /// The unescaped text of a `text` or `edit` entry, empty if it was deleted, or the caption of a `file`; `nil`
  /// for other kinds.
  public var text: String? {
    kind.isEditable || kind == .edit ? read { $0.optionalString(.text, $1) } : nil
  }

  /// What a `file` entry says; `nil` for other kinds, and if it was deleted.
  public var file: FileContent? { kind == .file ? read { FileContent($0, $1) } : nil }

  /// The JSON of a `data` entry, byte for byte; `nil` for other kinds.
  public var data: ArraySlice<UInt8>? {
    let object = braced
    guard kind == .data, let fields = try? JSONFields(object.span) else { return nil }
    return object[fields[.data].range]
  }

  /// The `seq` of the target of an `edit`, `delete` or `react`.
  public var target: Int64? { read { $1.jsonSequence($0.fields[.target]) } }

  /// The `seq` of the entry in the same room that a `text` replies to.
  public var replyTo: Int64? { read { $1.jsonSequence($0.fields[.replyTo]) } }

  /// The origin of a forwarded `text`.
  public var forward: Forward? {
    read { reader, json in (try? reader.object(.forward, json)) ?? nil }
  }

  /// The emoji that a `react` adds or removes.
  public var reaction: (emoji: String, isOn: Bool)? {
    read { reader, json in
      reader.optionalString(.emoji, json).map { ($0, reader.flag(.on)) }
    }
  }

  /// What a `settings` entry changes; `nil` for other kinds.
  public var settings: RoomSettings.Change? {
    kind == .settings ? read { RoomSettings.Change($0, $1) } : nil
  }

  /// What a `member` entry says; `nil` for other kinds, and for roles that are not known.
  public var member: MemberChange? { kind == .member ? read { MemberChange($0, $1) } : nil }

  /// Whether the entry was deleted and redacted: clients cannot send an empty text, or data that is
  /// marked as deleted.
  public var isDeleted: Bool {
    switch kind {
    case .text: text == ""
    case .data, .file: read { reader, _ in reader.flag(.deleted) } == true
    default: false
    }
  }

  /// Whether a string has the escape of a lone surrogate, which the relay neither stores nor sends.
  public var hasLoneSurrogate: Bool { body.span.jsonHasLoneSurrogate }

  /// When the text was last edited, in milliseconds since 1970; only in folded entries.
  public var editedAt: Int64? { read { $1.jsonSequence($0.fields[.editedAt]) } }

  /// The users who reacted with each emoji, in the order of the oldest reaction of each; only in
  /// folded entries. If there are very many, only the first of them: see `reactionsMore`.
  public var reactions: [(emoji: String, users: [String])] {
    read { reader, json in
      guard reader.fields[.reactions].kind == .object else { return [] }
      return try? json.extracting(reader.fields[.reactions].range).jsonStringLists()
    } ?? []
  }

  /// The number of users of each emoji that `reactions` does not list.
  public var reactionsMore: [String: Int64] {
    read { reader, json in
      guard reader.fields[.reactionsMore].kind == .object else { return [:] }
      return try? json.extracting(reader.fields[.reactionsMore].range).jsonSequences()
    } ?? [:]
  }

  private func read<Value>(_ body: (ObjectReader, Span<UInt8>) -> Value?) -> Value? {
    let object = braced
    let span = object.span
    guard let reader = try? ObjectReader(span) else { return nil }
    return body(reader, span)
  }

  private var braced: [UInt8] { [UInt8(ascii: "{")] + body + [UInt8(ascii: "}")] }
}

/// The bodies of deleted entries. Clients can send neither an empty text nor `deleted`.
extension Entry {
  /// The body that this entry has after a deletion.
  /// - Parameter moderator: who has deleted it, unless that is its sender.
  public func deletedBody(by moderator: String? = nil) -> [UInt8] {
    var body = kind.deletedBody
    if let moderator { body.append(member: ",\"deleted_by\":", moderator) }
    return body
  }

  /// Whether the body is that of a deletion.
  public var hasDeletedBody: Bool {
    body.starts(with: kind.deletedBody)
  }

  /// Who has deleted the entry, unless that is its sender.
  public var deletedBy: String? {
    hasDeletedBody ? read { $0.optionalString(.deletedBy, $1) } : nil
  }

  public static let deletedTextBody = Array("\"text\":\"\"".utf8)
  public static let deletedDataBody = Array("\"data\":null,\"deleted\":true".utf8)
  public static let deletedFileBody = Array("\"deleted\":true".utf8)

  /// Returns the body of an edit of the deleted entry `target`.
  public static func deletedEditBody(of target: Int64) -> [UInt8] {
    Array("\"target\":\(target),\"text\":\"\"".utf8)
  }
}

extension EntryKind {
  /// How the body of a deleted entry of this kind begins.
  fileprivate var deletedBody: [UInt8] {
    switch self {
    case .data: Entry.deletedDataBody
    case .file: Entry.deletedFileBody
    default: Entry.deletedTextBody
    }
  }
}

extension Entry: WireObject {
  /// Decodes a `message` object, as in `message`, `history` and the relay's own export.
  public init(decoding json: Span<UInt8>) throws(UndecodableMessage) {
    try self.init(ObjectReader(json), json)
  }

  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    let kind = EntryKind(rawValue: try reader.string(.kind, json))
    let isHidden = kind == .hidden
    self.init(
      room: try reader.string(.room, json), seq: try reader.integer(.seq, json),
      id: isHidden ? "" : try reader.string(.id, json),
      from: isHidden ? "" : try reader.string(.from, json),
      at: try reader.integer(.at, json), kind: kind,
      body: isHidden ? [] : try Self.body(of: kind, reader, json))
  }

  /// The members that a body may have, in the order in which the relay writes them.
  private static let bodyKeys: [JSONFields.Key] = [
    .target, .text, .emoji, .on, .data, .replyTo, .forward, .deleted, .deletedBy, .editedAt,
    .reactions,
    .reactionsMore,
  ]

  private static let settingsKeys: [JSONFields.Key] = [
    .title, .topic, .access, .history, .post, .slowSeconds,
  ]
  private static let memberKeys: [JSONFields.Key] = [.user, .role, .until, .reason]
  private static let fileKeys: [JSONFields.Key] = [
    .file, .name, .text, .replyTo, .size, .mediaType, .width, .height, .durationMilliseconds,
    .thumbnail, .deleted, .deletedBy, .editedAt, .reactions, .reactionsMore,
  ]

  private static func body(
    of kind: EntryKind, _ reader: ObjectReader, _ json: Span<UInt8>
  ) throws(UndecodableMessage) -> [UInt8] {
    let fields = reader.fields
    switch kind {
    case .text: guard fields[.text].isString else { throw reader.bad(.text) }
    case .data: guard fields[.data].kind != .absent else { throw reader.bad(.data) }
    case .edit:
      _ = try reader.integer(.target, json)
      guard fields[.text].isString else { throw reader.bad(.text) }
    case .delete: _ = try reader.integer(.target, json)
    case .react:
      _ = try reader.integer(.target, json)
      guard fields[.emoji].isString else { throw reader.bad(.emoji) }
    case .member:
      guard fields[.user].isString else { throw reader.bad(.user) }
      guard fields[.role].isString else { throw reader.bad(.role) }
    case .settings: break
    case .file:
      guard reader.flag(.deleted) || fields[.file].isString && fields[.name].isString else {
        throw reader.bad(.file)
      }
    default: return try json.jsonMembers(but: [.type, .room, .seq, .id, .from, .at, .kind])
    }
    let keys =
      switch kind {
      case .settings: settingsKeys
      case .member: memberKeys
      case .file: fileKeys
      default: bodyKeys
      }
    var body: [UInt8] = []
    for key in keys where fields[key].kind != .absent {
      if !body.isEmpty { body.append(",") }
      body.append("\"")
      body.append(contentsOf: key.name.utf8)
      body.append("\":")
      body.append(json.extracting(fields[key].range))
    }
    return body
  }
}

/// Access to objects with arbitrary keys. Each must have been validated before.
extension Span where Element == UInt8 {
  /// Returns the members with other names than these, unchanged.
  fileprivate func jsonMembers(
    but known: [JSONFields.Key]
  ) throws(UndecodableMessage) -> [UInt8] {
    var members: [UInt8] = []
    let known = known.map(\.name)
    try forEachJSONMember { (key, member, _) in
      if known.contains(jsonString(key)) { return }
      if !members.isEmpty { members.append(",") }
      members.append(extracting(member))
    }
    return members
  }

  /// Returns an object of arrays of strings.
  fileprivate func jsonStringLists() throws(UndecodableMessage) -> [(String, [String])] {
    var lists: [(String, [String])] = []
    try forEachJSONMember { (key, _, value) in
      guard value.kind == .array else { return }
      let strings = try extracting(value.range).jsonStrings()
      lists.append((jsonString(key), strings))
    }
    return lists
  }

  /// Returns the strings of an array.
  func jsonStrings() throws(UndecodableMessage) -> [String] {
    var strings: [String] = []
    var at = 1
    jsonSkipSpace(&at)
    if self[at] == UInt8(ascii: "]") { return [] }
    do {
      repeat {
        let item = try jsonSkipValue(&at)
        if item.isString { strings.append(jsonString(item)) }
      } while try jsonSkipComma(&at, orClosing: UInt8(ascii: "]"))
    } catch {
      throw .json
    }
    return strings
  }

  /// Returns an object of numbers.
  fileprivate func jsonSequences() throws(UndecodableMessage) -> [String: Int64] {
    var numbers: [String: Int64] = [:]
    try forEachJSONMember { (key, _, value) in numbers[jsonString(key)] = jsonSequence(value) }
    return numbers
  }

  private func forEachJSONMember(
    _ body: (_ key: JSONValue, _ member: Range<Int>, _ value: JSONValue) throws -> Void
  ) throws(UndecodableMessage) {
    var at = 0
    jsonSkipSpace(&at)
    at += 1
    jsonSkipSpace(&at)
    if self[at] == UInt8(ascii: "}") { return }
    do {
      repeat {
        let start = at
        let key = try jsonSkipKey(&at)
        let value = try jsonSkipValue(&at, limit: Self.jsonRelayedDepthLimit)
        try body(key, start..<value.range.upperBound, value)
      } while try jsonSkipComma(&at, orClosing: UInt8(ascii: "}"))
    } catch {
      throw .json
    }
  }
}
