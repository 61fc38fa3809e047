/// An entry of a room's log, as in a `message`.
public struct Entry: Equatable, Sendable {
  /// The maximum `seq`: JSON numbers are exact up to here in every client (RFC 8259 §6).
  public static let sequenceLimit: Int64 = (1 << 53) - 1

  public var room: String
  public var seq: Int64
  /// Chosen by the sender; unique per room and sender.
  public var id: String
  public var from: String
  /// Milliseconds since 1970 by the relay's clock; never decreasing in a room.
  public var at: Int64
  public var kind: EntryKind
  /// The members of the kind as JSON without braces (`"text":"hi"`). They are relayed unchanged, so
  /// text is not escaped again and `data` is preserved byte for byte.
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

  /// What a user who has blocked the sender is shown of the entry: its place.
  public var hidden: Entry {
    Entry(room: room, seq: seq, id: "", from: "", at: at, kind: .hidden, body: [])
  }

  /// Appends the complete `message` object.
  public func append(to json: inout [UInt8]) {
    // Every other entry has an id.
    if id.isEmpty {
      json.append(member: "{\"type\":\"message\",\"room\":", room)
      json.append(member: ",\"seq\":", seq)
      json.append(member: ",\"at\":", at)
      json.append(member: ",\"kind\":", kind.rawValue)
      json.append("}")
      return
    }
    json.append(addingCapacity: jsonBytesLimit) { output in
      output.append(member: "{\"type\":\"message\",\"room\":", room)
      output.append(member: ",\"seq\":", seq)
      output.append(member: ",\"id\":", id)
      output.append(member: ",\"from\":", from)
      output.append(member: ",\"at\":", at)
      output.append(member: ",\"kind\":", kind.rawValue)
      if !body.isEmpty { output.append(UInt8(ascii: ",")) }
      output.append(body.span)
      output.append(UInt8(ascii: "}"))
    }
  }

  /// The keys have 64 bytes.
  private var jsonBytesLimit: Int {
    let names =
      OutputSpan.jsonBytes(of: room) + OutputSpan.jsonBytes(of: id)
      + OutputSpan.jsonBytes(of: from) + OutputSpan.jsonBytes(of: kind.rawValue)
    return 96 + names + 2 * OutputSpan.decimalBytes + body.count
  }
}
