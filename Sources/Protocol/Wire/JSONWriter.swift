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
  /// What a decimal number needs: its sign, and three times eight digits.
  static var decimalBytes: Int { 25 }

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

  /// Appends decimal digits, eight of them at a time.
  mutating func append(decimal value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    // No magnitude has more than 19 digits.
    let (upper, low) = value.magnitude.quotientAndRemainder(dividingBy: 100_000_000)
    guard upper > 0 else { return append(digits: low, leadingZeros: false) }
    let (high, middle) = upper.quotientAndRemainder(dividingBy: 100_000_000)
    if high > 0 { append(digits: high, leadingZeros: false) }
    append(digits: middle, leadingZeros: high > 0)
    append(digits: low, leadingZeros: true)
  }

  /// Appends a number below 10^8. Its halves, their halves and these digits are divided in one word
  /// each, by a multiplication (Lemire, "Converting integers to fixed-digit representations quickly").
  @inline(__always)
  private mutating func append(digits number: UInt64, leadingZeros: Bool) {
    let four = number / 10_000 | (number % 10_000) << 32
    let hundreds = (four &* 10_486) >> 20 & 0x0000_007F_0000_007F
    let two = hundreds | (four &- hundreds &* 100) << 16
    let tens = (two &* 103) >> 10 & 0x000F_000F_000F_000F
    let digits = tens | (two &- tens &* 10) << 8
    let skipped =
      leadingZeros ? 0 : Swift.min(7, digits.trailingZeroBitCount / 8)
    let text = (digits | 0x3030_3030_3030_3030) >> UInt64(8 * skipped)
    unsafe withUnsafeMutableBufferPointer { buffer, count in
      precondition(buffer.count - count >= 8, "the caller has reserved enough")
      guard let start = buffer.baseAddress else { return }
      unsafe UnsafeMutableRawPointer(start + count).storeBytes(
        of: text.littleEndian, as: UInt64.self)
      count += 8 - skipped
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
