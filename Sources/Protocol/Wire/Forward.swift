/// A reference to the forwarded entry, in the same room or another one.
public struct Forward: Equatable, Sendable, WireObject {
  public var room: String
  public var seq: Int64
  /// The original sender; set by the relay, ignored in messages from clients.
  public var from: String?

  public init(room: String, seq: Int64, from: String? = nil) {
    self.room = room
    self.seq = seq
    self.from = from
  }

  init(_ reader: ObjectReader, _ json: Span<UInt8>) throws(UndecodableMessage) {
    room = try reader.string(.room, json)
    seq = try reader.integer(.seq, json)
    from = reader.optionalString(.from, json)
  }

  /// Appends the JSON object.
  public func append(to json: inout [UInt8]) {
    json.append(member: "{\"room\":", room)
    json.append(member: ",\"seq\":", seq)
    if let from { json.append(member: ",\"from\":", from) }
    json.append("}")
  }
}
