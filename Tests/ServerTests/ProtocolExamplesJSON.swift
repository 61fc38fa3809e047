import TestSupport

/// A JSON value (RFC 8259): enough to compare what a relay sent with what an article shows.
enum JSON: Equatable {
  case null
  case bool(Bool)
  /// As it was written: sent and shown messages must agree to the letter.
  case number(String)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads exactly one value.
  init(_ text: some StringProtocol) throws {
    var reader = JSONReader(Array(text.utf8))
    self = try reader.value()
    guard reader.isAtEnd else { throw reader.failure("the end") }
  }

  /// A member of an object; `nil` if there is none.
  subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// The kind of a value, for those that differ from run to run.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "bool"
    case .number: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

private struct JSONReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool {
    mutating get {
      skipSpace()
      return at == bytes.count
    }
  }

  func failure(_ expected: String) -> Unexpected {
    Unexpected("not JSON: \(expected) was expected at byte \(at)")
  }

  mutating func value() throws -> JSON {
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    case UInt8(ascii: "\""): return .string(try string())
    default: return try word()
    }
  }

  private var peek: UInt8? { at < bytes.count ? bytes[at] : nil }

  private mutating func skipSpace() {
    while let byte = peek, byte == 0x20 || (0x09...0x0D).contains(byte) { at += 1 }
  }

  /// Whether `byte` comes next; if so, skips it.
  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    skipSpace()
    guard peek == UInt8(ascii: byte) else { return false }
    at += 1
    return true
  }

  private mutating func members() throws -> [String: JSON] {
    var members: [String: JSON] = [:]
    at += 1
    if take("}") { return members }
    repeat {
      skipSpace()
      let name = try string()
      guard take(":") else { throw failure("a colon") }
      guard members.updateValue(try value(), forKey: name) == nil else {
        throw Unexpected("\"\(name)\" stands twice in one object")
      }
    } while take(",")
    guard take("}") else { throw failure("a comma or }") }
    return members
  }

  private mutating func elements() throws -> [JSON] {
    var elements: [JSON] = []
    at += 1
    if take("]") { return elements }
    repeat { elements.append(try value()) } while take(",")
    guard take("]") else { throw failure("a comma or ]") }
    return elements
  }

  private mutating func string() throws -> String {
    guard peek == UInt8(ascii: "\"") else { throw failure("a string") }
    at += 1
    var text: [UInt8] = []
    while let byte = peek, byte != UInt8(ascii: "\"") {
      at += 1
      guard byte == UInt8(ascii: "\\") else {
        text.append(byte)
        continue
      }
      text.append(contentsOf: String(try escaped()).utf8)
    }
    guard peek != nil else { throw failure("the end of a string") }
    at += 1
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escaped() throws -> Unicode.Scalar {
    guard let byte = peek else { throw failure("an escape") }
    at += 1
    switch byte {
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "u"):
      let digits = String(decoding: bytes[at..<min(at + 4, bytes.count)], as: UTF8.self)
      guard let code = UInt16(digits, radix: 16), let scalar = Unicode.Scalar(code) else {
        throw failure("four digits that are no surrogate")
      }
      at += 4
      return scalar
    default: throw failure("an escape")
    }
  }

  private mutating func word() throws -> JSON {
    let start = at
    while let byte = peek, !"{}[]\",: \n\r\t".utf8.contains(byte) { at += 1 }
    let word = String(decoding: bytes[start..<at], as: UTF8.self)
    switch word {
    case "null": return .null
    case "true": return .bool(true)
    case "false": return .bool(false)
    default:
      guard Double(word) != nil else { throw failure("a value") }
      return .number(word)
    }
  }
}
