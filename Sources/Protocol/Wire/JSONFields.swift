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
    case topic, access, history, post, slowSeconds, role, until, by, deletedBy
    case users, request, reports, copy, traceparent
    case file, size, mediaType, width, height, durationMilliseconds, thumbnail, placeholder,
      fileBytes

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
      case .slowSeconds: "slow_s"
      case .deletedBy: "deleted_by"
      case .mediaType: "media_type"
      case .durationMilliseconds: "duration_ms"
      case .fileBytes: "file_bytes"
      default: "\(self)"
      }
    }
  }

  /// Larger than the number of keys, so that a new key needs no change here.
  private var values = InlineArray<128, JSONValue>(repeating: .absent)

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
    var front: UInt64 = 0
    /// The length of the name; 0 = no row.
    var count = 0
    var key = 0
  }

  /// A power of two, large enough that most keys have a row of their own.
  private static let size = 256
  /// An open-addressing table.
  private let rows: [Row]
  private let names: [[UInt8]]

  static let shared = KeyTable()

  private init() {
    names = JSONFields.Key.allCases.map { Array($0.name.utf8) }
    var rows = Array(repeating: Row(), count: Self.size)
    for (key, name) in names.enumerated() {
      let front = Self.front(of: name.span)
      var place = Self.place(front, name.count)
      while rows[place].count > 0 { place = (place + 1) % Self.size }
      rows[place] = Row(front: front, count: name.count, key: key)
    }
    self.rows = rows
  }

  /// The first eight bytes, the first one lowest; missing ones are 0.
  private static func front(of name: Span<UInt8>) -> UInt64 {
    if name.count >= 8 {
      return unsafe name.bytes.unsafeLoadUnaligned(as: UInt64.self).littleEndian
    }
    var word: UInt64 = 0
    for index in name.indices { word |= UInt64(name[index]) << UInt64(index * 8) }
    return word
  }

  private static func place(_ front: UInt64, _ count: Int) -> Int {
    let hash = (front ^ UInt64(truncatingIfNeeded: count)) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: hash >> 56) % size
  }

  func find(_ key: JSONValue, in json: Span<UInt8>) -> Int? {
    guard key.kind == .string else {
      return find(name: json.jsonUnescaped(key).span)
    }
    return find(name: json.extracting(key.inside))
  }

  private func find(name: Span<UInt8>) -> Int? {
    let front = Self.front(of: name)
    var place = Self.place(front, name.count)
    while rows[place].count > 0 {
      if rows[place].front == front, rows[place].count == name.count {
        let key = rows[place].key
        let known = names[key]
        if name.count <= 8 || name.equals(known.span) { return key }
      }
      place = (place + 1) % Self.size
    }
    return nil
  }
}
