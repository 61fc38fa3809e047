internal import CYAML

/// An interface to libyaml's parser: converts bytes to events, and frees libyaml's memory.
///
/// Owns the memory that libyaml points to: a copy of the bytes, and the parser's struct at a fixed
/// address.
@safe struct YAMLEvents: ~Copyable {
  enum Kind {
    case streamStart, streamEnd, documentStart, documentEnd
    case scalar, alias, listStart, listEnd, mappingStart, mappingEnd
  }

  struct Event {
    var kind: Kind
    /// Counted from 1.
    var line: Int
    var text = ""
    /// Whether a scalar is written without quotes.
    var isPlain = true
    /// Whether it has an anchor or a tag.
    var isDecorated = false
  }

  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let bytes: UnsafeMutableBufferPointer<UInt8>

  init(_ bytes: [UInt8]) {
    unsafe self.bytes = .allocate(capacity: bytes.count)
    _ = unsafe self.bytes.initialize(from: bytes)
    unsafe parser = .allocate(capacity: 1)
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      fatalError("yaml_parser_initialize: out of memory")
    }
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    unsafe yaml_parser_set_input_string(parser, self.bytes.baseAddress, bytes.count)
  }

  deinit {
    unsafe yaml_parser_delete(parser)
    unsafe parser.deallocate()
    unsafe bytes.deallocate()
  }

  /// Returns the next event. Must not be called after the end of the stream or a fault.
  mutating func next() throws(YAMLDocument.Fault) -> Event {
    var event = unsafe yaml_event_t()
    guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw fault() }
    defer { unsafe yaml_event_delete(&event) }
    let line = unsafe Int(event.start_mark.line) + 1
    switch unsafe event.type {
    case YAML_STREAM_START_EVENT: return Event(kind: .streamStart, line: line)
    case YAML_DOCUMENT_START_EVENT: return Event(kind: .documentStart, line: line)
    case YAML_DOCUMENT_END_EVENT: return Event(kind: .documentEnd, line: line)
    case YAML_ALIAS_EVENT: return Event(kind: .alias, line: line)
    case YAML_SEQUENCE_END_EVENT: return Event(kind: .listEnd, line: line)
    case YAML_MAPPING_END_EVENT: return Event(kind: .mappingEnd, line: line)
    case YAML_SEQUENCE_START_EVENT:
      let start = unsafe event.data.sequence_start
      return Event(
        kind: .listStart, line: line,
        isDecorated: unsafe start.anchor != nil || start.tag != nil)
    case YAML_MAPPING_START_EVENT:
      let start = unsafe event.data.mapping_start
      return Event(
        kind: .mappingStart, line: line,
        isDecorated: unsafe start.anchor != nil || start.tag != nil)
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      let text = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      return Event(
        kind: .scalar, line: line, text: unsafe String(decoding: text, as: UTF8.self),
        isPlain: unsafe scalar.style == YAML_PLAIN_SCALAR_STYLE,
        isDecorated: unsafe scalar.anchor != nil || scalar.tag != nil)
    default: return Event(kind: .streamEnd, line: line)
    }
  }

  private func fault() -> YAMLDocument.Fault {
    let problem = unsafe parser.pointee.problem
    // An invalid UTF-8 byte is reported by its offset, all other problems by a mark.
    let line =
      if unsafe parser.pointee.error == YAML_READER_ERROR {
        unsafe bytes.prefix(Int(parser.pointee.problem_offset)).count { $0 == 10 } + 1
      } else {
        unsafe Int(parser.pointee.problem_mark.line) + 1
      }
    if beginsWithTab(line: line) {
      return YAMLDocument.Fault(
        line: line, found: "the line begins with a tab", expected: "indent with spaces")
    }
    return YAMLDocument.Fault(
      line: line, found: "this is not YAML",
      expected: unsafe problem.map { unsafe String(cString: $0) } ?? "out of memory")
  }

  /// Whether a line begins with a tab; libyaml only reports that a token cannot start there.
  private func beginsWithTab(line: Int) -> Bool {
    let lines = unsafe bytes.split(
      separator: 10, maxSplits: line, omittingEmptySubsequences: false)
    guard unsafe lines.count >= line else { return false }
    return unsafe lines[line - 1].prefix { $0 == 32 || $0 == 9 }.contains(9)
  }
}
