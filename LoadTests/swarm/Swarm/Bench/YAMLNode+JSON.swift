internal import YAML

/// JSON is a subset of YAML, so the parser of scenarios also reads the output of programs.
extension YAMLNode {
  /// Returns a text; empty if there is none.
  func words(_ key: String) -> String { self[key]?.text ?? "" }

  /// Returns a number, possibly with an exponent, which JSON allows and this subset of YAML does
  /// not.
  func figure(_ key: String) -> Double? {
    self[key]?.text.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Returns the elements of a list, each converted.
  func each<Element>(_ key: String, _ element: (YAMLNode) -> Element) -> [Element] {
    (self[key]?.list ?? []).map(element)
  }
}
