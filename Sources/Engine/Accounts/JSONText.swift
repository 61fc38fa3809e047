internal import Wire

/// A JSON value that is written once.
enum JSONText {
  case text(String)
  case number(Int64)
  case flag(Bool)
  case list([JSONText])
  /// Members without a value are left out.
  case object([(String, JSONText?)])

  var bytes: [UInt8] {
    var json: [UInt8] = []
    append(to: &json)
    return json
  }

  private func append(to json: inout [UInt8]) {
    switch self {
    case .text(let text): json.append(jsonString: text)
    case .number(let number): json += Array(String(number).utf8)
    case .flag(let flag): json += Array((flag ? "true" : "false").utf8)
    case .list(let elements):
      json.append(UInt8(ascii: "["))
      for (place, element) in elements.enumerated() {
        if place > 0 { json.append(UInt8(ascii: ",")) }
        element.append(to: &json)
      }
      json.append(UInt8(ascii: "]"))
    case .object(let members):
      json.append(UInt8(ascii: "{"))
      var isFirst = true
      for case (let name, let value?) in members {
        if !isFirst { json.append(UInt8(ascii: ",")) }
        isFirst = false
        json.append(jsonString: name)
        json.append(UInt8(ascii: ":"))
        value.append(to: &json)
      }
      json.append(UInt8(ascii: "}"))
    }
  }
}
