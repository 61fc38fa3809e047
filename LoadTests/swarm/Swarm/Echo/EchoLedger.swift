internal import Client

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
  private var waiting: [Waiting] = []
  private var first = 0
  /// Those that came back out of turn or altered, and have their breach already.
  private(set) var echoes = 0

  init(user: String) { self.user = user }

  /// In the order of sending.
  var outstanding: ArraySlice<Waiting> { waiting[first...] }

  mutating func sent(_ text: [UInt8], number: Int, intended: UInt64) {
    waiting.append(Waiting(number: number, intended: intended, bytes: text))
  }

  mutating func received(_ bytes: Span<UInt8>, isText: Bool) -> Finding {
    echoes += 1
    guard let next = outstanding.first else {
      return Self.isOurs(bytes, of: user)
        ? .wrong(.doubled, "\(Self.shown(bytes)) came, and everything was back already")
        : .wrong(.invented, "\(Self.shown(bytes)) came, and nothing was to come")
    }
    if Self.matches(bytes, next.bytes) {
      take(first)
      if isText { return .good(intended: next.intended) }
      return .wrong(.altered, "send \(next.number) came back as a binary message")
    }
    if let place = outstanding.firstIndex(where: { Self.matches(bytes, $0.bytes) }) {
      let number = waiting[place].number
      take(place)
      return .wrong(.reordered, "send \(number) came back before send \(next.number)")
    }
    let number = Self.number(in: bytes, of: user)
    if let number, number < next.number {
      return .wrong(.doubled, "send \(number) came back once more")
    }
    // Its place in the order says which one it was, where it does not say so itself.
    let place = outstanding.firstIndex { $0.number == number } ?? first
    let altered = waiting[place]
    take(place)
    return .wrong(
      .altered,
      "send \(altered.number) was \(Self.shown(altered.bytes.span)) and came back as"
        + " \(Self.shown(bytes))")
  }

  /// The connection is gone, and with it what was to come over it.
  mutating func forget() -> ArraySlice<Waiting> {
    defer {
      waiting = []
      first = 0
    }
    return outstanding
  }

  private mutating func take(_ place: Int) {
    if place != first {
      waiting.remove(at: place)
      return
    }
    first += 1
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

  private static func isOurs(_ bytes: Span<UInt8>, of user: String) -> Bool {
    number(in: bytes, of: user) != nil
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
