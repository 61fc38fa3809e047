internal import WebSocket

/// The state of a connection between two reads: the rest of a payload to skip, or the first bytes
/// of a frame that cannot be classified yet.
struct FrameCut {
  /// The size of a frame's header and the compared prefix, or of a whole control frame.
  static let limitBytes = 128

  fileprivate(set) var skip = 0
  private var kept = InlineArray<128, UInt8>(repeating: 0)
  private(set) var keptBytes = 0

  fileprivate mutating func keep(_ bytes: Span<UInt8>) {
    precondition(bytes.count <= Self.limitBytes, "only shorter messages are inspected")
    for index in bytes.indices { kept[index] = bytes[index] }
    keptBytes = bytes.count
  }

  /// Puts the kept bytes before the next read, so that the frame is contiguous.
  mutating func restore(into buffer: inout [UInt8], before end: Int) -> Int {
    if keptBytes == 0 { return 0 }
    for index in 0..<keptBytes { buffer[end - keptBytes + index] = kept[index] }
    defer { keptBytes = 0 }
    return keptBytes
  }
}

/// Parses a server's stream from header to header: only the first bytes of a payload are examined,
/// nothing is copied or allocated.
struct RawReader {
  /// The totals.
  struct Tally {
    var deliveries = 0
    var frames = 0
    var acks = 0
    var errors = 0
  }

  /// A prefix, and the kind of message that it identifies.
  private struct Rule {
    enum Kind { case delivery, ack, error, other }
    var kind: Kind
    var count: Int
    /// The prefix in words; the last one overlaps the previous one. A prefix shorter than a word
    /// has one word, with a mask.
    private var words = InlineArray<8, UInt64>(repeating: 0)
    private var wordCount: Int
    private var mask: UInt64
    private let prefix: [UInt8]

    init(_ text: String, _ kind: Kind) {
      prefix = Array(text.utf8.prefix(RawDialect.prefixLimitBytes))
      self.kind = kind
      count = prefix.count
      mask = count >= 8 ? .max : (1 << UInt64(8 * count)) - 1
      wordCount = max(1, (count + 7) / 8)
      for word in 0..<wordCount {
        let start = max(0, min(8 * word, count - 8))
        for byte in prefix[start...].prefix(8).reversed() {
          words[word] = words[word] << 8 | UInt64(byte)
        }
      }
    }

    /// Whether a payload begins with the prefix; at least eight bytes of it, and as many as the
    /// prefix has, must be present.
    func matches(_ bytes: Span<UInt8>, _ start: Int) -> Bool {
      var word = wordCount &- 1
      // Prefixes differ mostly at their ends.
      while word >= 0 {
        let offset = max(0, min(8 &* word, count &- 8))
        let value = unsafe bytes.bytes.unsafeLoadUnaligned(
          fromByteOffset: start &+ offset, as: UInt64.self)
        guard UInt64(littleEndian: value) & mask == words[word] else { return false }
        word &-= 1
      }
      return true
    }

    /// The same, ignoring spaces, which some JSON encoders insert.
    func matchesSpaced(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
      RawText.begins(bytes.extracting(range), with: prefix)
    }
  }

  private(set) var tally = Tally()
  /// The send times of the sampled deliveries; to be taken after each read.
  private(set) var samples: [UInt64] = []
  /// The payloads of pings to be answered, each preceded by its length.
  private(set) var pings: [UInt8] = []
  /// Why the stream has ended: a violation of RFC 6455, or a close frame.
  private(set) var end: String?
  /// The range of a refusal in the last bytes.
  private(set) var refusal: Range<Int>?

  /// The number of spaces allowed within a prefix.
  private static let spaces = 8
  private let rules: [Rule]
  private let usual: Rule.Kind
  private let countsMarks: Bool
  /// The number of bytes of a payload that must be present before it is classified.
  private let judgedBytes: Int
  private let sampleEvery: Int
  private var untilSample: Int

  init(_ dialect: RawDialect, sampleEvery: Int) {
    var rules: [Rule] = []
    countsMarks = dialect.counting == .marks
    if let text = dialect.deliveryPrefix, !countsMarks { rules.append(Rule(text, .delivery)) }
    if let text = dialect.ackPrefix { rules.append(Rule(text, .ack)) }
    if let text = dialect.errorPrefix { rules.append(Rule(text, .error)) }
    for text in dialect.otherPrefixes { rules.append(Rule(text, .other)) }
    self.rules = rules
    usual = countsMarks || dialect.deliveryPrefix != nil ? .other : .delivery
    judgedBytes = rules.map { max($0.count, 8) + Self.spaces }.max() ?? 0
    self.sampleEvery = sampleEvery
    untilSample = sampleEvery
    samples.reserveCapacity(256)
  }

  /// Clears the results of the last read.
  mutating func clear() {
    if !samples.isEmpty { samples.removeAll(keepingCapacity: true) }
    if !pings.isEmpty { pings.removeAll() }
    refusal = nil
    end = nil
  }

  /// Counts the messages in `bytes`, which follow the bytes of the previous call with the same
  /// `cut`.
  mutating func read(_ bytes: Span<UInt8>, _ cut: inout FrameCut) {
    var index = 0
    if cut.skip > 0 {
      index = min(cut.skip, bytes.count)
      cut.skip &-= index
      if countsMarks { countMarks(bytes, 0..<index) }
    }
    while index < bytes.count {
      let left = bytes.count &- index
      guard left >= 2 else { break }
      let (first, second) = (bytes[index], bytes[index &+ 1])
      var header = 2
      var length = Int(second)
      if length >= 126 {
        guard length <= 127 else { return fail("a frame from the server is masked") }
        header = length == 126 ? 4 : 10
        guard left >= header else { break }
        length = 0
        for place in 2..<header { length = length << 8 | Int(bytes[index &+ place]) }
        guard length >= 0, length <= 1 << 40 else { return fail("a frame of \(length) bytes") }
      }
      if first & 0x08 != 0 {
        guard length <= 125 else { return fail("a control frame of \(length) bytes") }
        guard left >= header + length else { break }
        control(first & 0x0F, bytes.extracting(index &+ header..<index &+ header &+ length))
        index &+= header &+ length
        continue
      }
      guard left >= header &+ min(length, judgedBytes) else { break }
      let start = index &+ header
      let end = min(start &+ length, bytes.count)
      tally.frames &+= 1
      // A continuation frame was classified with the start of its message.
      if first & 0x0F != 0 {
        judge(bytes, start..<end, isWhole: end &- start == length, length: length)
      }
      if countsMarks { countMarks(bytes, start..<end) }
      cut.skip = start &+ length &- end
      index = end
    }
    if index < bytes.count { cut.keep(bytes.extracting(index..<bytes.count)) }
  }

  private mutating func judge(
    _ bytes: Span<UInt8>, _ payload: Range<Int>, isWhole: Bool, length: Int
  ) {
    switch kind(bytes, payload.lowerBound, length: length) {
    case .delivery:
      tally.deliveries &+= 1
      untilSample &-= 1
      if untilSample == 0 {
        untilSample = sampleEvery
        if isWhole { sample(bytes, payload) }
      }
    case .ack: tally.acks &+= 1
    case .error:
      tally.errors &+= 1
      refusal = payload
    case .other: break
    }
  }

  /// Returns the kind of a message. One shorter than a word matches no prefix; servers do not send
  /// such messages.
  private func kind(_ bytes: Span<UInt8>, _ start: Int, length: Int) -> Rule.Kind {
    guard length >= 8 else { return usual }
    for index in rules.indices where length >= rules[index].count {
      if rules[index].matches(bytes, start) { return rules[index].kind }
    }
    let judged = start..<start &+ min(length, judgedBytes)
    for rule in rules where rule.matchesSpaced(bytes, judged) { return rule.kind }
    return usual
  }

  // MARK: Marks and times

  private mutating func countMarks(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    for index in range where bytes[index] == RawDialect.mark {
      tally.deliveries &+= 1
      untilSample &-= 1
      if untilSample == 0 {
        untilSample = sampleEvery
        sample(bytes, index..<range.upperBound)
      }
    }
  }

  private mutating func sample(_ bytes: Span<UInt8>, _ range: Range<Int>) {
    for index in range where bytes[index] == RawDialect.mark {
      if let time = RawStamp.read(bytes, at: index + 1) { samples.append(time) }
      return
    }
  }

  // MARK: Control frames

  private mutating func control(_ opcode: UInt8, _ payload: Span<UInt8>) {
    if opcode == Opcode.ping.rawValue {
      pings.append(UInt8(payload.count))
      for index in payload.indices { pings.append(payload[index]) }
    } else if opcode == Opcode.close.rawValue {
      let code = payload.count >= 2 ? " with code \(Int(payload[0]) << 8 | Int(payload[1]))" : ""
      end = "the server closed the connection\(code)"
    }
  }

  private mutating func fail(_ reason: String) { end = reason }
}

/// The time of a send within the text: sixteen hexadecimal digits.
enum RawStamp {
  static let bytes = 16

  /// Returns `nil` if there are not sixteen digits.
  static func read(_ bytes: Span<UInt8>, at start: Int) -> UInt64? {
    guard start + Self.bytes <= bytes.count else { return nil }
    var value: UInt64 = 0
    for index in start..<start + Self.bytes {
      switch bytes[index] {
      case 48...57: value = value << 4 | UInt64(bytes[index] - 48)
      case 97...102: value = value << 4 | UInt64(bytes[index] - 87)
      default: return nil
      }
    }
    return value
  }
}
