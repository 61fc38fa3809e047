import Terminal

/// The messages that one client has sent and received back: checks that each is echoed once, in
/// order and unchanged.
struct EchoLedger {
  /// A message whose echo has not arrived.
  struct Waiting {
    /// The number of the client's send, from 1.
    var number: Int
    /// Nanoseconds from the start of the run.
    var intended: UInt64
    var bytes: [UInt8]
  }

  /// The result of checking an echoed message.
  enum Finding: Equatable {
    /// The next expected message, with its intended time.
    case good(intended: UInt64)
    /// A violation, with a description.
    case wrong(Promise, String)
  }

  /// The client's name, with which its texts begin.
  let user: String
  /// In the order of sending; those before `first` are done.
  private var waiting: [Waiting] = []
  private var first = 0
  /// Messages that a later one has overtaken: they are late or lost.
  private var overtaken: [Waiting] = []

  init(user: String) { self.user = user }

  /// In the order of sending.
  var outstanding: [Waiting] { overtaken + waiting[first...] }

  var isComplete: Bool { overtaken.isEmpty && first == waiting.count }

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
      return .wrong(.reordered, "send \(number) came back after a later send")
    }
    return strange(bytes)
  }

  /// Handles a message that is not the next expected one: altered, duplicated or out of order.
  private mutating func strange(_ bytes: Span<UInt8>) -> Finding {
    let number = Self.number(in: bytes, of: user)
    let next = waiting[first...].first
    if let place = overtaken.firstIndex(where: { $0.number == number }) {
      return altered(overtaken.remove(at: place), bytes)
    }
    if let number, number < next?.number ?? .max {
      return .wrong(.doubled, "send \(number) came back a second time")
    }
    guard next != nil else {
      return .wrong(.invented, "\(Self.shown(bytes)) came back, but was never sent")
    }
    // If the text does not contain its number, its position determines it.
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

  /// Handles the end of the connection, with which all outstanding echoes are lost.
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

  /// Parses `user #number @…` as written by ``MessageText``.
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

  /// Returns the start of a message, made safe for a terminal.
  private static func shown(_ bytes: Span<UInt8>) -> String {
    var start: [UInt8] = []
    for index in 0..<min(bytes.count, 80) { start.append(bytes[index]) }
    let rest = bytes.count > 80 ? "… (\(bytes.count) bytes)" : ""
    return "\"\(TerminalText.line(String(decoding: start, as: UTF8.self)))\(rest)\""
  }
}
