/// The reason for which a text is not valid JSON (RFC 8259), and its position.
struct JSONError: Error, Equatable {
  /// The expected token, as the rest of a sentence.
  var expected: StaticString
  /// The number of bytes before the error.
  var offset: Int

  static func == (a: Self, b: Self) -> Bool { a.offset == b.offset }
}

/// Parses JSON in place (RFC 8259): values are found and validated, and not copied into a tree.
///
/// The WebSocket has validated the UTF-8 of text messages, so bytes from 0x80 up are not checked.
extension Span where Element == UInt8 {
  /// The maximum nesting of arrays and objects in a message.
  static var jsonDepthLimit: Int { 64 }

  /// The same for messages from the relay: an entry may have been sent at the limit, and in `rooms`
  /// it is three levels deeper.
  static var jsonRelayedDepthLimit: Int { jsonDepthLimit + 3 }

  /// The maximum length of a text: offsets in it are stored as `Int32`, and its contents have to
  /// fit into buffers whose offsets are, too.
  static var jsonLengthLimit: Int { 1 << 30 }

  /// - Throws: if the text is longer than `jsonLengthLimit`.
  func jsonCheckLength() throws(JSONError) {
    guard count <= Self.jsonLengthLimit else {
      throw JSONError(expected: "the end", offset: Self.jsonLengthLimit)
    }
  }

  func jsonSkipSpace(_ at: inout Int) {
    while at < count, self[at] == 0x20 || self[at] == 0x0A || self[at] == 0x0D || self[at] == 0x09 {
      at += 1
    }
  }

  /// Skips one value of any kind, and returns its kind and range.
  func jsonSkipValue(
    _ at: inout Int, depth: Int = 0, limit: Int = Self.jsonDepthLimit
  ) throws(JSONError) -> JSONValue {
    guard at < count else { throw JSONError(expected: "a value", offset: at) }
    let start = at
    switch self[at] {
    case UInt8(ascii: "\""):
      let escaped = try jsonSkipString(&at)
      return JSONValue(escaped ? .escapedString : .string, start, at)
    case UInt8(ascii: "{"):
      try jsonSkipContainer(&at, closing: UInt8(ascii: "}"), depth: depth, limit)
      return JSONValue(.object, start, at)
    case UInt8(ascii: "["):
      try jsonSkipContainer(&at, closing: UInt8(ascii: "]"), depth: depth, limit)
      return JSONValue(.array, start, at)
    case UInt8(ascii: "t"):
      try jsonSkipWord("true", &at)
      return JSONValue(.true, start, at)
    case UInt8(ascii: "f"):
      try jsonSkipWord("false", &at)
      return JSONValue(.false, start, at)
    case UInt8(ascii: "n"):
      try jsonSkipWord("null", &at)
      return JSONValue(.null, start, at)
    default:
      try jsonSkipNumber(&at)
      return JSONValue(.number, start, at)
    }
  }

  private func jsonSkipWord(_ word: StaticString, _ at: inout Int) throws(JSONError) {
    let length = word.utf8CodeUnitCount
    guard at + length <= count else { throw JSONError(expected: "a value", offset: at) }
    for offset in 0..<length {
      let byte = unsafe word.utf8Start[offset]
      guard self[at + offset] == byte else {
        throw JSONError(expected: "a value", offset: at + offset)
      }
    }
    at += length
  }

  private func jsonSkipDigits(_ at: inout Int) throws(JSONError) {
    let start = at
    while at < count, self[at] &- 0x30 < 10 { at += 1 }
    guard at > start else { throw JSONError(expected: "a digit", offset: at) }
  }

  private func jsonSkipNumber(_ at: inout Int) throws(JSONError) {
    if self[at] == UInt8(ascii: "-") { at += 1 }
    guard at < count, self[at] &- 0x30 < 10 else {
      throw JSONError(expected: "a value", offset: at)
    }
    if self[at] == UInt8(ascii: "0") { at += 1 } else { try jsonSkipDigits(&at) }
    if at < count, self[at] == UInt8(ascii: ".") {
      at += 1
      try jsonSkipDigits(&at)
    }
    if at < count, self[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      if at < count, self[at] == UInt8(ascii: "+") || self[at] == UInt8(ascii: "-") { at += 1 }
      try jsonSkipDigits(&at)
    }
  }

  /// - Returns: whether the string has escapes.
  private func jsonSkipString(_ at: inout Int) throws(JSONError) -> Bool {
    var escaped = false
    at = plainEnd(from: at + 1)
    while at < count {
      switch self[at] {
      case UInt8(ascii: "\""):
        at += 1
        return escaped
      case UInt8(ascii: "\\"):
        escaped = true
        _ = try jsonReadEscape(&at)
        at = plainEnd(from: at)
      default:
        throw JSONError(expected: "an escape for a control character", offset: at)
      }
    }
    throw JSONError(expected: "the end of a string", offset: at)
  }

  /// Reads the escape at `at`; a surrogate pair is one scalar, a lone surrogate is U+FFFD.
  func jsonReadEscape(_ at: inout Int) throws(JSONError) -> Unicode.Scalar {
    guard at + 1 < count else { throw JSONError(expected: "an escape", offset: at) }
    let letter = self[at + 1]
    at += 2
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      let high = try jsonReadHex(&at)
      guard high & 0xF800 == 0xD800 else {
        return Unicode.Scalar(UInt32(high)) ?? "\u{FFFD}"
      }
      guard high < 0xDC00, at + 1 < count, self[at] == UInt8(ascii: "\\"),
        self[at + 1] == UInt8(ascii: "u")
      else { return "\u{FFFD}" }
      var end = at + 2
      let low = try jsonReadHex(&end)
      // Any other escape stands for itself, and is read next.
      guard low & 0xFC00 == 0xDC00 else { return "\u{FFFD}" }
      at = end
      let scalar = 0x10000 + (UInt32(high & 0x3FF) << 10 | UInt32(low & 0x3FF))
      return Unicode.Scalar(scalar) ?? "\u{FFFD}"
    default:
      throw JSONError(expected: "an escape", offset: at - 1)
    }
  }

  private func jsonReadHex(_ at: inout Int) throws(JSONError) -> UInt16 {
    guard at + 4 <= count else { throw JSONError(expected: "four hexadecimal digits", offset: at) }
    var value: UInt16 = 0
    for _ in 0..<4 {
      let byte = self[at]
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x46: digit = byte - 0x37
      case 0x61...0x66: digit = byte - 0x57
      default: throw JSONError(expected: "four hexadecimal digits", offset: at)
      }
      value = value << 4 | UInt16(digit)
      at += 1
    }
    return value
  }

  private func jsonSkipContainer(
    _ at: inout Int, closing: UInt8, depth: Int, _ limit: Int
  ) throws(JSONError) {
    guard depth < limit else {
      throw JSONError(expected: "less nesting", offset: at)
    }
    at += 1
    jsonSkipSpace(&at)
    if at < count, self[at] == closing {
      at += 1
      return
    }
    while true {
      if closing == UInt8(ascii: "}") {
        _ = try jsonSkipKey(&at)
      }
      _ = try jsonSkipValue(&at, depth: depth + 1, limit: limit)
      guard try jsonSkipComma(&at, orClosing: closing) else { return }
    }
  }

  /// Skips `"key" :` and the space around it.
  func jsonSkipKey(_ at: inout Int) throws(JSONError) -> JSONValue {
    guard at < count, self[at] == UInt8(ascii: "\"") else {
      throw JSONError(expected: "a key in quotes", offset: at)
    }
    let start = at
    let escaped = try jsonSkipString(&at)
    let key = JSONValue(escaped ? .escapedString : .string, start, at)
    jsonSkipSpace(&at)
    guard at < count, self[at] == UInt8(ascii: ":") else {
      throw JSONError(expected: "a colon", offset: at)
    }
    at += 1
    jsonSkipSpace(&at)
    return key
  }

  /// Skips a comma or the end of the container; returns `false` at the end.
  func jsonSkipComma(_ at: inout Int, orClosing closing: UInt8) throws(JSONError) -> Bool {
    jsonSkipSpace(&at)
    guard at < count else { throw JSONError(expected: "a comma or the end", offset: at) }
    if self[at] == closing {
      at += 1
      return false
    }
    guard self[at] == UInt8(ascii: ",") else {
      throw JSONError(expected: "a comma or the end", offset: at)
    }
    at += 1
    jsonSkipSpace(&at)
    return true
  }
}

/// Access to a value that has been found.
extension Span where Element == UInt8 {
  /// Returns the text of a JSON string; the value must be one.
  func jsonString(_ value: JSONValue) -> String {
    let inside = extracting(value.inside)
    guard value.kind == .escapedString else { return inside.asString }
    return jsonUnescaped(value).span.asString
  }

  /// Whether valid JSON has the escape of a lone surrogate: many parsers reject such JSON.
  var jsonHasLoneSurrogate: Bool {
    var at = 0
    while at < count {
      let start = plainEnd(from: at)
      at = start + 1
      guard start < count, self[start] == UInt8(ascii: "\\") else { continue }
      at = start
      guard let scalar = try? jsonReadEscape(&at) else { return false }
      // U+FFFD itself is escaped as fffd, a surrogate as d800 to dfff.
      if scalar == "\u{FFFD}", self[start + 2] | 0x20 == UInt8(ascii: "d") { return true }
    }
    return false
  }

  /// Returns the content of a JSON string without escapes.
  func jsonUnescaped(_ value: JSONValue) -> [UInt8] {
    let inside = value.inside
    var bytes: [UInt8] = []
    bytes.reserveCapacity(inside.count)
    var at = inside.lowerBound
    while at < inside.upperBound {
      if self[at] == UInt8(ascii: "\\"), let scalar = try? jsonReadEscape(&at) {
        bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      } else {
        bytes.append(self[at])
        at += 1
      }
    }
    return bytes
  }

  /// Returns a whole number from 0 to 2^53 - 1, however it is written (`1.0`, `10e-1`, `-0`);
  /// otherwise `nil`. The cost is linear in the length, whatever the exponent.
  func jsonSequence(_ value: JSONValue) -> Int64? {
    guard value.kind == .number else { return nil }
    var result: Int64 = 0
    for index in value.range {
      let digit = self[index] &- 0x30
      guard digit < 10, index - value.range.lowerBound < 16 else {
        return jsonWholeNumber(value.range)
      }
      result = result * 10 + Int64(digit)
    }
    return result <= Entry.sequenceLimit ? result : nil
  }

  /// Reads a valid number of any length as `significand` × 10^`scale`; the significand does not end
  /// with a zero.
  private func jsonWholeNumber(_ range: Range<Int>) -> Int64? {
    var significand: Int64 = 0
    var scale = 0
    // Zeros that count only if another digit follows.
    var zeros = 0
    var isFraction = false
    var at = range.lowerBound
    let isNegative = self[at] == UInt8(ascii: "-")
    if isNegative { at += 1 }
    while at < range.upperBound, self[at] | 0x20 != UInt8(ascii: "e") {
      let digit = self[at] &- 0x30
      at += 1
      guard digit < 10 else {
        isFraction = true
        continue
      }
      if isFraction { scale -= 1 }
      if digit == 0 {
        zeros += 1
        continue
      }
      // More digits than 2^53 has are either too large, or do not end before the point.
      let shift = significand == 0 ? 0 : zeros + 1
      guard let shifted = Self.shifted(significand, by: shift) else { return nil }
      significand = shifted + Int64(digit)
      zeros = 0
    }
    if significand == 0 { return 0 }
    guard !isNegative else { return nil }
    scale += zeros + jsonExponent(at..<range.upperBound)
    guard scale >= 0, let result = Self.shifted(significand, by: scale) else { return nil }
    return result <= Entry.sequenceLimit ? result : nil
  }

  /// Returns the exponent of a number, which begins at the `e` if there is one. Exponents that no
  /// number of digits outweighs are cut.
  private func jsonExponent(_ range: Range<Int>) -> Int {
    var exponent = 0
    for index in range {
      let digit = self[index] &- 0x30
      if digit < 10 { exponent = Swift.min(exponent * 10 + Int(digit), 4 * Self.jsonLengthLimit) }
    }
    let isNegative = range.count > 1 && self[range.lowerBound + 1] == UInt8(ascii: "-")
    return isNegative ? -exponent : exponent
  }

  /// Returns `value` × 10^`digits`; `nil` if that has more than 17 digits.
  private static func shifted(_ value: Int64, by digits: Int) -> Int64? {
    guard digits <= 17 else { return nil }
    var value = value
    for _ in 0..<digits {
      guard value < 10_000_000_000_000_000 else { return nil }
      value *= 10
    }
    return value
  }

  /// Whether a value is this string, with or without escapes.
  func jsonEquals(_ value: JSONValue, _ word: StaticString) -> Bool {
    guard value.kind == .string else {
      return value.kind == .escapedString && jsonString(value) == "\(word)"
    }
    let inside = value.inside
    guard inside.count == word.utf8CodeUnitCount else { return false }
    for offset in 0..<inside.count {
      let byte = unsafe word.utf8Start[offset]
      if self[inside.lowerBound + offset] != byte { return false }
    }
    return true
  }

  /// Whether a value is this string, written without escapes.
  func jsonEquals(_ value: JSONValue, unescaped text: String) -> Bool {
    value.kind == .string && extracting(value.inside).equals(text.utf8.span)
  }

  /// The bytes as a string; invalid UTF-8 is replaced.
  var asString: String {
    unsafe withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}

extension Span where Element == UInt8 {
  /// Whether the bytes are those of another span. Eight of them are compared at a time, the last
  /// eight also if they overlap those before.
  func equals(_ other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    guard count >= 8 else {
      for index in 0..<count where self[index] != other[index] { return false }
      return true
    }
    let (own, others): (RawSpan, RawSpan) = unsafe (bytes, other.bytes)
    var index = 0
    while index < count {
      let place = Swift.min(index, count &- 8)
      let word = unsafe own.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
      let otherWord = unsafe others.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
      guard word == otherWord else { return false }
      index &+= 8
    }
    return true
  }

  /// A copy as an array.
  var bytes: [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(count)
    copy.append(self)
    return copy
  }
}
