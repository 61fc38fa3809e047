/// Header fields in the order of arrival (RFC 9110 §5); names are case-insensitive.
///
/// They are kept as they arrived, and a value becomes a string when it is asked for: most are not.
public struct HTTPHeaders: Equatable, Sendable {
  /// One field.
  public struct Field: Equatable, Sendable {
    /// As it was spelled.
    public let name: String
    /// Without surrounding white space.
    public let value: String
  }

  /// The head that has the fields.
  private let bytes: [UInt8]
  private var places: [(name: Range<Int>, value: Range<Int>)] = []

  /// Finds the fields of a head that a scanner has checked.
  /// - Parameter start: where the first one begins.
  init(scanned head: Span<UInt8>, from start: Int) {
    bytes = Array(copying: head)
    places.reserveCapacity(16)
    var start = start
    for end in start..<bytes.count where bytes[end] == UInt8(ascii: "\r") {
      var colon = start
      while colon < end, bytes[colon] != UInt8(ascii: ":") { colon += 1 }
      if colon < end { places.append((start..<colon, trimmed(colon + 1..<end))) }
      start = end + 2
    }
  }

  /// Whether the fields have the same names, as they were spelled, and values, in the same order.
  public static func == (a: Self, b: Self) -> Bool { a.fields == b.fields }

  /// All fields, in order.
  public var fields: [Field] {
    places.map { Field(name: text($0.name), value: text($0.value)) }
  }

  /// The values of all fields with a name, in order.
  public subscript(name: String) -> [String] {
    var values: [String] = []
    for field in places where equals(field.name, name) { values.append(text(field.value)) }
    return values
  }

  /// Returns the only value of a name; `nil` if there is none or more than one.
  public func only(_ name: String) -> String? {
    var found: Range<Int>?
    for field in places where equals(field.name, name) {
      if found != nil { return nil }
      found = field.value
    }
    return found.map(text)
  }

  /// Returns the elements of a comma-separated list, over all fields with the name (RFC 9110
  /// §5.6.1).
  public func list(_ name: String) -> [String] { elements(name).map(text) }

  /// Whether a comma-separated list contains a token, ignoring case.
  public func contains(_ token: String, in name: String) -> Bool {
    elements(name).contains { equals($0, token) }
  }

  private func elements(_ name: String) -> [Range<Int>] {
    var elements: [Range<Int>] = []
    for field in places where equals(field.name, name) {
      var start = field.value.lowerBound
      let last = field.value.upperBound
      for end in start...last where end == last || bytes[end] == UInt8(ascii: ",") {
        let element = trimmed(start..<end)
        if !element.isEmpty { elements.append(element) }
        start = end + 1
      }
    }
    return elements
  }

  /// The range without surrounding optional white space.
  private func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, bytes[start].isBlank { start += 1 }
    while start < end, bytes[end - 1].isBlank { end -= 1 }
    return start..<end
  }

  private func text(_ range: Range<Int>) -> String {
    String(decoding: bytes.span.extracting(range))
  }

  /// Whether the bytes are a token, ignoring the case of ASCII letters.
  private func equals(_ range: Range<Int>, _ token: String) -> Bool {
    let token = token.utf8.span
    guard range.count == token.count else { return false }
    for index in token.indices
    where bytes[range.lowerBound + index].lowercased != token[index].lowercased {
      return false
    }
    return true
  }

  /// Whether the text is a valid name of a field (RFC 9110 §5.6.2: a token).
  public static func isName(_ text: String) -> Bool {
    let bytes = text.utf8.span
    for index in bytes.indices where !bytes[index].isTokenCharacter { return false }
    return !bytes.isEmpty
  }

  /// Whether the text is a valid value of a field (RFC 9110 §5.5): validate user input before
  /// sending it.
  public static func isValue(_ text: String) -> Bool {
    let bytes = text.utf8.span
    for index in bytes.indices where !bytes[index].isFieldCharacter { return false }
    return true
  }
}

extension UInt8 {
  /// Whether the byte is a `tchar` of RFC 9110 §5.6.2.
  var isTokenCharacter: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"),
      UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// Whether a field's value may contain the byte, including white space (RFC 9110 §5.5).
  var isFieldCharacter: Bool { self >= 0x20 && self != 0x7F || self == UInt8(ascii: "\t") }

  fileprivate var lowercased: UInt8 {
    UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
  }

  /// Whether the byte is optional white space (RFC 9110 §5.6.3).
  var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}
