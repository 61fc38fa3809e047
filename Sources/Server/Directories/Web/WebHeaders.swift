/// The header fields of a response, by their names in lower case.
struct WebHeaders: Equatable, Sendable {
  private var values: [String: String] = [:]
  private var bytes = 0
  /// The limit of all fields; fields beyond it are dropped.
  private static let limitBytes = 65_536

  init() {}

  init(_ fields: [String: String]) {
    for (name, value) in fields { add("\(name): \(value)") }
  }

  subscript(name: String) -> String? { values[name] }

  /// Adds a line of the head. A status line begins another response: the last one counts.
  mutating func add(_ line: String) {
    if line.hasPrefix("HTTP/") {
      self = WebHeaders()
      return
    }
    bytes += line.utf8.count
    guard bytes <= Self.limitBytes, let colon = line.firstIndex(of: ":") else { return }
    let name = line[..<colon].lowercased()
    let value = line[line.index(after: colon)...].trimmed
    // RFC 9110 §5.3: the values of a repeated field form a list.
    values[name] = values[name].map { "\($0), \(value)" } ?? value
  }
}
