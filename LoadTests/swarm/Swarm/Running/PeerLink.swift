internal import EventLoop
internal import Platform
internal import WebSocket

/// One connection of a peer.
struct PeerLink: ~Copyable {
  enum Phase {
    case none
    case connecting
    case handshaking(ClientHandshake)
    case open
  }

  static let headerLimitBytes = 16 * 1024
  static let limits = Limits(frameBytes: 4 << 20, messageBytes: 4 << 20, fragments: 4096)

  var phase = Phase.none
  private var socket: Socket?
  private var borrowed: BorrowedSocket?
  var registration: Registration?
  /// The part of the handshake's answer that has arrived.
  var received: [UInt8] = []
  private var connection = Connection(role: .client, limits: PeerLink.limits)
  private(set) var output: [UInt8] = []
  private var sent = 0
  private var isBroken = false

  var isOpen: Bool { if case .open = phase { true } else { false } }
  /// Whether the next byte begins a message's first frame.
  var isBetweenFrames: Bool { connection.isBetweenMessages }
  var outputBytes: Int { output.count - sent }
  var assembled: [UInt8] { connection.assembled }

  mutating func adopt(_ socket: consuming Socket, _ registration: Registration) {
    borrowed = socket.borrowed
    self.socket = consume socket
    self.registration = registration
    phase = .connecting
  }

  func connectionError() -> SystemError? {
    do {
      try borrowed?.finishConnecting()
      return nil
    } catch {
      return error
    }
  }

  func resetOnClose() { borrowed?.resetOnClose() }

  mutating func begin(_ handshake: ClientHandshake) {
    output = handshake.request
    phase = .handshaking(handshake)
  }

  /// Opens the connection when the answer is complete, and leaves the bytes after it in `received`.
  mutating func finishHandshake(atEnd: Bool) throws(HandshakeFailure) -> Bool {
    guard case .handshaking(let handshake) = phase else { return false }
    let answer = try handshake.read(
      received.span, headerLimitBytes: Self.headerLimitBytes, atEnd: atEnd)
    guard let answer else { return false }
    received.removeFirst(answer.length)
    phase = .open
    return true
  }

  /// - Parameter limit: The maximum number of bytes.
  func read(into buffer: inout [UInt8], limit: Int) -> ReadResult? {
    guard let borrowed else { return nil }
    var whole = buffer.mutableSpan
    var span = whole._mutatingExtracting(0..<min(limit, whole.count))
    return borrowed.read(into: &span)
  }

  mutating func next(
    in buffer: inout [UInt8], count: Int, at offset: inout Int, maskKey: () -> UInt32
  ) throws(ProtocolViolation) -> Connection.Event? {
    var span = buffer.mutableSpan
    var input = span._mutatingExtracting(0..<count)
    return try connection.next(in: &input, at: &offset, output: &output, maskKey: maskKey)
  }

  mutating func append(_ json: Span<UInt8>, maskKey: UInt32) {
    connection.appendMessage(.text, json, to: &output, maskKey: maskKey)
  }

  mutating func appendPing(maskKey: UInt32) {
    guard isOpen else { return }
    connection.appendPing(to: &output, maskKey: maskKey)
  }

  mutating func close(_ code: CloseCode, maskKey: UInt32) {
    guard isOpen else { return }
    connection.close(code, to: &output, maskKey: maskKey)
  }

  /// Sends as much as the system accepts at once.
  ///
  /// - Returns: Whether output is left.
  mutating func flush() -> Bool {
    guard let borrowed, !isBroken, outputBytes > 0 else { return false }
    switch borrowed.send(output.span.extracting(sent..<output.count)) {
    case .sent(let count): sent += count
    case .wouldBlock: break
    case .failed:
      // What the relay sent before the error is still to be read.
      isBroken = true
      sent = output.count
    }
    if outputBytes > 0 { return true }
    output = []
    sent = 0
    return false
  }
}
