/// The kind of a JSON value and its range in the text.
struct JSONValue: Equatable {
  enum Kind: UInt8 {
    case absent, string, escapedString, number, object, array, `true`, `false`, null
  }
  var kind: Kind
  var lower: Int32
  var upper: Int32

  init(_ kind: Kind, _ lower: Int, _ upper: Int) {
    self.kind = kind
    self.lower = Int32(truncatingIfNeeded: lower)
    self.upper = Int32(truncatingIfNeeded: upper)
  }

  static let absent = JSONValue(.absent, 0, 0)

  var range: Range<Int> { Int(lower)..<Int(upper) }
  /// The range of a string without its quotes.
  var inside: Range<Int> { Int(lower) + 1..<Int(upper) - 1 }
  var isString: Bool { kind == .string || kind == .escapedString }
  /// Whether the value is missing; `null` counts as missing.
  var isAbsent: Bool { kind == .absent || kind == .null }
}
