/// A word of a text, folded (`TextFolding`), or a part of a text in a script that is written without
/// spaces.
public struct SearchRun: Equatable, Sendable {
  /// Scalar values.
  public var scalars: [UInt32]
  /// Whether it is part of a script without spaces between words (Chinese, Japanese, Thai), or
  /// consists of symbols such as emoji. It is then found by any part of it, and a word only by its
  /// beginning.
  public var isUnspaced: Bool
  /// Its place in the text.
  public var range: Range<String.Index>

  /// Splits a text into its runs. Apostrophes, hyphens and all other punctuation separate words.
  public static func runs(in text: String) -> [SearchRun] {
    var splitter = Splitter()
    let scalars = text.unicodeScalars
    var index = scalars.startIndex
    while index < scalars.endIndex {
      let next = scalars.index(after: index)
      splitter.take(scalars[index], index..<next)
      index = next
    }
    splitter.end()
    return splitter.runs
  }

  /// Whether this run of a text satisfies a run of a query.
  public func matches(_ wanted: SearchRun) -> Bool { place(of: wanted) != nil }

  /// The number of scalars before the part that satisfies a run of a query.
  private func place(of wanted: SearchRun) -> Int? {
    guard wanted.isUnspaced == isUnspaced, wanted.scalars.count <= scalars.count else { return nil }
    if !isUnspaced { return scalars.starts(with: wanted.scalars) ? 0 : nil }
    return (0...(scalars.count - wanted.scalars.count)).first { start in
      scalars[start...].starts(with: wanted.scalars)
    }
  }

  /// Returns the part of this run that satisfies a run of a query, in the text of this run.
  func part(_ wanted: SearchRun, of text: String) -> Range<String.Index>? {
    guard let start = place(of: wanted) else { return nil }
    var (count, lower) = (0, range.lowerBound)
    var folded: [UInt32] = []
    for (index, scalar) in zip(text[range].indices, text[range]) {
      if count <= start { lower = index }
      folded.removeAll(keepingCapacity: true)
      for scalar in scalar.unicodeScalars { TextFolding.fold(scalar, into: &folded) }
      count += folded.count
      if count >= start + wanted.scalars.count { return lower..<text.index(after: index) }
    }
    return lower..<range.upperBound
  }

  // MARK: Terms

  /// The longest term that an index stores, in scalars; longer words are found by their beginning.
  static let termLimit = 32

  /// Calls `body` with each term under which an index finds this run: a word is a term. A run
  /// without spaces has a term for each pair of neighbours, and one for its last scalar.
  public func forEachTerm(_ body: (ArraySlice<UInt32>) -> Void) {
    guard isUnspaced else { return body(scalars.prefix(Self.termLimit)) }
    for index in scalars.indices { body(scalars[index..<min(index + 2, scalars.count)]) }
  }

  /// Calls `body` with the beginnings of terms that a text which this run of a query finds has in
  /// an index. Not every text that has all of them is found.
  public func forEachWantedTerm(_ body: (ArraySlice<UInt32>) -> Void) {
    guard isUnspaced, scalars.count > 1 else { return body(scalars.prefix(Self.termLimit)) }
    for index in scalars.indices.dropLast() { body(scalars[index...index + 1]) }
  }
}

/// Builds runs from scalars.
private struct Splitter {
  var runs: [SearchRun] = []
  private var current: SearchRun?

  private enum Kind { case separator, word, unspaced, ignored }

  mutating func take(_ scalar: Unicode.Scalar, _ range: Range<String.Index>) {
    let kind = Self.kind(of: scalar)
    switch kind {
    case .ignored: return
    case .separator: return end()
    case .word, .unspaced: break
    }
    let isUnspaced = kind == .unspaced
    if let current, current.isUnspaced != isUnspaced { end() }
    var run = current ?? SearchRun(scalars: [], isUnspaced: isUnspaced, range: range)
    current = nil
    let before = run.scalars.count
    TextFolding.fold(scalar, into: &run.scalars)
    // The decomposition of a symbol may contain spaces and punctuation.
    if scalar.value >= 0x80 {
      run.scalars.replaceSubrange(
        before..., with: run.scalars[before...].filter { $0 >= 0x80 || Self.isASCIIWord($0) })
    }
    run.range = run.range.lowerBound..<range.upperBound
    current = run
  }

  mutating func end() {
    if let current, !current.scalars.isEmpty { runs.append(current) }
    current = nil
  }

  private static func isASCIIWord(_ value: UInt32) -> Bool {
    switch UInt8(truncatingIfNeeded: value) {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  private static func kind(of scalar: Unicode.Scalar) -> Kind {
    let value = scalar.value
    if value < 0x80 { return isASCIIWord(value) ? .word : .separator }
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber:
      return isUnspaced(value) ? .unspaced : .word
    // Marks are folded away; joiners and variation selectors only change the form.
    case .nonspacingMark, .enclosingMark, .format: return .ignored
    case .spacingMark: return isUnspaced(value) ? .unspaced : .word
    case .otherSymbol: return .unspaced
    default: return .separator
    }
  }

  private static func isUnspaced(_ value: UInt32) -> Bool {
    switch value {
    // Thai and Lao, Myanmar, Khmer.
    case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF: true
    // Kana and Han with their extensions; not Hangul, whose words have spaces between them.
    case 0x2E80...0x312F, 0x3190...0x9FFF, 0xF900...0xFAFF, 0xFF66...0xFF9F, 0x1B000...0x1B16F,
      0x20000...0x3FFFF:
      true
    default: false
    }
  }
}
