public import Relay
public import Wire

/// Both ends of one connection: the client's messages that the relay has not read yet, and the
/// relay's bytes that have arrived.
public final class SimulatedSocket {
  public let loop: Int
  public let connection: Int32
  public let session: SessionID
  /// The number of bytes that it accepts before it blocks.
  public var space = Int.max
  var isBlocked = false
  var isPaused = false
  /// Whether the relay ends it, and sends its last messages.
  public internal(set) var isClosing = false
  public internal(set) var isOpen = true
  /// Messages on their way to the relay.
  public internal(set) var input: [[UInt8]] = []
  /// Messages that the relay has taken from the authenticated client.
  public var received: [[UInt8]] = []
  /// How often the relay stopped reading from it while it had output for it.
  public internal(set) var pausesWithOutput = 0
  /// The number of writes to it.
  public private(set) var writes = 0
  /// The number of messages that arrived compressed.
  public private(set) var packed = 0
  /// The length of the longest message that arrived.
  public private(set) var longestMessageBytes = 0
  public private(set) var closeCode: UInt16?
  /// Whether the relay said anything after its close frame.
  public private(set) var saidMoreAfterClose = false
  /// What arrived but could not be read as a message.
  public private(set) var garbage: [String] = []
  private var rest: [UInt8] = []
  private var messages: [Answer] = []

  /// A message with the `ref` of the request that it answers.
  public struct Answer: Equatable {
    public var ref: String?
    public var message: ServerMessage
  }

  public init(loop: Int, connection: Int32, session: SessionID) {
    self.loop = loop
    self.connection = connection
    self.session = session
  }

  public func send(_ message: ClientMessage, ref: String? = nil) {
    send(message.json(ref: ref))
  }

  public func send(_ json: String) { send(Array(json.utf8)) }

  public func send(_ json: [UInt8]) { input.append(json) }

  /// Returns the messages that have arrived since the last call.
  public func take() -> [ServerMessage] { takeAnswers().map(\.message) }

  /// Returns the same, with the `ref` of the request that each answers.
  public func takeAnswers() -> [Answer] {
    defer { messages = [] }
    return messages
  }

  /// Accepts bytes that the relay writes.
  public func write(_ bytes: Span<UInt8>) -> Int {
    writes += 1
    let taken = min(space, bytes.count)
    if space != .max { space -= taken }
    if taken < bytes.count { isBlocked = true }
    unsafe bytes.extracting(first: taken).withUnsafeBufferPointer {
      unsafe rest.append(contentsOf: $0)
    }
    parse()
    return taken
  }

  /// Frames: a length in four bytes and a message; a close has the maximum length and a code.
  private func parse() {
    var at = 0
    while rest.count - at >= 4 {
      if rest[at] == Self.packedMark {
        guard unpack(&at) else { break }
        continue
      }
      let length = rest[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      if closeCode != nil { saidMoreAfterClose = true }
      if length == Self.closeLength {
        guard rest.count - at >= 6 else { break }
        closeCode = UInt16(rest[at + 4]) << 8 | UInt16(rest[at + 5])
        at += 6
        continue
      }
      guard rest.count - at - 4 >= length else { break }
      take(Array(rest[at + 4..<at + 4 + length]))
      at += 4 + length
    }
    rest.removeFirst(at)
  }

  /// A stand-in for compression: a mark, a length, and the message with its "x"s counted.
  private static let packedMark: UInt8 = 0xFE

  static func compression(_ made: @escaping () -> Void) -> Compression {
    Compression(minimumBytes: 256) { json, frames in
      made()
      var short: [UInt8] = []
      var run: UInt8 = 0
      for index in json.indices {
        if json[index] == UInt8(ascii: "x"), run < 255 {
          run += 1
          continue
        }
        if run > 0 { short += [0, run] }
        run = json[index] == UInt8(ascii: "x") ? 1 : 0
        if run == 0 { short.append(json[index]) }
      }
      frames += [packedMark, UInt8(short.count >> 8), UInt8(short.count & 255), 0]
      frames += short
    }
  }

  private func unpack(_ at: inout Int) -> Bool {
    let length = Int(rest[at + 1]) << 8 | Int(rest[at + 2])
    guard rest.count - at - 4 >= length else { return false }
    if closeCode != nil { saidMoreAfterClose = true }
    var json: [UInt8] = []
    var short = rest[at + 4..<at + 4 + length]
    while let byte = short.popFirst() {
      if byte == 0, let run = short.popFirst() {
        json += Array(repeating: UInt8(ascii: "x"), count: Int(run))
      } else {
        json.append(byte)
      }
    }
    packed += 1
    take(json)
    at += 4 + length
    return true
  }

  private func take(_ json: [UInt8]) {
    longestMessageBytes = max(longestMessageBytes, json.count)
    do throws(UndecodableMessage) {
      messages.append(
        Answer(
          ref: ServerMessage.ref(in: json.span), message: try ServerMessage(decoding: json.span)))
    } catch {
      garbage.append(String(decoding: json, as: UTF8.self))
    }
  }

  private static let closeLength = 0xFFFF_FFFF

  public static func closeFrame(_ code: UInt16) -> [UInt8] {
    [0xFF, 0xFF, 0xFF, 0xFF, UInt8(code >> 8), UInt8(code & 255)]
  }

  public static let framing = Framing { payloadBytes, frames in
    for shift in [24, 16, 8, 0] { frames.append(UInt8(payloadBytes >> shift & 255)) }
  }
}
