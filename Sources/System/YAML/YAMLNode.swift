/// A value of a YAML document with its line, for messages.
///
/// A scalar has no type until one is requested: `title: 5` is a title, `burst: 5` a number. This
/// avoids YAML's surprises (`no` as a boolean, `1e3` as a string, `010` as 8).
public struct YAMLNode: Equatable, Sendable {
  /// An entry of a mapping; mappings keep the order of the file.
  public struct Pair: Equatable, Sendable {
    /// The key.
    public var key: String
    /// The line of the key, counted from 1.
    public var line: Int
    /// The key's value.
    public var value: YAMLNode

    /// Creates an entry as if it were on this line.
    public init(key: String, line: Int, value: YAMLNode) {
      self.key = key
      self.line = line
      self.value = value
    }
  }

  /// The content of a value.
  public enum Content: Equatable, Sendable {
    /// `isPlain`: written without quotes, so that it may be a number, a boolean or null.
    case scalar(String, isPlain: Bool)
    /// In the order of the file.
    case list([YAMLNode])
    /// Keys are unique.
    case mapping([Pair])
  }

  /// Counted from 1.
  public var line: Int
  /// The value itself.
  public var content: Content

  /// Creates a value as if it were on this line.
  public init(line: Int, content: Content) {
    self.line = line
    self.content = content
  }

  /// Whether the value is empty: `key:`, `key: ~`, `key: null`.
  public var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return text.isEmpty || text == "~" || text == "null"
  }

  /// A scalar's text; `nil` if it is not a scalar, or is empty.
  public var text: String? {
    guard case .scalar(let text, _) = content, !isNull else { return nil }
    return text
  }

  /// `true` or `false`; `nil` for anything else.
  public var boolean: Bool? {
    switch plain {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// Returns decimal digits with an optional minus sign as an integer; rejects a leading zero,
  /// which YAML 1.1 reads as octal.
  public func integer<Value: FixedWidthInteger>(as type: Value.Type = Value.self) -> Value? {
    guard let plain, let value = Value(plain), String(value) == plain else { return nil }
    return value
  }

  /// A decimal number, such as `2` or `0.5`.
  public var number: Double? {
    guard let plain, plain.utf8.allSatisfy({ (48...57).contains($0) || $0 == 46 || $0 == 45 })
    else { return nil }
    return Double(plain)
  }

  /// The elements of a list; `nil` if it is not a list.
  public var list: [YAMLNode]? {
    guard case .list(let elements) = content else { return nil }
    return elements
  }

  /// The value for a message: its text in quotes, truncated, or its kind.
  public var shown: String {
    switch content {
    case _ where isNull: "empty"
    case .scalar(let text, _):
      YAMLText.quoted(text.count > 60 ? "\(text.prefix(60))…" : text)
    case .list: "a list"
    case .mapping: "a mapping"
    }
  }

  private var plain: String? {
    guard case .scalar(let text, isPlain: true) = content else { return nil }
    return text
  }
}
