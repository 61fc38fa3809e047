/// The fields of one object in a list, such as a bot, and all that is wrong with them.
struct ConfigurationFields {
  private(set) var problems: [ConfigurationError.Problem] = []
  /// Who the object is, once that is known: `the bot "echo"`.
  var owner: String?
  private let path: String
  private let file: String
  private let line: Int
  private var fields: [String: YAMLNode] = [:]

  /// Reports `node` where it is no mapping, and keys that are not among `known`.
  init(_ node: YAMLNode, at path: String, in file: String, known: [String]) {
    self.path = path
    self.file = file
    line = node.line
    guard case .mapping(let pairs) = node.content else {
      problems = [
        .init(
          place: .file(file, line: line), key: path, found: "is \(node.shown)",
          expected: "expected keys and values")
      ]
      // Whatever is missing follows from that, and is not worth a sentence.
      isUnreadable = true
      return
    }
    for pair in pairs {
      guard known.contains(pair.key) else {
        let nearest = ConfigurationRules.nearest(to: pair.key, among: known)
        problems.append(
          .init(
            place: .file(file, line: pair.line), key: "\(path).\(pair.key)",
            found: "is not a known key",
            expected: nearest.map { "did you mean \(path).\($0)?" }
              ?? "known are \(known.joined(separator: ", "))"))
        continue
      }
      fields[pair.key] = pair.value
    }
  }

  private var isUnreadable = false

  /// `nil`, and reported, where the field is missing or `read` has no value for it.
  mutating func required<Value>(
    _ key: String, _ expected: String, _ read: (YAMLNode) -> Value?
  ) -> Value? {
    if fields[key] == nil, !isUnreadable {
      report(key, "is missing", expected)
    }
    return optional(key, expected, read)
  }

  /// `nil` where the field is missing; reported where `read` has no value for it.
  mutating func optional<Value>(
    _ key: String, _ expected: String, _ read: (YAMLNode) -> Value?
  ) -> Value? {
    guard let node = fields[key] else { return nil }
    guard let value = read(node) else {
      report(key, "is \(node.shown)", expected)
      return nil
    }
    return value
  }

  /// A list, or what stands for a list of one, whose elements are reported one by one; empty
  /// where the field is missing.
  mutating func list<Value>(
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

  /// Whether the field was given, rightly or not.
  func has(_ key: String) -> Bool {
    fields[key] != nil
  }

  mutating func report(_ key: String, line: Int? = nil, _ found: String, _ expected: String) {
    let predicate = owner.map { "of \($0) \(found)" } ?? found
    problems.append(
      .init(
        place: .file(file, line: line ?? fields[key]?.line ?? self.line), key: "\(path).\(key)",
        found: predicate, expected: expected))
  }
}
