internal import YAML

/// JSON is a subset of YAML, so the parser of scenarios also reads the output of programs.
extension YAMLNode {
  /// Returns the value of a key of a mapping.
  func member(_ key: String) -> YAMLNode? {
    guard case .mapping(let pairs) = content else { return nil }
    return pairs.first { $0.key == key }?.value
  }

  /// Returns a text; empty if there is none.
  func words(_ key: String) -> String { member(key)?.text ?? "" }

  /// Returns a number, possibly with an exponent, which JSON allows and this subset of YAML does
  /// not.
  func figure(_ key: String) -> Double? {
    member(key)?.text.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Returns the numbers of a list.
  func figures(_ key: String) -> [Double] {
    (member(key)?.list ?? []).compactMap { $0.text.flatMap(Double.init) }.filter(\.isFinite)
  }

  /// Returns the elements of a list, each converted.
  func each<Element>(_ key: String, _ element: (YAMLNode) -> Element) -> [Element] {
    (member(key)?.list ?? []).map(element)
  }
}
