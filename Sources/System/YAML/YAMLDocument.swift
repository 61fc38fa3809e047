/// A YAML file as a tree, and its errors.
///
/// Only a subset is accepted: one document, no anchors, aliases or tags (configurations do not need
/// them, and aliases can make a short file expand without limit), keys that are strings and unique,
/// at most `depthLimit` levels.
public struct YAMLDocument: Equatable, Sendable {
  /// An error in the file.
  public struct Fault: Error, Equatable, Sendable {
    /// Counted from 1.
    public var line: Int
    /// The offending key, if any.
    public var key: String
    /// A predicate about `key`, or about the line.
    public var found: String
    /// What is expected, or what to do.
    public var expected: String

    /// Creates a fault at a line, for a key if one is at fault.
    public init(line: Int, key: String = "", found: String, expected: String) {
      self.line = line
      self.key = key
      self.found = found
      self.expected = expected
    }
  }

  /// The maximum nesting of lists and mappings, including keys as one level.
  public static let depthLimit = 16

  /// `nil` if the file is empty, or if a fault ended the parsing.
  public private(set) var root: YAMLNode?
  /// The faults in the order of the file. The tree does not contain the parts that they refer to.
  public private(set) var faults: [Fault] = []

  /// Parses a whole file.
  public init(_ bytes: [UInt8]) {
    var events = YAMLEvents(bytes)
    do throws(Fault) {
      root = try readDocument(&events)
    } catch {
      faults.append(error)
    }
  }

  private mutating func readDocument(_ events: inout YAMLEvents) throws(Fault) -> YAMLNode? {
    var root: YAMLNode?
    while true {
      let event = try events.next()
      switch event.kind {
      case .streamStart, .documentEnd: continue
      case .documentStart where root == nil:
        root = try readNode(try events.next(), from: &events, depth: 1)
      case .documentStart:
        throw Fault(
          line: event.line, found: "a second document begins",
          expected: "expected a single document")
      default: return root
      }
    }
  }

  private mutating func readNode(
    _ event: YAMLEvents.Event, from events: inout YAMLEvents, depth: Int
  ) throws(Fault) -> YAMLNode {
    let line = event.line
    if event.isDecorated || event.kind == .alias {
      faults.append(
        Fault(
          line: line, found: "an anchor (&), alias (*) or tag (!) is used",
          expected: "write the value itself, in quotes if it begins with such a character"))
    }
    guard depth <= Self.depthLimit else {
      throw Fault(
        line: line, found: "values are nested too deeply",
        expected: "expected at most \(Self.depthLimit) levels")
    }
    switch event.kind {
    case .listStart:
      var elements: [YAMLNode] = []
      while true {
        let next = try events.next()
        if next.kind == .listEnd { break }
        elements.append(try readNode(next, from: &events, depth: depth + 1))
      }
      return YAMLNode(line: line, content: .list(elements))
    case .mappingStart:
      return YAMLNode(
        line: line, content: .mapping(try readPairs(from: &events, depth: depth + 1)))
    default:
      return YAMLNode(line: line, content: .scalar(event.text, isPlain: event.isPlain))
    }
  }

  private mutating func readPairs(
    from events: inout YAMLEvents, depth: Int
  ) throws(Fault) -> [YAMLNode.Pair] {
    var pairs: [YAMLNode.Pair] = []
    var lines: [String: Int] = [:]
    while true {
      let event = try events.next()
      if event.kind == .mappingEnd { return pairs }
      let key = try readNode(event, from: &events, depth: depth)
      let value = try readNode(try events.next(), from: &events, depth: depth)
      // Messages contain the key unmodified, so it must be printable, and one line.
      guard let name = key.text, name.unicodeScalars.allSatisfy(YAMLText.isShown) else {
        faults.append(
          Fault(line: key.line, found: "a key is \(key.shown)", expected: "expected a name"))
        continue
      }
      if let first = lines[name] {
        faults.append(
          Fault(
            line: key.line, key: name, found: "is given twice",
            expected: "the first is on line \(first); remove one of them"))
        continue
      }
      lines[name] = key.line
      pairs.append(YAMLNode.Pair(key: name, line: key.line, value: value))
    }
  }
}
