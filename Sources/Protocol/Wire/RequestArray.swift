/// Several requests in one text: a JSON array.
public enum RequestArray {
  /// Returns where the elements of the array are; `nil` if the text is not exactly one array.
  public static func elements(in json: Span<UInt8>) -> [Range<Int>]? {
    // An element may be as deep as a message.
    let depth = Span<UInt8>.jsonDepthLimit + 1
    let end = UInt8(ascii: "]")
    do {
      try json.jsonCheckLength()
      var at = 0
      json.jsonSkipSpace(&at)
      let array = try json.jsonSkipValue(&at, limit: depth)
      json.jsonSkipSpace(&at)
      guard array.kind == .array, at == json.count else { return nil }
      at = array.range.lowerBound + 1
      json.jsonSkipSpace(&at)
      if json[at] == end { return [] }
      var elements: [Range<Int>] = []
      repeat {
        elements.append(try json.jsonSkipValue(&at, limit: depth).range)
      } while try json.jsonSkipComma(&at, orClosing: end)
      return elements
    } catch {
      return nil
    }
  }
}

extension ServerMessage {
  /// Returns the JSON of an answer under another `ref`, or without one.
  /// - Parameter json: as this module encodes an answer that has a `ref`.
  public static func renamed(_ json: [UInt8], to ref: String?) -> [UInt8] {
    guard let value = (try? ObjectReader(json.span))?.fields[.ref], value.isString else {
      return json
    }
    let key = Array(#","ref":"#.utf8)
    let lower = value.range.lowerBound - key.count
    guard lower > 0, json[lower..<value.range.lowerBound].elementsEqual(key) else { return json }
    var renamed = Array(json[..<lower])
    if let ref { renamed.append(member: #","ref":"#, ref) }
    return renamed + json[value.range.upperBound...]
  }
}
