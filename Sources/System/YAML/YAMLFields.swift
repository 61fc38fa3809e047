/// The fields of one mapping, such as a bot in a list of bots, and their errors.
public struct YAMLFields {
  /// The faults in the order in which they were found; the keys are full paths.
  public private(set) var faults: [YAMLDocument.Fault] = []
  /// A description of the object, once it is known: `the bot "echo"`.
  public var owner: String?
  private let path: String
  private let line: Int
  private var fields: [String: YAMLNode] = [:]

  /// Reports a fault if `node` is not a mapping, and for keys that are not in `known`.
  ///
  /// - Parameter path: the path of the mapping, such as `bots[3]`; empty for a whole file.
  public init(_ node: YAMLNode, at path: String, known: [String]) {
    self.path = path
    line = node.line
    guard case .mapping(let pairs) = node.content else {
      faults = [
        .init(
          line: line, key: path, found: "is \(node.shown)", expected: "expected keys and values")
      ]
      // Missing fields follow from that, and are not reported separately.
      isUnreadable = true
      return
    }
    for pair in pairs {
      guard known.contains(pair.key) else {
        let nearest = Spelling.nearest(to: pair.key, among: known)
        faults.append(
          .init(
            line: pair.line, key: whole(pair.key), found: "is not a known key",
            expected: nearest.map { "did you mean \(whole($0))?" }
              ?? "known keys: \(known.joined(separator: ", "))"))
        continue
      }
      fields[pair.key] = pair.value
    }
  }

  private var isUnreadable = false

  /// Returns a field; reports a fault and returns `nil` if it is missing or `read` returns `nil`.
  public mutating func required<Value>(
    _ key: String, _ expected: String, _ read: (YAMLNode) -> Value?
  ) -> Value? {
    if fields[key] == nil, !isUnreadable {
      report(key, "is missing", expected)
    }
    return optional(key, expected, read)
  }

  /// Returns a field; `nil` if it is missing; also reports a fault if `read` returns `nil`.
  public mutating func optional<Value>(
    _ key: String, _ expected: String, _ read: (YAMLNode) -> Value?
  ) -> Value? {
    guard let node = fields[key] else { return nil }
    guard let value = read(node) else {
      report(key, "is \(node.shown)", expected)
      return nil
    }
    return value
  }

  /// Returns a list, or a single value as a list if `orOne` is set, with faults reported per
  /// element; empty if the field is missing.
  public mutating func list<Value>(
    _ key: String, _ expected: String, orOne: Bool = false, _ read: (YAMLNode) -> Value?
  ) -> [Value] {
    guard let node = fields[key] else { return [] }
    let isOne = orOne && node.list == nil && !node.isNull
    guard let elements = isOne ? [node] : node.list else {
      report(key, "is \(node.shown)", "expected a list")
      return []
    }
    var values: [Value] = []
    for (index, element) in elements.enumerated() {
      if let value = read(element) {
        values.append(value)
      } else {
        report(
          isOne ? key : "\(key)[\(index)]", line: element.line, "is \(element.shown)", expected)
      }
    }
    return values
  }

  /// Whether the field is present, valid or not.
  public func has(_ key: String) -> Bool {
    fields[key] != nil
  }

  /// Reports a fault of a field with its own explanation.
  public mutating func report(_ key: String, line: Int? = nil, _ found: String, _ expected: String)
  {
    let predicate = owner.map { "of \($0) \(found)" } ?? found
    faults.append(
      .init(
        line: line ?? fields[key]?.line ?? self.line, key: whole(key), found: predicate,
        expected: expected))
  }

  private func whole(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
}
