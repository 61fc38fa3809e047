package import EventLoop
package import Platform
internal import TLS
package import WebSocket

/// One connection of a client, from the first address to the last byte. Its owner calls it when the
/// loop reports something, and takes the events of what was read one after the other: between two
/// events the owner may change or replace the link.
package struct Link: ~Copyable {
  package enum Phase {
    case none
    case resolving(ClientLoop.Host)
    case connecting(Address, rest: ArraySlice<Address>)
    /// The TLS handshake, which precedes the opening handshake.
    case securing
    case handshaking(ClientHandshake)
    case open
  }

  /// The maximum size of the server's answer to the opening handshake.
  package static let headerLimitBytes = 16 * 1024
  /// Far above any message of a relay, whose pages have 128 KiB.
  package static let limits = Limits(
    frameBytes: 4 << 20, messageBytes: 4 << 20, fragments: 4096)
  /// The maximum number of bytes per read(2).
  static let readBytes = 64 * 1024
  /// The maximum number of reads per turn, so that a busy connection does not starve the others.
  package static let readsPerTurn = 4
  /// Above this amount of unsent output a session holds its lines back.
  package static let congestedBytes = 64 * 1024
  /// Shorter messages are not compressed, because that would save little.
  private static let compressedFromBytes = 256
  /// The maximum size of the buffer that an idle link keeps for the next message.
  private static let restingBytes = 512

  package internal(set) var phase = Phase.none
  private var socket: Socket?
  /// The same socket, to be used without owning it.
  private var borrowed: BorrowedSocket?
  private var registration: Registration?
  /// The part of the handshake's answer that has arrived.
  private var received: [UInt8] = []
  /// How much of it was there when it was last read without an end.
  private var examined = 0
  private var isHeadComplete = false
  private var connection: Connection
  private var output: [UInt8] = []
  private var sent = 0
  /// `nil` without TLS.
  private(set) var tls: TLSChannel?
  /// Sending failed; what the server sent before that is still to be read.
  private var isBroken = false

  package init(limits: Limits = Link.limits) {
    connection = Connection(role: .client, limits: limits)
  }

  package var isOpen: Bool { if case .open = phase { true } else { false } }
  /// Whether there is a socket, connected or not.
  package var hasSocket: Bool { registration != nil }
  /// Whether the next byte begins a message or a control frame.
  package var isBetweenMessages: Bool { isOpen && connection.isBetweenMessages }
  package var outputBytes: Int { output.count - sent + (tls?.backlogBytes ?? 0) }
  package var hasOutput: Bool { outputBytes > 0 }

  // MARK: Connecting

  /// Begins to connect; the socket becomes writable when that has succeeded or failed.
  /// - Parameters:
  ///   - source: a local address; `nil` leaves the choice to the system.
  ///   - rest: the addresses to try afterwards, which only `phase` needs.
  ///   - receiveBufferBytes: see `BorrowedSocket.setReceiveBuffer`; `nil` = as usual.
  ///   - token: the token of the loop's events.
  package mutating func connect(
    to address: Address, from source: Address? = nil, rest: ArraySlice<Address> = [],
    receiveBufferBytes: Int? = nil, on loop: EventLoop, token: UInt64
  ) throws(SystemError) {
    let socket = try Socket.connect(to: address, from: source)
    if let receiveBufferBytes {
      try socket.borrowed.setReceiveBuffer(bytes: receiveBufferBytes)
    }
    registration = try loop.register(socket.descriptor, for: .writable, token: token)
    borrowed = socket.borrowed
    self.socket = consume socket
    phase = .connecting(address, rest: rest)
  }

  package func connectionError() -> SystemError? {
    do {
      try borrowed?.finishConnecting()
      return nil
    } catch {
      return error
    }
  }

  mutating func secure(_ tls: TLSChannel) {
    self.tls = tls
    phase = .securing
  }

  package mutating func begin(_ handshake: ClientHandshake) {
    output = handshake.request
    phase = .handshaking(handshake)
  }

  // MARK: Reading

  /// Reads once.
  /// - Parameter limit: the maximum number of bytes.
  package mutating func read(into input: inout LinkInput, limit: Int = .max) -> LinkRead {
    guard let borrowed else { return .nothing }
    let capacity = min(limit, input.bytes.count)
    var whole = input.bytes.mutableSpan
    var span = whole._mutatingExtracting(0..<capacity)
    let result =
      tls.map { $0.read(from: borrowed, into: &span).plaintext } ?? borrowed.read(into: &span)
    switch result {
    case .bytes(let count):
      input.begin(count: count, isFull: count == capacity)
      return .bytes(count)
    case .wouldBlock: return .nothing
    case .end: return .ended(end(nil))
    case .failed(let error): return .ended(end(error))
    }
  }

  /// Returns what it means that the server sends no more.
  func end(_ error: SystemError?) -> LinkEnd {
    guard case .handshaking(let handshake) = phase else { return .lost(error) }
    // A refusal may have come without a length.
    do throws(HandshakeFailure) {
      _ = try handshake.read(
        received.span, headerLimitBytes: Self.headerLimitBytes, atEnd: true)
      return .lost(error)
    } catch {
      return .handshake(error)
    }
  }

  /// Takes the next event of what was read; `nil` when more bytes are needed. After `ended`, which
  /// the server has been told if it has to be, the link should be dropped.
  package mutating func next(
    in input: inout LinkInput, with resources: LinkResources
  ) -> LinkEvent? {
    if case .handshaking(let handshake) = phase {
      return finish(handshake, &input, sharing: resources.deflateStreams)
    }
    while isOpen {
      let event: Connection.Event?
      do throws(ProtocolViolation) {
        event = try input.next(&connection, output: &output) { resources.maskKey() }
      } catch {
        close(error.closeCode, reason: error.description, with: resources)
        _ = flush()
        return .ended(.violation(error))
      }
      switch event {
      case .message(let opcode, _): return .message(opcode)
      case .ping, .pong: continue
      case .close(let code, let reason):
        // The server closes the socket next; a proxy that does not must not delay the client.
        _ = flush()
        return .ended(.closed(code, reason: reason))
      case nil: return nil
      }
    }
    return nil
  }

  /// Opens the connection when the answer is complete; the rest of the input is frames.
  private mutating func finish(
    _ handshake: ClientHandshake, _ input: inout LinkInput, sharing streams: DeflateStreams
  ) -> LinkEvent? {
    let start = received.count
    received += input.bytes[input.offset..<input.count]
    input.skip(input.count - input.offset)
    guard isWorthReading(from: start) else { return nil }
    examined = received.count
    do throws(HandshakeFailure) {
      let answer = try handshake.read(received.span, headerLimitBytes: Self.headerLimitBytes)
      guard let answer else { return nil }
      // The answer ends in this input: otherwise it would have been complete before.
      input.skip(answer.length - received.count)
      received = []
      connection = Connection(
        role: .client, limits: connection.limits, deflate: answer.deflate, sharing: streams)
      phase = .open
      return .opened
    } catch {
      phase = .none
      return .ended(.handshake(error))
    }
  }

  /// Whether the answer may be complete, or wrong: it is read from its beginning each time, so lines
  /// that come one by one are read again only when there are twice as many.
  private mutating func isWorthReading(from start: Int) -> Bool {
    let end: [UInt8] = Array("\r\n\r\n".utf8)
    let news = received[max(0, start - end.count + 1)...]
    if news.firstRange(of: end) != nil { isHeadComplete = true }
    if isHeadComplete || received.count >= Self.headerLimitBytes { return true }
    return received.count >= 2 * examined
      && received[start...].contains { $0 < 0x20 && $0 != UInt8(ascii: "\r") }
  }

  // MARK: Writing

  /// Appends a message, compressed if that was agreed and is worth it.
  package mutating func append(
    _ opcode: Opcode, _ payload: Span<UInt8>, with resources: LinkResources
  ) {
    guard isOpen else { return }
    if payload.count < Self.compressedFromBytes {
      connection.appendMessage(opcode, payload, to: &output, maskKey: resources.maskKey())
    } else {
      connection.appendMessage(
        opcode, payload, compressing: resources.deflateStreams, to: &output,
        maskKey: resources.maskKey())
    }
  }

  package mutating func appendPing(with resources: LinkResources) {
    guard isOpen else { return }
    connection.appendPing(to: &output, maskKey: resources.maskKey())
  }

  /// Appends a close frame.
  package mutating func close(_ code: CloseCode, reason: String = "", with resources: LinkResources)
  {
    guard isOpen else { return }
    connection.close(code, reason: reason, to: &output, maskKey: resources.maskKey())
  }

  /// Sends as much output as the system accepts, and makes the loop wait for what is next.
  /// - Parameter isReading: whether to wait for input, too.
  package mutating func flush(on loop: EventLoop, isReading: Bool = true) throws(SystemError) {
    guard let registration else { return }
    var interest: Interest = isReading ? .readable : []
    if case .connecting = phase {
      interest = .writable
    } else if flush() {
      interest.insert(.writable)
    }
    try loop.change(registration, for: interest)
  }

  /// Sends as much output as the system accepts at once.
  ///
  /// - Returns: Whether output is left.
  @discardableResult
  package mutating func flush() -> Bool {
    guard let borrowed, !isBroken, hasOutput else { return false }
    if let count = send(output.span.extracting(sent..<output.count), to: borrowed) {
      sent += count
    } else {
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

  /// Returns the number of bytes that were accepted; `nil` if the connection is gone.
  private func send(_ bytes: Span<UInt8>, to socket: BorrowedSocket) -> Int? {
    if let tls { return tls.write(bytes, to: socket)?.taken }
    switch socket.send(bytes) {
    case .sent(let count): return count
    case .wouldBlock: return 0
    case .failed: return nil
    }
  }

  // MARK: The end

  /// Makes the end a reset, which discards unsent data.
  package func resetOnClose() { borrowed?.resetOnClose() }

  /// Ends the connection or the attempt; with TLS the server is told that no more data follows.
  package mutating func drop(from loop: EventLoop) {
    if let borrowed { tls?.close(to: borrowed) }
    if let registration { loop.deregister(registration) }
    self = Link(limits: connection.limits)
  }
}
