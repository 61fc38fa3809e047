/// Appends JSON to a byte array; measurements show it ten to a hundred times faster than encoders.
extension [UInt8] {
  mutating func append(_ text: StaticString) {
    unsafe append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Appends decimal digits, without an intermediate string.
  mutating func append(decimal value: Int64) {
    append(addingCapacity: OutputSpan.decimalBytes) { $0.append(decimal: value) }
  }

  /// Appends a string in quotes, with only the escapes that RFC 8259 §7 requires.
  public mutating func append(jsonString string: String) {
    append(jsonString: string.utf8.span)
  }

  /// Appends UTF-8 like `append(jsonString:)`.
  mutating func append(jsonString text: Span<UInt8>) {
    append(UInt8(ascii: "\""))
    var at = 0
    while at < text.count {
      let end = text.plainEnd(from: at)
      append(text.extracting(at..<end))
      guard end < text.count else { break }
      append(escaping: text[end])
      at = end + 1
    }
    append(UInt8(ascii: "\""))
  }

  mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""): append("\\\"")
    case UInt8(ascii: "\\"): append("\\\\")
    case 0x0A: append("\\n")
    case 0x09: append("\\t")
    case 0x0D: append("\\r")
    case 0..<0x20:
      append("\\u00")
      for digit in [byte >> 4, byte & 15] {
        append(digit < 10 ? digit + 0x30 : digit + 0x57)
      }
    default: append(byte)
    }
  }

  mutating func append(member key: StaticString, _ value: String) {
    append(key)
    append(jsonString: value)
  }

  mutating func append(member key: StaticString, _ value: Int64) {
    append(key)
    append(decimal: value)
  }
}

/// Appends JSON to reserved memory: the few messages that every entry needs take fewer instructions
/// that way, because no part of them asks for capacity of its own.
extension OutputSpan where Element == UInt8 {
  /// The longest decimal number with its sign.
  static var decimalBytes: Int { 20 }

  /// The maximum length of a string in quotes: an escape has at most six bytes (RFC 8259 §7).
  static func jsonBytes(of string: String) -> Int { 6 * string.utf8.count + 2 }

  @inline(__always)
  mutating func append(_ text: StaticString) {
    unsafe append(
      UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append($0) }
  }

  @inline(__always)
  private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      precondition(bytes.count <= buffer.count - count, "the caller has reserved enough")
      guard let source = bytes.baseAddress, let start = buffer.baseAddress else { return }
      unsafe (start + count).initialize(from: source, count: bytes.count)
      count += bytes.count
    }
  }

  /// Appends decimal digits, two of them for each division.
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    var digits = 1
    // No magnitude has more than 19 digits, so that the limit does not overflow.
    var limit: UInt64 = 10
    while rest >= limit {
      digits += 1
      limit &*= 10
    }
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      precondition(digits <= buffer.count - count, "the caller has reserved enough")
      count += digits
      var place = count
      while rest >= 100 {
        let pair = Int(truncatingIfNeeded: rest % 100)
        rest /= 100
        place -= 2
        unsafe buffer[place] = decimalPairs.utf8Start[2 * pair]
        unsafe buffer[place + 1] = decimalPairs.utf8Start[2 * pair + 1]
      }
      if rest >= 10 {
        unsafe buffer[place - 2] = UInt8(truncatingIfNeeded: rest / 10) + 0x30
      }
      unsafe buffer[place - 1] = UInt8(truncatingIfNeeded: rest % 10) + 0x30
    }
  }

  /// Appends a string in quotes, with only the escapes that RFC 8259 §7 requires.
  mutating func append(jsonString string: String) {
    let text = string.utf8.span
    append(UInt8(ascii: "\""))
    let plain = append(plainStartOf: text)
    if plain == text.count {
      append(UInt8(ascii: "\""))
    } else {
      var escaped: [UInt8] = []
      escaped.append(jsonString: text.extracting(plain...))
      append(escaped.span.extracting(1...))
    }
  }

  @inline(__always)
  mutating func append(member key: StaticString, _ value: String) {
    append(key)
    append(jsonString: value)
  }

  @inline(__always)
  mutating func append(member key: StaticString, _ value: Int64) {
    append(key)
    append(decimal: value)
  }
}

/// The digits of 00 to 99.
private let decimalPairs: StaticString =
  """
  00010203040506070809101112131415161718192021222324252627282930313233343536373839\
  40414243444546474849505152535455565758596061626364656667686970717273747576777879\
  8081828384858687888990919293949596979899
  """
