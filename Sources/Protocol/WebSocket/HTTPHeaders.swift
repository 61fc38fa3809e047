/// Header fields in the order of arrival (RFC 9110 §5); names are case-insensitive.
public struct HTTPHeaders: Equatable, Sendable {
  /// One field.
  public struct Field: Equatable, Sendable {
    /// As it was spelled.
    public let name: String
    /// Without surrounding white space.
    public let value: String
    fileprivate let key: String
  }

  /// All fields, in order.
  public private(set) var fields: [Field] = []

  /// Creates an empty list.
  public init() {}

  /// The values of all fields with a name, in order.
  public subscript(name: String) -> [String] {
    let key = name.lowercased()
    return fields.lazy.filter { $0.key == key }.map(\.value)
  }

  /// Returns the only value of a name; `nil` if there is none or more than one.
  public func only(_ name: String) -> String? {
    let values = self[name]
    return values.count == 1 ? values[0] : nil
  }

  /// Returns the elements of a comma-separated list, over all fields with the name (RFC 9110
  /// §5.6.1).
  public func list(_ name: String) -> [String] {
    self[name].flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }
      .map { String(Substring($0.trimmed)) }
      .filter { !$0.isEmpty }
  }

  /// Whether a comma-separated list contains a token, ignoring case.
  public func contains(_ token: String, in name: String) -> Bool {
    let token = token.lowercased()
    return list(name).contains { $0.lowercased() == token }
  }

  /// Whether the text is a valid name of a field (RFC 9110 §5.6.2: a token).
  public static func isName(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(\.isTokenCharacter)
  }

  /// Whether the text is a valid value of a field (RFC 9110 §5.5): validate user input before
  /// sending it.
  public static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy(\.isFieldCharacter)
  }

  /// Adds a field whose parts have been validated.
  mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value, key: name.lowercased()))
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

  /// Whether the byte is optional white space (RFC 9110 §5.6.3).
  var isBlank: Bool { self == UInt8(ascii: " ") || self == UInt8(ascii: "\t") }
}

extension Substring.UTF8View {
  /// The text without surrounding optional white space.
  var trimmed: Substring.UTF8View {
    var rest = self
    while let byte = rest.first, byte.isBlank { rest.removeFirst() }
    while let byte = rest.last, byte.isBlank { rest.removeLast() }
    return rest
  }
}
