/// The members of a JSON object that relay.v1 defines, found in a single pass. Unknown ones are
/// validated and skipped; the last of a repeated one counts.
struct JSONFields {
  /// The names of all members, in messages of both directions.
  enum Key: Int, CaseIterable {
    case type, room, id, kind, text, data, seq, on, after, before, epoch, limit, t, token, forget
    case message, code, re, field, support, head, first, resume, read, received, members, user
    case entries, more, rooms, title, unread, listed, peer, last, reason, session, server, time
    case limits, from, at, duplicate, retryAfter, resetAt, reconnectAfter, heartbeat, version
    case subscribers, frameBytes, textBytes, sendsPerSecond, burst
    case requestsPerSecond, bytesPerSecond
    case replyTo, forward, target, emoji, fold, editedAt, deleted, reactions, reactionsMore
    case unreadMore
    case query, cursor, people, next, source, asOf, name, avatar, presence, lastSeen, bot
    case ref, lineage, expiresIn

    /// The name on the wire.
    var name: String {
      switch self {
      case .retryAfter: "retry_after_ms"
      case .resetAt: "reset_at"
      case .reconnectAfter: "reconnect_after_ms"
      case .heartbeat: "heartbeat_s"
      case .version: "protocol"
      case .frameBytes: "frame_bytes"
      case .textBytes: "text_bytes"
      case .sendsPerSecond: "sends_per_s"
      case .requestsPerSecond: "requests_per_s"
      case .bytesPerSecond: "bytes_per_s"
      case .replyTo: "reply_to"
      case .editedAt: "edited_at"
      case .reactionsMore: "reactions_more"
      case .unreadMore: "unread_more"
      case .asOf: "as_of"
      case .expiresIn: "expires_in_ms"
      case .lastSeen: "last_seen"
      default: "\(self)"
      }
    }
  }

  /// Larger than the number of keys, so that a new key needs no change here.
  private var values = InlineArray<96, JSONValue>(repeating: .absent)

  subscript(key: Key) -> JSONValue { values[key.rawValue] }

  /// - Parameter depthLimit: levels of nesting, including the object itself.
  /// - Throws: `JSONError` unless `json` is exactly one object.
  init(
    _ json: Span<UInt8>, depthLimit: Int = Span<UInt8>.jsonDepthLimit
  ) throws(JSONError) {
    try read(json, depthLimit)
  }

  /// Creates the members before the first error in `json`.
  init(readableIn json: Span<UInt8>) {
    try? read(json, Span<UInt8>.jsonDepthLimit)
  }

  private mutating func read(_ json: Span<UInt8>, _ depthLimit: Int) throws(JSONError) {
    try json.jsonCheckLength()
    var at = 0
    json.jsonSkipSpace(&at)
    guard at < json.count, json[at] == UInt8(ascii: "{") else {
      throw JSONError(expected: "an object", offset: at)
    }
    at += 1
    json.jsonSkipSpace(&at)
    if at < json.count, json[at] == UInt8(ascii: "}") {
      at += 1
    } else {
      repeat {
        let key = try json.jsonSkipKey(&at)
        let value = try json.jsonSkipValue(&at, depth: 1, limit: depthLimit)
        if let known = KeyTable.shared.find(key, in: json) { values[known] = value }
      } while try json.jsonSkipComma(&at, orClosing: UInt8(ascii: "}"))
    }
    json.jsonSkipSpace(&at)
    guard at == json.count else { throw JSONError(expected: "the end", offset: at) }
  }
}

/// Finds a key by its length and its first eight bytes, which are compared as one word.
private struct KeyTable: Sendable {
  private struct Row: Sendable {
    var front: UInt64
    var name: [UInt8]
    var key: Int
  }
  private var rowsByLength: [[Row]]

  static let shared = KeyTable()

  private init() {
    rowsByLength = []
    for key in JSONFields.Key.allCases {
      let name = Array(key.name.utf8)
      while rowsByLength.count <= name.count { rowsByLength.append([]) }
      rowsByLength[name.count].append(
        Row(front: Self.front(of: name.span), name: name, key: key.rawValue))
    }
  }

  private static func front(of name: Span<UInt8>) -> UInt64 {
    var word: UInt64 = 0
    for index in 0..<min(8, name.count) { word = word << 8 | UInt64(name[index]) }
    return word
  }

  func find(_ key: JSONValue, in json: Span<UInt8>) -> Int? {
    guard key.kind == .string else {
      return find(name: json.jsonUnescaped(key).span)
    }
    return find(name: json.extracting(key.inside))
  }

  private func find(name: Span<UInt8>) -> Int? {
    guard name.count < rowsByLength.count else { return nil }
    let front = Self.front(of: name)
    for row in rowsByLength[name.count] where row.front == front {
      var index = 8
      while index < name.count, row.name[index] == name[index] { index += 1 }
      if index >= name.count { return row.key }
    }
    return nil
  }
}
