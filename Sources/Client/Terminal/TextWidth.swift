internal import CUtf8proc

/// The number of columns that text takes in a terminal.
///
/// Terminals and Unicode have no common rule (UAX #11 §6.2 leaves it open), so this follows what
/// most terminals do: the `wcwidth` of each scalar, summed over a grapheme cluster and capped at 2,
/// and 2 for emoji presentation (UTS #51). If terminals are known to disagree, `isCertain(_:)` is
/// false, and the `Differ` takes care that columns stay aligned.
///
/// The widths are libutf8proc's (2.8 in Debian 12: Unicode 15). What it does not know yet, such as
/// emoji and combining marks of Unicode 16, is looked up in the tables of Swift's standard library;
/// in the ideographic planes 2 and 3 unassigned scalars are wide, too (UAX #11).
public enum TextWidth {
  /// A cluster can be arbitrarily long, with a thousand accents; a cell keeps this much of it. The
  /// longest emoji in use has 35 bytes.
  static let clusterLimitBytes = 64

  /// Returns the start of a cluster that a cell keeps.
  static func bounded(_ character: Character) -> Character {
    if character.utf8.count <= clusterLimitBytes { return character }
    var kept = String.UnicodeScalarView()
    var bytes = 0
    for scalar in character.unicodeScalars {
      bytes += UTF8.width(scalar)
      if bytes > clusterLimitBytes { break }
      kept.append(scalar)
    }
    return Character(String(kept))
  }

  /// Returns the columns of one grapheme cluster: 0, 1 or 2.
  ///
  /// 0 is for control characters, line separators, direction marks and other invisible characters,
  /// and for a combining mark without a base: they must not be written to a terminal.
  public static func columns(of character: Character) -> Int { measure(character).columns }

  /// Returns the columns of a text.
  public static func columns(of text: some StringProtocol) -> Int {
    if let count = asciiColumns(of: text) { return count }
    var sum = 0
    for character in text { sum += columns(of: character) }
    return sum
  }

  /// Returns the start of a text that fits into the columns; all of it if it fits.
  ///
  /// - Parameter ellipsis: Whether a cut text ends with `…`, which takes one of the columns.
  public static func prefix(
    of text: some StringProtocol, columns limit: Int, ellipsis: Bool = false
  ) -> String {
    if limit <= 0 { return "" }
    if let count = asciiColumns(of: text), count <= limit { return String(text) }
    // Where the text is cut if it turns out to be too long.
    var cut = text.startIndex
    var column = 0
    var index = text.startIndex
    while index < text.endIndex {
      column += columns(of: text[index])
      if column > limit { return text[..<cut] + (ellipsis ? "…" : "") }
      text.formIndex(after: &index)
      if column <= (ellipsis ? limit - 1 : limit) { cut = index }
    }
    return String(text)
  }

  /// Whether nearly all terminals agree with `columns(of:)` for this cluster.
  ///
  /// False for emoji, flags, joined sequences, and characters that are newer than the terminal.
  public static func isCertain(_ character: Character) -> Bool { measure(character).isCertain }

  /// The columns of a cluster; whether terminals agree on them; and the maximum, which a terminal
  /// uses that displays each scalar separately.
  struct Measure: Equatable {
    var columns: Int
    var isCertain: Bool
    var greatest: Int

    static func certain(_ columns: Int) -> Measure {
      Measure(columns: columns, isCertain: true, greatest: columns)
    }
  }

  static func measure(_ character: Character) -> Measure {
    let bytes = character.utf8
    if bytes.count == 1, let byte = bytes.first { return .certain(isPrintable(byte) ? 1 : 0) }
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return .certain(0) }
    if scalars.index(after: scalars.startIndex) == scalars.endIndex { return measure(first) }
    return measure(scalars, first)
  }

  private static func measure(_ scalar: Unicode.Scalar) -> Measure {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0xAD: return .certain(0)
    case 0xA9, 0xAE: break
    case 0..<0x300, 0x370..<0x483, 0x2500..<0x25A0: return .certain(1)
    // Kana, ideographs, Hangul, and the wide forms of ASCII.
    case 0x3041...0x3096, 0x30A1...0x30FA, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xFF01...0xFF60:
      return .certain(2)
    default: break
    }
    let isKnown = utf8proc_category(Int32(scalar.value)) != UTF8PROC_CATEGORY_CN
    // The emoji below are only the digits and the symbols handled above.
    let isEmoji = scalar.value >= 0x203C && scalar.properties.isEmoji
    let width = width(scalar)
    return Measure(columns: width, isCertain: isKnown && !isEmoji, greatest: max(1, width))
  }

  /// Measures a cluster of several scalars.
  private static func measure(
    _ scalars: Character.UnicodeScalarView, _ first: Unicode.Scalar
  ) -> Measure {
    // CR LF is the only cluster of control characters.
    if width(first) == 0 { return .certain(0) }
    var sum = 0
    var isEmoji = false
    var isText = false
    var isFirst = true
    var bytes = 0
    for scalar in scalars {
      bytes += UTF8.width(scalar)
      if bytes > clusterLimitBytes { break }
      switch scalar.value {
      // Emoji presentation, flags, skin tones (UTS #51).
      case 0xFE0F where first.properties.isEmoji, 0x1F1E6...0x1F1FF, 0x1F3FB...0x1F3FF:
        isEmoji = true
      // Text presentation. It does not make a wide character narrow (UAX #11 §5 does not say so):
      // if a terminal disagrees, there is an extra blank rather than half of a picture.
      case 0xFE0E: isText = first.properties.isEmoji
      // The vowels and finals of a jamo are part of the syllable that the first one begins.
      case 0x1160...0x11FF where !isFirst, 0xD7B0...0xD7FF where !isFirst: continue
      default: break
      }
      sum += width(scalar)
      isFirst = false
    }
    let isWide = isEmoji || first.value >= 0x231A && first.properties.isEmojiPresentation
    let columns = isWide ? 2 : min(2, sum)
    let isCertain = !isWide && !isText && sum <= 2 && isCombined(scalars)
    return Measure(columns: columns, isCertain: isCertain, greatest: max(columns, sum))
  }

  /// Whether it is a letter with accents only, on which terminals agree.
  private static func isCombined(_ scalars: Character.UnicodeScalarView) -> Bool {
    scalars.dropFirst().allSatisfy { (0x300..<0x370).contains($0.value) }
  }

  /// Returns the columns of a scalar in a terminal that does not support clusters.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x7F { return value < 0x20 ? 0 : 1 }
    switch value {
    // Invisible characters to which utf8proc gives a width: Hangul fillers, the soft hyphen.
    case 0xAD, 0x115F, 0x1160, 0x3164, 0xFFA0: return 0
    default: break
    }
    if utf8proc_category(Int32(value)) != UTF8PROC_CATEGORY_CN {
      return Int(utf8proc_charwidth(Int32(value)))
    }
    let properties = scalar.properties
    if properties.isDefaultIgnorableCodePoint { return 0 }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .control, .format: return 0
    default: break
    }
    return properties.isEmojiPresentation || (0x20000...0x3FFFD).contains(value) ? 2 : 1
  }

  @inline(__always)
  static func isPrintable(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F }

  /// Returns the columns of a text of printable ASCII only; nil for other texts.
  private static func asciiColumns(of text: some StringProtocol) -> Int? {
    let utf8 = text.utf8
    let count = utf8.withContiguousStorageIfAvailable { bytes -> Int? in
      for index in bytes.indices where !isPrintable(unsafe bytes[index]) { return nil }
      return bytes.count
    }
    return count ?? nil
  }
}
