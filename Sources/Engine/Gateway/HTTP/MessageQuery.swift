import WebSocket
import Wire

extension HTTPCall.Message {
  static func history(of room: String, _ request: HTTPRequest) -> Self {
    var query = MessageQuery("history")
    query.add("room", string: room)
    for name in ["before", "after", "limit"] { query.add(name, number: request.query(name)) }
    query.add("fold", flag: request.query("fold"))
    if let epoch = request.query("epoch") { query.add("epoch", string: epoch) }
    if let lineage = request.query("lineage") { query.add(lineage: lineage) }
    return .history(query.json)
  }

  static func rooms(in request: HTTPRequest) -> Self {
    var query = MessageQuery("rooms")
    if let cursor = request.query("cursor") { query.add("cursor", string: cursor) }
    query.add("limit", number: request.query("limit"))
    return .rooms(query.json)
  }

  static func people(in request: HTTPRequest) -> Self {
    var query = MessageQuery("people")
    for name in ["query", "cursor"] {
      if let value = request.query(name) { query.add(name, string: value) }
    }
    query.add("limit", number: request.query("limit"))
    return .people(query.json)
  }
}

/// A message built from a query. A value that does not have the form of its field becomes a string,
/// which the decoder of the message then refuses with the name of the field.
private struct MessageQuery {
  private var members: [UInt8]

  init(_ type: String) { members = Array("{\"type\":\"\(type)\"".utf8) }

  mutating func add(_ name: String, string value: String) {
    members += Array(",\"\(name)\":".utf8)
    members.append(jsonString: value)
  }

  mutating func add(_ name: String, number value: String?) {
    guard let value else { return }
    let isNumber =
      (1...16).contains(value.utf8.count) && value.utf8.allSatisfy { 0x30...0x39 ~= $0 }
      && (value == "0" || !value.hasPrefix("0"))
    guard isNumber else { return add(name, string: value) }
    members += Array(",\"\(name)\":\(value)".utf8)
  }

  mutating func add(_ name: String, flag value: String?) {
    guard let value else { return }
    switch value {
    case "", "1", "true": members += Array(",\"\(name)\":true".utf8)
    case "0", "false": members += Array(",\"\(name)\":false".utf8)
    default: add(name, string: value)
    }
  }

  mutating func add(lineage value: String) {
    guard let lineage = [EpochStart](query: value) else { return add("lineage", string: value) }
    members.append(lineage: lineage)
  }

  var json: [UInt8] { members + [UInt8(ascii: "}")] }
}
