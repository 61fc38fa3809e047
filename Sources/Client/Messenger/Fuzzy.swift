internal import Terminal

/// Finds names by some of their letters, in order, whatever their case and marks.
///
/// Of the ways in which the letters can be found, the best counts: word starts and letters side by
/// side are better, gaps worse.
public struct Fuzzy: Sendable {
  /// Longer candidates are looked at up to here, in folded letters: what one costs stays bounded.
  static let candidateLimit = 256
  /// A query is, too.
  static let queryLimit = 64

  private static let letter = 16
  private static let wordStart = 12
  private static let candidateStart = 6
  private static let run = 14
  private static let gapStart = 3
  private static let whole = 20

  /// Without blanks: they only separate what is searched for.
  private let query: [UInt32]

  public init(_ query: String) {
    var folded: [UInt32] = []
    for character in query where !character.isWhitespace {
      folded += TextFolding.folded(character)
    }
    self.query = Array(folded.prefix(Self.queryLimit))
  }

  /// How well a candidate matches, higher is better, and the offsets of the characters that were
  /// found, ascending; `nil` if it does not. All match nothing, with 0.
  public func match(_ candidate: String) -> (score: Int, offsets: [Int])? {
    if query.isEmpty { return (0, []) }
    guard mayMatch(candidate) else { return nil }
    let letters = Self.letters(of: candidate)
    guard isSubsequence(of: letters) else { return nil }
    return align(letters)
  }

  /// The better score of two names of the same; `nil` if neither matches.
  func score(_ one: String, _ other: String) -> Int? {
    [match(one)?.score, match(other)?.score].compactMap { $0 }.max()
  }

  /// As an instance's, for a single candidate.
  public static func match(_ query: String, _ candidate: String) -> (score: Int, offsets: [Int])? {
    Fuzzy(query).match(candidate)
  }

  /// A folded letter of a candidate.
  private struct Letter {
    var value: UInt32
    /// Of the character it comes from.
    var offset: Int
    /// What it is worth to find it.
    var worth: Int
  }

  /// Most candidates do not match: those that are ASCII are told without a copy of them.
  private func mayMatch(_ candidate: String) -> Bool {
    var found = 0
    for byte in candidate.utf8 {
      if byte >= 0x80 { return true }
      let value = UInt32(0x41...0x5A ~= byte ? byte + 32 : byte)
      if value == query[found] {
        found += 1
        if found == query.count { return true }
      }
    }
    return false
  }

  private func isSubsequence(of letters: [Letter]) -> Bool {
    var found = 0
    for letter in letters where letter.value == query[found] {
      found += 1
      if found == query.count { return true }
    }
    return false
  }

  private static func letters(of candidate: String) -> [Letter] {
    var letters: [Letter] = []
    letters.reserveCapacity(min(candidate.utf8.count, candidateLimit))
    var folded: [UInt32] = []
    var last = Kind.separator
    for (offset, character) in candidate.enumerated() {
      if letters.count >= candidateLimit { break }
      let kind = Kind(character)
      let isStart = last == .separator || (last == .lower && kind == .upper)
      var worth = letter + (isStart ? wordStart : 0) + (offset == 0 ? candidateStart : 0)
      folded.removeAll(keepingCapacity: true)
      for scalar in character.unicodeScalars { TextFolding.fold(scalar, into: &folded) }
      for value in folded {
        letters.append(Letter(value: value, offset: offset, worth: worth))
        worth = letter
      }
      last = kind
    }
    return letters
  }

  /// What tells where words begin.
  private enum Kind {
    case separator, lower, upper, other

    init(_ character: Character) {
      switch character.utf8.first ?? 0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): self = .lower
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): self = .upper
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = .other
      case 0..<0x80: self = .separator
      default:
        self =
          character.isUppercase
          ? .upper
          : character.isLowercase
            ? .lower : character.isLetter || character.isNumber ? .other : .separator
      }
    }
  }

  /// The best way to find the query, letter by letter of it: what is the best sum with this letter found
  /// there, and where was the one before.
  private func align(_ letters: [Letter]) -> (score: Int, offsets: [Int])? {
    let none = Int.min / 2
    let width = letters.count
    // A row for each letter of the query.
    var scores = [Int](repeating: none, count: query.count * width)
    var origins = [Int](repeating: -1, count: query.count * width)
    for row in query.indices {
      let above = (row - 1) * width
      // The best of the row before, with a gap up to here.
      var gap = none
      var gapOrigin = -1
      for column in row..<width {
        if row > 0, column > 1 {
          gap -= 1
          if scores[above + column - 2] - Self.gapStart > gap {
            gap = scores[above + column - 2] - Self.gapStart
            gapOrigin = column - 2
          }
        }
        guard letters[column].value == query[row] else { continue }
        let cell = row * width + column
        if row == 0 {
          scores[cell] = letters[column].worth - min(column, 8)
          continue
        }
        let side = scores[above + column - 1] + Self.run
        if side >= gap, side > none / 2 {
          (scores[cell], origins[cell]) = (side + letters[column].worth, column - 1)
        } else if gap > none / 2 {
          (scores[cell], origins[cell]) = (gap + letters[column].worth, gapOrigin)
        }
      }
    }
    let end = (query.count - 1) * width
    guard var column = (0..<width).max(by: { scores[end + $0] < scores[end + $1] }),
      scores[end + column] > none / 2
    else { return nil }
    // Of two that match as well the shorter one is nearer.
    let isWhole = width == query.count
    let score = scores[end + column] + (isWhole ? Self.whole : 0) - min(width, 64) / 8
    var offsets: [Int] = []
    for row in query.indices.reversed() {
      if offsets.last != letters[column].offset { offsets.append(letters[column].offset) }
      column = origins[row * width + column]
    }
    return (score, offsets.reversed())
  }
}
