/// Which kind of entry a room's log holds; the raw value is what stands on the wire. The protocol
/// grows, so that a client may meet kinds that it does not know: these it passes over.
public struct EntryKind: RawRepresentable, Hashable, Sendable {
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  public static let text = EntryKind(rawValue: "text")
  /// Any JSON.
  public static let data = EntryKind(rawValue: "data")
  /// Another text for an entry of the sender's own.
  public static let edit = EntryKind(rawValue: "edit")
  /// The end of a text of the sender's own.
  public static let delete = EntryKind(rawValue: "delete")
  /// An emoji given to a text, or taken back.
  public static let react = EntryKind(rawValue: "react")

  /// Whether this relay keeps entries of the kind.
  public var isKnown: Bool { isContent || self == .edit || self == .delete || self == .react }

  /// Whether it says something of its own; the others change what was said before, and count as
  /// unread nowhere.
  public var isContent: Bool { self == .text || self == .data }
}

/// One entry of a room's log, as the `message` message carries it.
public struct Entry: Equatable, Sendable {
  /// The largest `seq`: JSON numbers are exact up to here in every client (RFC 8259 §6).
  public static let sequenceLimit: Int64 = (1 << 53) - 1

  public var room: String
  public var seq: Int64
  /// Chosen by the sender; unique per room and sender.
  public var id: String
  public var from: String
  /// Milliseconds since 1970 by the relay's clock; never decreasing in a room.
  public var at: Int64
  public var kind: EntryKind
  /// The kind's own members as JSON without braces (`"text":"hi"`): relayed as they are, so that
  /// text needs no second escaping and `data` stays as it was, byte for byte.
  public var body: [UInt8]

  public init(
    room: String, seq: Int64, id: String, from: String, at: Int64, kind: EntryKind, body: [UInt8]
  ) {
    self.room = room
    self.seq = seq
    self.id = id
    self.from = from
    self.at = at
    self.kind = kind
    self.body = body
  }

  /// Appends the whole `message` object.
  public func append(to json: inout [UInt8]) {
    json.append(member: "{\"type\":\"message\",\"room\":", room)
    json.append(member: ",\"seq\":", seq)
    json.append(member: ",\"id\":", id)
    json.append(member: ",\"from\":", from)
    json.append(member: ",\"at\":", at)
    json.append(member: ",\"kind\":", kind.rawValue)
    if !body.isEmpty { json.append(UInt8(ascii: ",")) }
    json.append(contentsOf: body)
    json.append(UInt8(ascii: "}"))
  }
}
