import Terminal

/// What one client has sent and what came back: each message once, in order, as it was.
struct EchoLedger {
  /// A message whose echo is to come.
  struct Waiting {
    /// Of the client's sends, from 1 on.
    var number: Int
    /// Nanoseconds from the run's start.
    var intended: UInt64
    var bytes: [UInt8]
  }

  /// What a message that came back is.
  enum Finding: Equatable {
    /// What was waited for next; with the time at which it was intended.
    case good(intended: UInt64)
    /// A breach, in words.
    case wrong(Promise, String)
  }

  /// The client's name, with which its texts begin.
  let user: String
  /// In the order of sending; those before `first` are over.
  private var waiting: [Waiting] = []
  private var first = 0
  /// A later one came back before these: they are late, or lost.
  private var overtaken: [Waiting] = []

  init(user: String) { self.user = user }

  /// In the order of sending.
  var outstanding: [Waiting] { overtaken + waiting[first...] }

  var isSettled: Bool { overtaken.isEmpty && first == waiting.count }

  mutating func sent(_ text: [UInt8], number: Int, intended: UInt64) {
    waiting.append(Waiting(number: number, intended: intended, bytes: text))
  }

  mutating func received(_ bytes: Span<UInt8>, isText: Bool) -> Finding {
    if let place = waiting[first...].firstIndex(where: { Self.matches(bytes, $0.bytes) }) {
      let found = waiting[place]
      overtaken += waiting[first..<place]
      advance(to: place + 1)
      if isText { return .good(intended: found.intended) }
      return .wrong(.altered, "send \(found.number) came back as a binary message")
    }
    if let place = overtaken.firstIndex(where: { Self.matches(bytes, $0.bytes) }) {
      let number = overtaken.remove(at: place).number
      return .wrong(.reordered, "send \(number) came back after a later one")
    }
    return strange(bytes)
  }

  /// Something that was not sent so, or is back already.
  private mutating func strange(_ bytes: Span<UInt8>) -> Finding {
    let number = Self.number(in: bytes, of: user)
    let next = waiting[first...].first
    if let place = overtaken.firstIndex(where: { $0.number == number }) {
      return altered(overtaken.remove(at: place), bytes)
    }
    if let number, number < next?.number ?? .max {
      return .wrong(.doubled, "send \(number) came back once more")
    }
    guard next != nil else {
      return .wrong(.invented, "\(Self.shown(bytes)) came, and nothing was to come")
    }
    // Its place in the order says which one it was, where it does not say so itself.
    let place = waiting[first...].firstIndex { $0.number == number } ?? first
    let found = waiting[place]
    overtaken += waiting[first..<place]
    advance(to: place + 1)
    return altered(found, bytes)
  }

  private func altered(_ sent: Waiting, _ bytes: Span<UInt8>) -> Finding {
    .wrong(
      .altered,
      "send \(sent.number) was \(Self.shown(sent.bytes.span)) and came back as"
        + " \(Self.shown(bytes))")
  }

  /// The connection is gone, and with it what was to come over it.
  mutating func forget() -> [Waiting] {
    defer {
      waiting = []
      overtaken = []
      first = 0
    }
    return outstanding
  }

  private mutating func advance(to place: Int) {
    first = place
    if first >= 1024, first * 2 > waiting.count {
      waiting.removeFirst(first)
      first = 0
    }
  }

  private static func matches(_ bytes: Span<UInt8>, _ sent: [UInt8]) -> Bool {
    guard bytes.count == sent.count else { return false }
    for index in sent.indices where bytes[index] != sent[index] { return false }
    return true
  }

  /// `user #number @…`, as ``SpokenText`` writes it.
  private static func number(in bytes: Span<UInt8>, of user: String) -> Int? {
    let start = Array("\(user) #".utf8)
    guard bytes.count > start.count else { return nil }
    for index in start.indices where bytes[index] != start[index] { return nil }
    var number: Int?
    for index in start.count..<min(bytes.count, start.count + 18) {
      guard (48...57).contains(bytes[index]) else { break }
      number = (number ?? 0) * 10 + Int(bytes[index] - 48)
    }
    return number
  }

  /// The beginning, fit for a terminal.
  private static func shown(_ bytes: Span<UInt8>) -> String {
    var start: [UInt8] = []
    for index in 0..<min(bytes.count, 80) { start.append(bytes[index]) }
    let rest = bytes.count > 80 ? "… (\(bytes.count) bytes)" : ""
    return "\"\(TerminalText.line(String(decoding: start, as: UTF8.self)))\(rest)\""
  }
}
