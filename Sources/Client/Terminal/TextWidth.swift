internal import CUtf8proc

/// How many columns text takes in a terminal.
///
/// Terminals and Unicode have no common rule (UAX #11 §6.2 leaves it open), so this follows what most
/// terminals do: the width of each scalar as `wcwidth` has it, summed over a grapheme cluster and
/// at most 2, and 2 for what is shown as an emoji (UTS #51). Where terminals are known to disagree
/// `isCertain(_:)` says so, and the `Differ` then takes care that columns stay straight.
///
/// The widths are libutf8proc's (2.8 in Debian 12: Unicode 15). What it does not know yet, emoji and
/// combining marks of Unicode 16 say, is looked up in the tables of Swift's standard library; the
/// ideographic planes 2 and 3 are wide also where nothing is assigned (UAX #11).
public enum TextWidth {
  /// A cluster may be as long as it likes, with a thousand accents; a cell takes this much of it.
  /// The longest emoji that is in use has 35.
  static let clusterLimitBytes = 64

  /// The front of a cluster that a cell takes.
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

  /// The columns of one grapheme cluster: 0, 1 or 2.
  ///
  /// 0 are control characters, separators of lines, direction marks and other invisible ones, and a
  /// combining mark that has nothing to combine with: they are not to be written to a terminal.
  public static func columns(of character: Character) -> Int { measure(character).columns }

  /// The columns of a text.
  public static func columns(of text: some StringProtocol) -> Int {
    if let count = asciiColumns(of: text) { return count }
    var sum = 0
    for character in text { sum += columns(of: character) }
    return sum
  }

  /// The front of a text that fits into so many columns; the text if all of it does.
  ///
  /// - Parameter ellipsis: whether what is cut ends with `…`, which takes one of the columns.
  public static func prefix(
    of text: some StringProtocol, columns limit: Int, ellipsis: Bool = false
  ) -> String {
    if limit <= 0 { return "" }
    if let count = asciiColumns(of: text), count <= limit { return String(text) }
    // Where it is cut if it turns out to be too long.
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

  /// Whether about every terminal gives the cluster the columns that it has here.
  ///
  /// Not so with emoji, flags, what is joined, and whatever is newer than the terminal.
  public static func isCertain(_ character: Character) -> Bool { measure(character).isCertain }

  /// A cluster's columns; whether terminals agree on them; and the most that one would use that
  /// shows each scalar by itself.
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
    // Below there are only the digits and what is above.
    let isEmoji = scalar.value >= 0x203C && scalar.properties.isEmoji
    let width = width(scalar)
    return Measure(columns: width, isCertain: isKnown && !isEmoji, greatest: max(1, width))
  }

  /// Of a cluster of several.
  private static func measure(
    _ scalars: Character.UnicodeScalarView, _ first: Unicode.Scalar
  ) -> Measure {
    // CR LF is the one cluster of control characters.
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
      // Presentation as an emoji, flags, skin tones (UTS #51).
      case 0xFE0F where first.properties.isEmoji, 0x1F1E6...0x1F1FF, 0x1F3FB...0x1F3FF:
        isEmoji = true
      // Presentation as text. It does not make a wide one narrow (UAX #11 §5 has nothing of it): where
      // a terminal thinks otherwise a blank too many is seen, rather than half of a picture.
      case 0xFE0E: isText = first.properties.isEmoji
      // A jamo's vowels and finals stand in the syllable that the first one begins.
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

  /// A letter with accents and nothing else: terminals agree.
  private static func isCombined(_ scalars: Character.UnicodeScalarView) -> Bool {
    scalars.dropFirst().allSatisfy { (0x300..<0x370).contains($0.value) }
  }

  /// The columns of a scalar in a terminal that knows nothing of clusters.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x7F { return value < 0x20 ? 0 : 1 }
    switch value {
    // Invisible ones that have a width there: fillers of Hangul, a hyphen where a word may be broken.
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

  /// Of a text of nothing but printable ASCII; else nil.
  private static func asciiColumns(of text: some StringProtocol) -> Int? {
    let utf8 = text.utf8
    let count = utf8.withContiguousStorageIfAvailable { bytes -> Int? in
      for index in bytes.indices where !isPrintable(unsafe bytes[index]) { return nil }
      return bytes.count
    }
    return count ?? nil
  }
}
