/// The text between escape sequences: UTF-8 in chunks that may be cut anywhere.
struct TypedText: Sendable {
  /// More scalars of a cluster than any emoji has are not awaited: each read would look at all of
  /// them again.
  static let clusterLimitScalars = 32

  /// The scalars that are not reported yet.
  private var scalars = String.UnicodeScalarView()
  /// The bytes of an incomplete scalar.
  private var partial: [UInt8] = []
  /// Whether the next scalar was typed with Alt.
  var takesAlt = false

  var isEmpty: Bool { scalars.isEmpty && partial.isEmpty }

  mutating func addByte(_ byte: UInt8, into events: inout [InputEvent]) {
    if byte < 0x80 {
      drop()
      append(Unicode.Scalar(byte), into: &events)
    } else if byte >= 0xC0 {
      drop()
      partial = byte < 0xF8 ? [byte] : []
      if partial.isEmpty { takesAlt = false }
    } else if let first = partial.first {
      partial.append(byte)
      if partial.count == (first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4) { decode(into: &events) }
    } else {
      takesAlt = false
    }
  }

  /// Drops invalid UTF-8.
  private mutating func drop() {
    if partial.isEmpty { return }
    partial.removeAll(keepingCapacity: true)
    takesAlt = false
  }

  private mutating func decode(into events: inout [InputEvent]) {
    // Decoding succeeded if it yields one scalar that is not the replacement character, unless that
    // was sent.
    let decoded = String(decoding: partial, as: UTF8.self).unicodeScalars
    let isReplacement = partial == [0xEF, 0xBF, 0xBD]
    if decoded.count == 1, let scalar = decoded.first, isReplacement || scalar != "\u{FFFD}" {
      partial.removeAll(keepingCapacity: true)
      append(scalar, into: &events)
    } else {
      drop()
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar, into events: inout [InputEvent]) {
    // C1 characters are never typed.
    if (0x80..<0xA0).contains(scalar.value) { return }
    if takesAlt {
      takesAlt = false
      flush(isEnd: true, into: &events)
      events.append(.key(Key(.character(Character(scalar)), .alt)))
    } else {
      scalars.append(scalar)
    }
  }

  /// - Parameter isEnd: Whether to report also what might still be continued.
  mutating func flush(isEnd: Bool, into events: inout [InputEvent]) {
    if isEnd {
      partial.removeAll(keepingCapacity: true)
      takesAlt = false
    }
    if scalars.isEmpty { return }
    var text = String(scalars)
    var rest = String.UnicodeScalarView()
    if !isEnd, let last = scalars.last, Self.mayContinue(last), let cluster = text.last,
      cluster.unicodeScalars.count <= Self.clusterLimitScalars
    {
      text.removeLast()
      rest.append(contentsOf: cluster.unicodeScalars)
    }
    for character in text { events.append(.key(Key(.character(character)))) }
    scalars = rest
  }

  /// Whether more scalars may follow: emoji have several (flags, skin tones, families).
  private static func mayContinue(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x80: false
    case 0x200D, 0xFE0F, 0xE0020...0xE007E: true
    default: scalar.properties.isEmoji
    }
  }
}
