internal import EventLoop
internal import Platform
internal import TLS
internal import WebSocket

/// One connection of a client, from the first address to the last byte.
struct Link: ~Copyable {
  enum Phase {
    case none
    case resolving(ClientLoop.Host)
    case connecting(Address, rest: ArraySlice<Address>)
    /// The TLS handshake, which precedes the opening handshake.
    case securing
    case handshaking(ClientHandshake)
    case open
  }

  /// The maximum size of the server's answer to the opening handshake.
  static let headerLimitBytes = 16 * 1024
  /// Far above any message of a relay, whose pages have 128 KiB.
  static let limits = Limits(
    frameBytes: 4 << 20, messageBytes: 4 << 20, fragments: 4096)
  /// Shorter messages are not compressed, because that would save little.
  static let compressedFromBytes = 256
  /// The maximum size of the buffer that an idle client keeps for the next message.
  static let restingBytes = 512

  var phase = Phase.none
  private var socket: Socket?
  /// The same socket, to be used without owning it.
  private var borrowed: BorrowedSocket?
  var registration: Registration?
  /// The part of the handshake's answer that has arrived.
  var received: [UInt8] = []
  private var connection: Connection
  private var output: [UInt8] = []
  private var sent = 0
  /// `nil` without TLS.
  private(set) var encryption: LinkEncryption?
  /// Sending failed; what the relay sent before that is still to be read.
  private var isBroken = false

  init(limits: Limits = Link.limits) {
    connection = Connection(role: .client, limits: limits)
  }

  var outputBytes: Int { output.count - sent + (encryption?.unsentBytes ?? 0) }
  var hasOutput: Bool { outputBytes > 0 }
  var assembled: [UInt8] { connection.assembled }

  mutating func adopt(
    _ socket: consuming Socket, _ registration: Registration, to address: Address,
    rest: ArraySlice<Address>
  ) {
    borrowed = socket.borrowed
    self.socket = consume socket
    self.registration = registration
    phase = .connecting(address, rest: rest)
  }

  func connectionError() -> SystemError? {
    do {
      try borrowed?.finishConnecting()
      return nil
    } catch {
      return error
    }
  }

  mutating func secure(_ encryption: LinkEncryption) {
    self.encryption = encryption
    encryption.begin()
    phase = .securing
  }

  mutating func begin(_ handshake: ClientHandshake) {
    output = handshake.request
    phase = .handshaking(handshake)
  }

  /// Opens the connection when the answer is complete, and leaves the bytes after it in `received`.
  mutating func finishHandshake(atEnd: Bool, sharing streams: DeflateStreams)
    throws(HandshakeFailure) -> Bool
  {
    guard case .handshaking(let handshake) = phase else { return false }
    let answer = try handshake.read(
      received.span, headerLimitBytes: Self.headerLimitBytes, atEnd: atEnd)
    guard let answer else { return false }
    received.removeFirst(answer.length)
    connection = Connection(
      role: .client, limits: connection.limits, deflate: answer.deflate, sharing: streams)
    phase = .open
    return true
  }

  /// Reads from the socket. With TLS the result may be empty although bytes have arrived.
  func read(into buffer: inout [UInt8]) -> ReadResult? {
    guard let borrowed else { return nil }
    var span = buffer.mutableSpan
    if let encryption { return encryption.read(from: borrowed, into: &span) }
    return borrowed.read(into: &span)
  }

  mutating func next(
    in buffer: inout [UInt8], count: Int, at offset: inout Int, maskKey: () -> UInt32
  ) throws(ProtocolViolation) -> Connection.Event? {
    var span = buffer.mutableSpan
    var input = span._mutatingExtracting(0..<count)
    return try connection.next(in: &input, at: &offset, output: &output, maskKey: maskKey)
  }

  mutating func append(
    _ opcode: Opcode, _ payload: Span<UInt8>, compressing streams: DeflateStreams, maskKey: UInt32
  ) {
    guard case .open = phase else { return }
    if payload.count < Self.compressedFromBytes {
      connection.appendMessage(opcode, payload, to: &output, maskKey: maskKey)
    } else {
      connection.appendMessage(
        opcode, payload, compressing: streams, to: &output, maskKey: maskKey)
    }
  }

  mutating func appendPing(maskKey: UInt32) {
    guard case .open = phase else { return }
    connection.appendPing(to: &output, maskKey: maskKey)
  }

  mutating func close(_ code: CloseCode, reason: String = "", maskKey: UInt32) {
    guard case .open = phase else { return }
    connection.close(code, reason: reason, to: &output, maskKey: maskKey)
  }

  /// Sends as much output as the system accepts at once.
  ///
  /// - Returns: Whether output is left.
  mutating func flush() -> Bool {
    guard let borrowed, !isBroken, hasOutput else { return false }
    switch send(output.span.extracting(sent..<output.count), to: borrowed) {
    case .sent(let count): sent += count
    case .wouldBlock: break
    case .failed:
      isBroken = true
      sent = output.count
    }
    if hasOutput {
      // Removes sent bytes only when they exceed half of the buffer, so that each byte is moved at
      // most once.
      if sent > output.count / 2 {
        output.removeFirst(sent)
        sent = 0
      }
      return true
    }
    output.removeAll(keepingCapacity: output.capacity <= Self.restingBytes)
    sent = 0
    return false
  }

  private func send(_ bytes: Span<UInt8>, to socket: BorrowedSocket) -> SendResult {
    if let encryption { return encryption.send(bytes, to: socket) }
    return socket.send(bytes)
  }

  /// Tells the peer, if the connection uses TLS, that no more data follows.
  func sendCloseNotify() {
    if let borrowed, let encryption { encryption.close(to: borrowed) }
  }

  func interest(isBlocked: Bool) -> Interest {
    if case .connecting = phase { return .writable }
    return isBlocked ? [.readable, .writable] : .readable
  }
}

extension ClientError {
  init(handshake failure: HandshakeFailure) {
    switch failure {
    case .refused(let status, let body): self = .refused(status: status, body: body)
    default: self = .handshake(failure)
    }
  }
}
