/// A `Link` field, such as `<https://…?since=46>; rel="next", <https://…{?since}>; rel="first"`
/// (RFC 8288 §3).
enum LinkField {
  /// Returns the target of a relation, unmodified.
  static func target(_ relation: String, in field: String) -> String? {
    var rest = field[...]
    while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
      let target = rest[rest.index(after: open)..<close]
      rest = rest[rest.index(after: close)...]
      // The parameters end at the next comma outside quotes.
      let parameters = rest.prefix(upTo: endOfParameters(rest))
      rest = rest[parameters.endIndex...]
      if relations(parameters).contains(relation) { return String(target) }
    }
    return nil
  }

  private static func endOfParameters(_ text: Substring) -> Substring.Index {
    var isQuoted = false
    for index in text.indices {
      if text[index] == "\"" { isQuoted.toggle() }
      if text[index] == ",", !isQuoted { return index }
    }
    return text.endIndex
  }

  private static func relations(_ parameters: Substring) -> [String] {
    for parameter in parameters.split(separator: ";") {
      let parts = parameter.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].trimmed.lowercased() == "rel" else { continue }
      return parts[1].trimmed.filter { $0 != "\"" }.split(separator: " ").map { $0.lowercased() }
    }
    return []
  }
}
