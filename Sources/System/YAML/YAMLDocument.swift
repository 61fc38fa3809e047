/// A YAML file as a tree, and whatever keeps it from being one that we accept.
///
/// A subset on purpose: one document, no anchors, aliases or tags (a configuration needs none of
/// them, and aliases can make a short file expand without end), keys that are text and occur once,
/// at most `depthLimit` levels.
public struct YAMLDocument: Equatable, Sendable {
  /// Something that the tree cannot hold.
  public struct Fault: Error, Equatable, Sendable {
    /// Counted from 1.
    public var line: Int
    /// A key, where one is to blame.
    public var key: String
    /// A predicate to `key`, or to the line.
    public var found: String
    /// What is expected, or what to do.
    public var expected: String

    /// A fault on a line, of a key if one is to blame.
    public init(line: Int, key: String = "", found: String, expected: String) {
      self.line = line
      self.key = key
      self.found = found
      self.expected = expected
    }
  }

  /// Levels of lists and mappings, keys counted as one.
  public static let depthLimit = 16

  /// `nil` where the file holds nothing, or where a fault stops the reading.
  public private(set) var root: YAMLNode?
  /// In the order of the file. The tree leaves out what they are about.
  public private(set) var faults: [Fault] = []

  /// Reads a whole file.
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
        throw Fault(line: event.line, found: "a second document begins", expected: "one is enough")
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
          expected: "write the value itself, in quotes if it begins so"))
    }
    guard depth <= Self.depthLimit else {
      throw Fault(
        line: line, found: "values are nested too deep",
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
      // A key is repeated in messages as it is, so it must be fit for a terminal, and one line.
      guard let name = key.text, name.unicodeScalars.allSatisfy(YAMLText.isShown) else {
        faults.append(
          Fault(line: key.line, found: "a key is \(key.shown)", expected: "expected a name"))
        continue
      }
      if let first = lines[name] {
        faults.append(
          Fault(
            line: key.line, key: name, found: "is given twice",
            expected: "the first is on line \(first), remove one of them"))
        continue
      }
      lines[name] = key.line
      pairs.append(YAMLNode.Pair(key: name, line: key.line, value: value))
    }
  }
}
