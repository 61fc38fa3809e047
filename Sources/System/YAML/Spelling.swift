/// Suggestions for misspelled names.
public enum Spelling {
  /// Returns the candidate that `name` was probably meant to be; `nil` if none is similar.
  public static func nearest(to name: String, among candidates: some Sequence<String>) -> String? {
    let limit = max(1, min(3, name.utf8.count / 3))
    let ranked = candidates.map { (distance(name, $0), $0) }
    guard let best = ranked.min(by: { $0 < $1 }), best.0 <= limit else { return nil }
    return best.1
  }

  /// Returns the edit distance of two names: bytes added, removed or replaced, or neighbours
  /// swapped (optimal string alignment).
  static func distance(_ a: String, _ b: String) -> Int {
    let a = Array(a.utf8.prefix(128))
    let b = Array(b.utf8.prefix(128))
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 0..<a.count {
      var row = [i + 1]
      for j in 0..<b.count {
        var cost = min(last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, beforeLast[j - 1] + 1)
        }
        row.append(cost)
      }
      (beforeLast, last) = (last, row)
    }
    return last[b.count]
  }
}
