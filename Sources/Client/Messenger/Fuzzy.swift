internal import Folding

/// A fuzzy search: finds names that contain the query's letters in order, ignoring case and
/// diacritics.
///
/// The best alignment counts: word starts and adjacent letters score higher, gaps lower.
public struct Fuzzy: Sendable {
  /// The number of folded letters of a candidate that are examined, which bounds the cost.
  static let candidateLimit = 256
  /// The same limit for a query.
  static let queryLimit = 64

  private static let letter = 16
  private static let wordStart = 12
  private static let candidateStart = 6
  private static let run = 14
  private static let gapStart = 3
  private static let whole = 20

  /// Without spaces, which only separate words.
  private let query: [UInt32]

  public init(_ query: String) {
    var folded: [UInt32] = []
    for character in query where !character.isWhitespace {
      folded += TextFolding.folded(character)
    }
    self.query = Array(folded.prefix(Self.queryLimit))
  }

  /// Returns the score of a candidate (higher is better) and the offsets of the matching
  /// characters, ascending; `nil` if it does not match. Everything matches an empty query, with
  /// score 0.
  public func match(_ candidate: String) -> (score: Int, offsets: [Int])? {
    if query.isEmpty { return (0, []) }
    guard mayMatch(candidate) else { return nil }
    let letters = Self.letters(of: candidate)
    guard isSubsequence(of: letters) else { return nil }
    return align(letters)
  }

  /// Returns the better score of two names of the same thing; `nil` if neither matches.
  func score(_ one: String, _ other: String) -> Int? {
    [match(one)?.score, match(other)?.score].compactMap { $0 }.max()
  }

  /// The same for a single candidate.
  public static func match(_ query: String, _ candidate: String) -> (score: Int, offsets: [Int])? {
    Fuzzy(query).match(candidate)
  }

  /// A folded letter of a candidate.
  private struct Letter {
    var value: UInt32
    /// The offset of the character from which it comes.
    var offset: Int
    /// The score for matching it.
    var worth: Int
  }

  /// Rejects most candidates cheaply: ASCII ones are checked without copying them.
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

  /// The character classes that determine where words begin.
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

  /// Finds the best alignment of the query by dynamic programming: for each letter of the query and
  /// each position, the best score so far and the position of the previous letter.
  private func align(_ letters: [Letter]) -> (score: Int, offsets: [Int])? {
    let none = Int.min / 2
    let width = letters.count
    // One row per letter of the query.
    var scores = [Int](repeating: none, count: query.count * width)
    var origins = [Int](repeating: -1, count: query.count * width)
    for row in query.indices {
      let above = (row - 1) * width
      // The best score of the previous row, with a gap up to here.
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
    // Of two equally good matches the shorter candidate wins.
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
