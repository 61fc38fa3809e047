/// What stands in an entry's body. Each property reads the body anew.
extension Entry {
  /// What a `text` or `edit` entry says, unescaped; empty where it was deleted, `nil` for other kinds.
  public var text: String? {
    kind == .text || kind == .edit ? read { $0.optionalString(.text, $1) } : nil
  }

  /// The JSON of a `data` entry, byte for byte; `nil` for another kind.
  public var data: ArraySlice<UInt8>? {
    let object = braced
    guard kind == .data, let fields = try? JSONFields(object.span) else { return nil }
    return object[fields[.data].range]
  }

  /// The `seq` of the entry that an `edit`, a `delete` or a `react` is about.
  public var target: Int64? { read { $1.jsonSequence($0.fields[.target]) } }

  /// The `seq` of the entry in the same room that a `text` answers.
  public var replyTo: Int64? { read { $1.jsonSequence($0.fields[.replyTo]) } }

  /// Where a forwarded `text` comes from.
  public var forward: Forward? {
    read { reader, json in (try? reader.object(.forward, json)) ?? nil }
  }

  /// What a `react` gives or takes back.
  public var reaction: (emoji: String, isOn: Bool)? {
    read { reader, json in
      reader.optionalString(.emoji, json).map { ($0, reader.flag(.on)) }
    }
  }

  /// Whether the text or the data is gone, as a later read shows it: no text that was sent is empty,
  /// and no data that was sent is said to be deleted.
  public var isDeleted: Bool {
    switch kind {
    case .text: text == ""
    case .data: read { reader, _ in reader.flag(.deleted) } == true
    default: false
    }
  }

  /// When the text was last changed, in milliseconds since 1970; only where entries were folded.
  public var editedAt: Int64? { read { $1.jsonSequence($0.fields[.editedAt]) } }

  /// Who reacted with what, in the order of the first of each; only where entries were folded. Where
  /// very many did, the first of them: see `reactionsMore`.
  public var reactions: [(emoji: String, users: [String])] {
    read { reader, json in
      guard reader.fields[.reactions].kind == .object else { return [] }
      return try? json.extracting(reader.fields[.reactions].range).jsonStringLists()
    } ?? []
  }

  /// How many more users reacted with an emoji than `reactions` names.
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

/// What is left of what was deleted. No text that was sent is empty, and `deleted` is the relay's to
/// say.
extension Entry {
  public static let deletedTextBody = Array("\"text\":\"\"".utf8)
  public static let deletedDataBody = Array("\"data\":null,\"deleted\":true".utf8)

  /// What is left of an entry of its kind.
  public var deletedBody: [UInt8] { kind == .data ? Self.deletedDataBody : Self.deletedTextBody }

  /// Of an edit of the entry `target`.
  public static func deletedEditBody(of target: Int64) -> [UInt8] {
    Array("\"target\":\(target),\"text\":\"\"".utf8)
  }
}

extension Entry: WireObject {
  /// Reads a `message` object, as `message`, `history` and the relay's own export have it.
  public init(decoding json: Span<UInt8>) throws(UndecodableMessage) {
    try self.init(ObjectReader(json), json)
  }

  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    let kind = EntryKind(rawValue: try reader.string(.kind, json))
    self.init(
      room: try reader.string(.room, json), seq: try reader.integer(.seq, json),
      id: try reader.string(.id, json), from: try reader.string(.from, json),
      at: try reader.integer(.at, json), kind: kind, body: try Self.body(of: kind, reader, json))
  }

  /// The members that a body may have, in the order in which the relay writes them.
  private static let bodyKeys: [JSONFields.Key] = [
    .target, .text, .emoji, .on, .data, .replyTo, .forward, .deleted, .editedAt, .reactions,
    .reactionsMore,
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
    default: return try json.jsonMembers(but: [.type, .room, .seq, .id, .from, .at, .kind])
    }
    var body: [UInt8] = []
    for key in bodyKeys where fields[key].kind != .absent {
      if !body.isEmpty { body.append(",") }
      body.append("\"")
      body.append(contentsOf: key.name.utf8)
      body.append("\":")
      body.append(json.extracting(fields[key].range))
    }
    return body
  }
}

/// Objects whose keys are not known beforehand. Each must have been found well-formed before.
extension Span where Element == UInt8 {
  /// The members of an object with other names than these, as they stand there.
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

  /// An object of arrays of strings.
  fileprivate func jsonStringLists() throws(UndecodableMessage) -> [(String, [String])] {
    var lists: [(String, [String])] = []
    try forEachJSONMember { (key, _, value) in
      guard value.kind == .array else { return }
      var strings: [String] = []
      let array = extracting(value.range)
      var at = 1
      array.jsonSkipSpace(&at)
      if array[at] != UInt8(ascii: "]") {
        repeat {
          let item = try array.jsonSkipValue(&at)
          if item.isString { strings.append(array.jsonString(item)) }
        } while try array.jsonSkipComma(&at, orClosing: UInt8(ascii: "]"))
      }
      lists.append((jsonString(key), strings))
    }
    return lists
  }

  /// An object of numbers.
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
