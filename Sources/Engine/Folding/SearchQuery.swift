/// What a user searches for: words, which a text must have in any order. Each finds the words that
/// begin with it, without regard to case and diacritics.
public struct SearchQuery: Equatable, Sendable {
  /// The maximum number of words; further ones are ignored.
  public static let runLimit = 16

  public private(set) var runs: [SearchRun] = []

  public init(_ text: String) {
    for run in SearchRun.runs(in: text) where runs.count < Self.runLimit {
      // "a ab" wants no more than "ab".
      if runs.contains(where: { $0.matches(run) }) { continue }
      runs.removeAll { run.matches($0) }
      runs.append(run)
    }
  }

  /// Whether there is nothing to search for.
  public var isEmpty: Bool { runs.isEmpty }

  public func matches(_ text: String) -> Bool {
    if isEmpty { return false }
    let found = SearchRun.runs(in: text)
    return runs.allSatisfy { wanted in found.contains { $0.matches(wanted) } }
  }

  /// Returns the parts of a text that the query finds, in order, without overlaps.
  public func ranges(in text: String) -> [Range<String.Index>] {
    SearchRun.runs(in: text).compactMap { run in
      runs.compactMap { run.part($0, of: text) }.max { $0.upperBound < $1.upperBound }
    }
  }
}
