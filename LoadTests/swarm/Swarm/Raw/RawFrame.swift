internal import WebSocket

/// One sender's frame, masked once: for each send only the digits of the time, the number and the
/// lane are rewritten, in masked form.
///
/// RFC 6455 §5.3 requires a fresh key for each frame, to stop scripts from choosing the bytes that
/// proxies see. Here both ends are trusted, so one random key per connection is sufficient.
struct RawFrame {
  static let numberDigits = 12
  static let laneDigits = 5

  private var bytes: [UInt8]
  private let key: UInt32
  private let payloadStart: Int
  private let stamps: [Int]
  private let numbers: [Int]
  private let lanes: [Int]
  private let laneCount: Int
  private var number = 0

  /// - Parameters:
  ///   - publish: A dialect's text, with rooms and users filled in.
  ///   - lanes: The number of values of `{lane}`.
  init(publish: String, textBytes: Int, lanes laneCount: Int = 1, isBinary: Bool, key: UInt32) {
    let digits = String(repeating: "0", count: Self.numberDigits)
    let stamp = String(repeating: "0", count: RawStamp.bytes)
    let mark = String(UnicodeScalar(RawDialect.mark))
    let filler = String(repeating: "x", count: textBytes - RawStamp.bytes - 1)
    var payload: [UInt8] = []
    var stamps: [Int] = []
    var numbers: [Int] = []
    var lanes: [Int] = []
    for piece in RawText.pieces(publish) {
      switch piece {
      case .placeholder("number"):
        numbers.append(payload.count)
        payload += digits.utf8
      case .placeholder("lane"):
        lanes.append(payload.count)
        payload += RawText.lane(0).utf8
      case .placeholder("text"):
        stamps.append(payload.count + 1)
        payload += (mark + stamp + filler).utf8
      case .placeholder(let name): payload += "{\(name)}".utf8
      case .literal(let text): payload += text.utf8
      }
    }
    bytes = RawFrame.masked(payload, isBinary ? .binary : .text, key: key)
    payloadStart = bytes.count - payload.count
    self.key = key
    self.stamps = stamps
    self.numbers = numbers
    self.lanes = lanes
    self.laneCount = laneCount
  }

  /// Returns a complete client frame.
  static func masked(_ payload: [UInt8], _ opcode: Opcode, key: UInt32) -> [UInt8] {
    var bytes: [UInt8] = []
    FrameHeader(opcode: opcode, maskKey: key, payloadLength: payload.count).append(to: &bytes)
    let start = bytes.count
    bytes += payload
    var span = bytes.mutableSpan
    Masking.apply(key, to: &span, in: start..<span.count)
    return bytes
  }

  /// Appends the next frame, sent at `time`.
  mutating func append(at time: UInt64, to output: inout [UInt8]) {
    number += 1
    for place in stamps {
      var rest = time
      for index in stride(from: place + RawStamp.bytes - 1, through: place, by: -1) {
        let digit = UInt8(truncatingIfNeeded: rest & 15)
        set(digit < 10 ? 48 + digit : 87 + digit, at: index)
        rest >>= 4
      }
    }
    for place in numbers {
      var rest = number
      var index = place + Self.numberDigits - 1
      // The digits before this one have not changed.
      while rest > 0, index >= place {
        set(48 + UInt8(rest % 10), at: index)
        if rest % 10 != 0 { break }
        rest /= 10
        index -= 1
      }
    }
    for place in lanes {
      var rest = number % laneCount
      for index in stride(from: place + Self.laneDigits - 1, through: place, by: -1) {
        set(48 + UInt8(rest % 10), at: index)
        rest /= 10
      }
    }
    output.append(contentsOf: bytes)
  }

  private mutating func set(_ byte: UInt8, at place: Int) {
    let mask = UInt8(truncatingIfNeeded: key >> UInt32(8 * (place & 3)))
    bytes[payloadStart + place] = byte ^ mask
  }
}

/// Texts with placeholders.
enum RawText {
  enum Piece: Equatable {
    case literal(String)
    /// The name, without the braces.
    case placeholder(String)
  }

  static let names = ["room", "user", "run", "number", "text", "lane", "after"]

  /// Returns the value of `{lane}` for a number.
  static func lane(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, RawFrame.laneDigits - digits.count)) + digits
  }

  /// Splits a text; braces that contain no known name are literal.
  static func pieces(_ text: String) -> [Piece] {
    var pieces: [Piece] = []
    var literal = ""
    var rest = text[...]
    while let brace = rest.firstIndex(of: "{") {
      literal += rest[..<brace]
      rest = rest[brace...]
      if let name = names.first(where: { rest.hasPrefix("{\($0)}") }) {
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        literal = ""
        pieces.append(.placeholder(name))
        rest = rest.dropFirst(name.count + 2)
      } else {
        literal.append("{")
        rest = rest.dropFirst()
      }
    }
    literal += rest
    if !literal.isEmpty { pieces.append(.literal(literal)) }
    return pieces
  }

  /// Whether a message begins with a prefix, ignoring spaces.
  static func begins(_ bytes: Span<UInt8>, with prefix: [UInt8]) -> Bool {
    var place = 0
    for index in bytes.indices {
      if place == prefix.count { return true }
      if bytes[index] == prefix[place] { place += 1 } else if bytes[index] != 0x20 { return false }
    }
    return place == prefix.count
  }

  /// Fills in values; placeholders without a value stay.
  static func filled(_ text: String, _ values: [String: String]) -> String {
    pieces(text).map { piece in
      switch piece {
      case .literal(let text): text
      case .placeholder(let name): values[name] ?? "{\(name)}"
      }
    }.joined()
  }
}
