/// One value of a YAML document and the line it stands on, which a message to a person needs.
///
/// A scalar has no type until someone asks for one: `title: 5` is a title, `burst: 5` a number.
/// That leaves no room for YAML's surprises (`no` as a boolean, `1e3` as a text, `010` as 8).
public struct YAMLNode: Equatable, Sendable {
  /// A mapping's entry, in the order of the file.
  public struct Pair: Equatable, Sendable {
    /// What it is called.
    public var key: String
    /// Where the key stands, counted from 1.
    public var line: Int
    /// What it is set to.
    public var value: YAMLNode

    /// An entry as if it stood on that line.
    public init(key: String, line: Int, value: YAMLNode) {
      self.key = key
      self.line = line
      self.value = value
    }
  }

  /// What a value is.
  public enum Content: Equatable, Sendable {
    /// `isPlain`: written without quotes, so that it may be a number, a boolean or nothing.
    case scalar(String, isPlain: Bool)
    /// In the order of the file.
    case list([YAMLNode])
    /// No key occurs twice.
    case mapping([Pair])
  }

  /// Counted from 1.
  public var line: Int
  /// The value itself.
  public var content: Content

  /// A value as if it stood on that line.
  public init(line: Int, content: Content) {
    self.line = line
    self.content = content
  }

  /// Whether nothing was written: `key:`, `key: ~`, `key: null`.
  public var isNull: Bool {
    guard case .scalar(let text, isPlain: true) = content else { return false }
    return text.isEmpty || text == "~" || text == "null"
  }

  /// A scalar's text; `nil` where it is none, or nothing was written.
  public var text: String? {
    guard case .scalar(let text, _) = content, !isNull else { return nil }
    return text
  }

  /// `true` or `false`, nothing else.
  public var boolean: Bool? {
    switch plain {
    case "true": true
    case "false": false
    default: nil
    }
  }

  /// Decimal digits with at most a minus sign in front; a leading zero, which YAML 1.1 reads as
  /// octal, is refused.
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

  /// A list's elements; `nil` where it is none.
  public var list: [YAMLNode]? {
    guard case .list(let elements) = content else { return nil }
    return elements
  }

  /// What was found, for a message: the text in quotes and cut short, or what it is.
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
