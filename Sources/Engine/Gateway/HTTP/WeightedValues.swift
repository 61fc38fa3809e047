/// The values of a header by which a client prefers some answers to others, such as `Accept` (RFC 9110 §12.4.2).
package struct WeightedValues {
  /// In thousandths; 0 = must not be used.
  private var weights: [String: Int] = [:]

  /// - Parameter elements: those of the header's list. Parameters other than the weight are ignored, and so is an
  ///   element whose weight cannot be read.
  package init(_ elements: [some StringProtocol]) {
    for element in elements {
      let parts = element.lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ";")
      guard let name = parts.first else { continue }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2)
      guard let thousandths = weight.map(Self.thousandths) ?? 1000 else { continue }
      weights[String(name)] = thousandths
    }
  }

  /// Returns the weight of the first of these names that the client lists; 0 if it lists none.
  /// - Parameter names: the exact one first, then the wildcards that include it.
  package func weight(_ names: String...) -> Int {
    names.lazy.compactMap { weights[$0] }.first ?? 0
  }

  /// 0 to 1, with at most three decimals.
  private static func thousandths(_ text: Substring) -> Int? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let decimals = parts.count > 1 ? parts[1] : ""
    guard text.utf8.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
      let whole = Int(parts[0]), decimals.utf8.count <= 3,
      let rest = Int(decimals + String(repeating: "0", count: 3 - decimals.utf8.count)),
      whole == 0 || whole == 1 && rest == 0
    else { return nil }
    return whole * 1000 + rest
  }
}
