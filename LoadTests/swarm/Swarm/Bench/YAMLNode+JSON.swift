internal import YAML

/// JSON is YAML too, so that the reader of scenarios reads what programs write.
extension YAMLNode {
  /// A mapping's value.
  func member(_ key: String) -> YAMLNode? {
    guard case .mapping(let pairs) = content else { return nil }
    return pairs.first { $0.key == key }?.value
  }

  /// A text, empty where there is none.
  func words(_ key: String) -> String { member(key)?.text ?? "" }

  /// A number, also with an exponent, which JSON allows and YAML's subset here does not.
  func figure(_ key: String) -> Double? {
    member(key)?.text.flatMap(Double.init).flatMap { $0.isFinite ? $0 : nil }
  }

  /// A list's elements, each made into something.
  func each<Element>(_ key: String, _ element: (YAMLNode) -> Element) -> [Element] {
    (member(key)?.list ?? []).map(element)
  }
}
