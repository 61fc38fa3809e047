internal import Mixing
internal import WebSocket

/// The bytes that a hostile client sends: the same act and seed give the same bytes.
struct HostileBytes {
  static let jsonFrames = 200
  static let pingFrames = 1_000
  static let historyRequests = 40
  static let garbageBytes = 512
  /// The announced length of a frame that is cut off, and the number of bytes sent.
  static let promisedBytes = 4_096
  static let keptBytes = 100

  let act: HostileAct
  /// A room whose history a reader may request.
  let room: String
  private var random: SplitMix64
  /// Whether the act begins before the end of the handshake.
  let skipsHandshake: Bool

  init(_ act: HostileAct, room: String, seed: UInt64) {
    self.act = act
    self.room = room
    random = SplitMix64(seed: seed)
    skipsHandshake =
      switch act {
      case .halfHandshake: true
      case .garbage: random.below(2) == 0
      default: false
      }
  }

  /// Whether the client reads the relay's messages.
  var reads: Bool { act != .neverReads && act != .pings }

  mutating func nonce() -> [UInt8] { (0..<16).map { _ in byte() } }

  /// Returns the bytes sent instead of the complete request, if the handshake is skipped.
  mutating func opening(of request: [UInt8]) -> [UInt8] {
    act == .halfHandshake
      ? Array(request.prefix(1 + random.below(request.count - 2))) : garbage()
  }

  /// Returns the bytes sent when the connection is open.
  mutating func payload() -> [UInt8] {
    var bytes: [UInt8] = []
    switch act {
    case .halfHandshake: break
    case .garbage: bytes = garbage()
    case .unmasked:
      let text = Array(#"{"type":"ping"}"#.utf8)
      FrameHeader(opcode: .text, payloadLength: text.count).append(to: &bytes)
      bytes += text
    case .oversized:
      let header = FrameHeader(
        opcode: .binary, maskKey: maskKey(), payloadLength: 1 << 62)
      header.append(to: &bytes)
      bytes += garbage()
    case .invalidUTF8:
      // The first byte of a two-byte sequence without the second; a surrogate; a value above
      // U+10FFFF.
      let wrong: [[UInt8]] = [[0xC3, 0x28], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]]
      bytes = frame(Array(#"{"type":""#.utf8) + wrong[random.below(wrong.count)], .text)
    case .invalidJSON:
      let wrong = [
        "", "{", "[1,2", "null", #"{"type":}"#, #"{"type":"send""#, "{\"type\":\"\u{1}\"}",
        String(repeating: "[", count: 200), #"{"type":"ping","t":1e}"#,
      ]
      // Each frame is masked only once, so that making a flood does not stall swarm.
      let frames = wrong.map { frame(Array($0.utf8), .text) }
      for _ in 0..<Self.jsonFrames { bytes += frames[random.below(frames.count)] }
    case .pings:
      let ping = frame((0..<125).map { _ in byte() }, .ping)
      for _ in 0..<Self.pingFrames { bytes += ping }
    case .neverReads:
      bytes = frame(Array(#"{"type":"join","room":"\#(room)","after":0}"#.utf8), .text)
      let request = #"{"type":"history","room":"\#(room)","after":0,"limit":500}"#
      let history = frame(Array(request.utf8), .text)
      for _ in 0..<Self.historyRequests { bytes += history }
    case .reset:
      let header = FrameHeader(
        opcode: .text, maskKey: maskKey(), payloadLength: Self.promisedBytes)
      header.append(to: &bytes)
      bytes += garbage().prefix(Self.keptBytes)
    case .reservedOpcode:
      let reserved: [UInt8] = [0x3, 0x4, 0x5, 0x6, 0x7, 0xB, 0xC, 0xD, 0xE, 0xF]
      bytes = frame(Array("{}".utf8), .text)
      bytes[0] = 0x80 | reserved[random.below(reserved.count)]
    }
    return bytes
  }

  private mutating func frame(_ payload: [UInt8], _ opcode: Opcode) -> [UInt8] {
    RawFrame.masked(payload, opcode, key: maskKey())
  }

  private mutating func garbage() -> [UInt8] { (0..<Self.garbageBytes).map { _ in byte() } }
  private mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: random.next()) }
  private mutating func maskKey() -> UInt32 { UInt32(truncatingIfNeeded: random.next()) }
}
