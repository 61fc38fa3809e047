/// One endpoint of an open connection (RFC 6455 §5 to §7), after the handshake; messages may be
/// compressed (RFC 7692).
///
/// A value that eats bytes and yields events. What the RFC wants answered by itself, a ping and
/// the peer's close, is appended to `output`; all else the caller appends. It knows no socket, no
/// clock and no random numbers: the keys that a client masks with come in as arguments (from a
/// cryptographic source, §10.3; a server never uses them).
///
/// While nothing is half received it owns no memory beyond itself, unless the peer's messages are
/// agreed to refer to those before them.
public struct Connection {
  /// How far the closing handshake is (RFC 6455 §7.1).
  public enum State: Sendable {
    /// Both ends may send.
    case open
    /// We sent a close, and the peer's is still to come; what it sent before still arrives.
    case closing
    /// Nothing more will be read or sent: a server closes the socket, a client waits for it.
    case closed
  }

  /// What the peer sent.
  public enum Event: Equatable, Sendable {
    /// A whole message; the opcode is `text` or `binary`, and text is valid UTF-8.
    case message(Opcode, Payload)
    /// A ping with this payload; the pong is already in the output.
    case ping([UInt8])
    /// A pong with this payload, asked for or not.
    case pong([UInt8])
    /// The peer's close, ``CloseCode/noStatus`` if it named no code; if we had not sent ours,
    /// its echo is already in the output. Nothing follows.
    case close(CloseCode, reason: String)
  }

  /// Where a message's payload is.
  public enum Payload: Equatable, Sendable {
    /// In this range of the caller's buffer, unmasked in place: it arrived in one piece.
    case input(Range<Int>)
    /// In ``Connection/assembled``, until the next call to `next`.
    case assembled
  }

  /// A frame whose header was read, and how much of its payload.
  private struct Frame {
    let header: FrameHeader
    var taken = 0
    var missing: Int { header.payloadLength - taken }
  }

  /// Which end this is.
  public let role: Role
  /// How far the closing handshake is.
  public internal(set) var state = State.open
  /// Of our compressor's window, at most; 0 if nothing may be sent compressed.
  let deflatingBits: UInt8
  /// Whether our messages may refer to those before them.
  let deflatingKeepsContext: Bool
  /// What is accepted from the peer.
  public let limits: Limits
  /// The message that came in pieces or compressed: of use when an event says so, until the next
  /// call to `next`.
  public private(set) var assembled: [UInt8] = []

  /// Set once a violation was thrown: where the next frame would begin is not known any more.
  private(set) var failed = false
  /// The message in `assembled` was handed out and is over.
  private var assembledIsSpent = false
  /// Opcode of the message that is being received.
  private var message: Opcode?
  /// It is, and what is in `assembled` is its compressed form.
  private var isCompressed = false
  /// Between two text messages it is where it began: each must end with a whole scalar.
  private var text = UTF8Validator()
  private var fragments = 0
  private var frame: Frame?
  /// The part that has arrived of a header, or of a control frame's payload.
  private var partial: [UInt8] = []
  /// Shared, unless context is kept; `nil` if nothing may come in compressed.
  private var inflater: Inflater?

  /// Whether the connection is open and the next byte begins a message, or a control frame:
  /// nothing is half received. A caller that knows what comes next may then take it by itself.
  public var isBetweenMessages: Bool {
    state == .open && !failed && frame == nil && message == nil && partial.isEmpty
  }

  /// A connection whose opening handshake is done.
  public init(role: Role, limits: Limits) {
    self.role = role
    self.limits = limits
    deflatingBits = 0
    deflatingKeepsContext = false
  }

  /// A connection whose opening handshake is done, with what it agreed to about compression.
  /// - Parameter streams: those of the thread that this connection stays on. Where the peer keeps
  ///   context, the connection has a stream of its own besides, from the first such message on.
  public init(
    role: Role, limits: Limits, deflate agreement: DeflateAgreement?,
    sharing streams: DeflateStreams
  ) {
    self.role = role
    self.limits = limits
    guard let agreement else {
      deflatingBits = 0
      deflatingKeepsContext = false
      return
    }
    let peer: Role = role == .server ? .client : .server
    inflater =
      agreement.keepsContext(peer)
      ? Inflater(windowBits: agreement.windowBits(peer), keepsContext: true) : streams.inflater
    deflatingBits = UInt8(agreement.windowBits(role))
    deflatingKeepsContext = agreement.keepsContext(role)
  }

  // MARK: Receiving

  /// Whether part of a frame has arrived, and not all of it.
  package var isAmidFrame: Bool { frame != nil || !partial.isEmpty }

  /// Takes bytes of `input` from `offset` on, up to the end of the next event, and advances
  /// `offset`; `nil` when all are consumed and more are needed.
  ///
  /// The buffer may be reused after `nil`: a frame that has not arrived whole has been copied.
  /// After a close and after a violation everything is consumed and ignored.
  /// - Parameters:
  ///   - input: what was read; payloads in it are unmasked in place.
  ///   - output: takes the answers to pings and to the peer's close.
  ///   - maskKey: asked for a fresh key for each answer of a client.
  /// - Throws: the rule that the peer broke; close the connection with its code.
  public mutating func next(
    in input: inout MutableSpan<UInt8>, at offset: inout Int, output: inout [UInt8],
    maskKey: () -> UInt32
  ) throws(ProtocolViolation) -> Event? {
    if assembledIsSpent {
      assembled = []
      assembledIsSpent = false
    }
    do throws(ProtocolViolation) {
      while state != .closed, !failed, try readHeader(in: input.span, at: &offset) {
        let event = try readPayload(in: &input, at: &offset)
        if let event { return answered(event, output: &output, maskKey: maskKey) }
        if frame != nil { return nil }
      }
    } catch {
      fail()
      throw error
    }
    if state == .closed || failed { offset = input.count }
    return nil
  }

  /// Sees to it that `frame` is set; `false` if its header has not arrived whole.
  private mutating func readHeader(in input: Span<UInt8>, at offset: inout Int)
    throws(ProtocolViolation) -> Bool
  {
    guard frame == nil else { return true }
    if partial.isEmpty {
      let rest = input.extracting(offset..<input.count)
      let header = try FrameHeader.read(
        rest, as: role, payloadLimitBytes: limits.frameBytes, allowsRSV1: inflater != nil)
      if let header {
        offset += header.headerLength
        try begin(header)
        return true
      }
      if !rest.isEmpty { partial.append(copying: rest) }
      offset = input.count
      return false
    }
    while offset < input.count {
      partial.append(input[offset])
      offset += 1
      let header = try FrameHeader.read(
        partial.span, as: role, payloadLimitBytes: limits.frameBytes,
        allowsRSV1: inflater != nil)
      if let header {
        partial = []
        try begin(header)
        return true
      }
    }
    return false
  }

  /// Holds a header against the message it belongs to (RFC 6455 §5.4).
  private mutating func begin(_ header: FrameHeader) throws(ProtocolViolation) {
    if !header.opcode.isControl {
      if header.opcode == .continuation {
        guard message != nil else { throw .unexpectedContinuation }
      } else {
        guard message == nil else { throw .unfinishedMessage }
        message = header.opcode
        isCompressed = header.rsv1
        fragments = 0
      }
      fragments += 1
      guard limits.fragments == 0 || fragments <= limits.fragments else {
        throw .tooManyFragments(limit: limits.fragments)
      }
      // Subtracted, since the sum with a declared length may overflow.
      guard
        limits.messageBytes == 0 || header.payloadLength <= limits.messageBytes - assembled.count
      else { throw .messageTooBig(limitBytes: limits.messageBytes) }
    }
    frame = Frame(header: header)
  }

  /// Takes what has arrived of the current frame's payload; `nil` unless that ends an event.
  private mutating func readPayload(in input: inout MutableSpan<UInt8>, at offset: inout Int)
    throws(ProtocolViolation) -> Event?
  {
    guard var frame else { preconditionFailure("a payload follows its header") }
    let range = offset..<offset + min(input.count - offset, frame.missing)
    if let key = frame.header.maskKey {
      Masking.apply(key, phase: frame.taken, to: &input, in: range)
    }
    offset = range.upperBound
    frame.taken += range.count
    let isWhole = frame.missing == 0
    self.frame = isWhole ? nil : frame

    let bytes = input.span.extracting(range)
    if !frame.header.opcode.isControl {
      return try takeData(bytes, at: range, endsMessage: isWhole && frame.header.fin)
    }
    // In most cases whole at once: then this is the only copy.
    if !bytes.isEmpty { partial.append(copying: bytes) }
    guard isWhole else { return nil }
    let payload = partial
    partial = []
    return try control(frame.header.opcode, payload)
  }

  /// Takes a piece of a message's payload; the message if it was the last.
  private mutating func takeData(
    _ bytes: Span<UInt8>, at range: Range<Int>, endsMessage: Bool
  ) throws(ProtocolViolation) -> Event? {
    guard let message else { preconditionFailure("data belongs to a message") }
    if isCompressed { return try takeCompressed(message, bytes, endsMessage: endsMessage) }
    if message == .text {
      guard text.accept(bytes), text.isComplete || !endsMessage else { throw .textNotUTF8 }
    }
    if endsMessage {
      self.message = nil
      if assembled.isEmpty { return .message(message, .input(range)) }
      assembledIsSpent = true
    }
    if !bytes.isEmpty { assembled.append(copying: bytes) }
    return endsMessage ? .message(message, .assembled) : nil
  }

  /// Takes a piece of a compressed message, which is inflated when it is whole: until then it needs
  /// no stream of its own, and no more memory than ``Limits/messageBytes`` in either form.
  private mutating func takeCompressed(
    _ message: Opcode, _ bytes: Span<UInt8>, endsMessage: Bool
  ) throws(ProtocolViolation) -> Event? {
    guard let inflater else { preconditionFailure("RSV1 was not allowed") }
    guard endsMessage else {
      if !bytes.isEmpty { assembled.append(copying: bytes) }
      return nil
    }
    self.message = nil
    let limit = limits.messageBytes
    if assembled.isEmpty {
      try inflater.inflate(bytes, to: &assembled, limitBytes: limit)
    } else {
      assembled.append(copying: bytes)
      var inflated: [UInt8] = []
      try inflater.inflate(assembled.span, to: &inflated, limitBytes: limit)
      assembled = inflated
    }
    if message == .text {
      var text = UTF8Validator()
      guard text.accept(assembled.span), text.isComplete else { throw .textNotUTF8 }
    }
    assembledIsSpent = true
    return .message(message, .assembled)
  }

  private func control(_ opcode: Opcode, _ payload: [UInt8])
    throws(ProtocolViolation) -> Event
  {
    switch opcode {
    case .ping: return .ping(payload)
    case .pong: return .pong(payload)
    case .close: break
    case .continuation, .text, .binary: preconditionFailure("\(opcode) is no control frame")
    }
    // RFC 6455 §5.5.1: nothing, or a code of two bytes and then a reason.
    if payload.isEmpty { return .close(.noStatus, reason: "") }
    guard payload.count >= 2 else { throw .closeCodeTruncated }
    let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
    guard code.mayBeSent else { throw .closeCodeInvalid(code.rawValue) }
    guard let reason = String(validating: payload[2...], as: UTF8.self) else {
      throw .closeReasonNotUTF8
    }
    return .close(code, reason: reason)
  }

  /// Answers what the RFC wants answered by itself.
  private mutating func answered(
    _ event: Event, output: inout [UInt8], maskKey: () -> UInt32
  ) -> Event {
    switch event {
    case .ping(let payload):
      // RFC 6455 §5.5.2, also after our own close: only the peer's ends the duty.
      append(.pong, payload.span, to: &output, maskKey: role == .client ? maskKey() : 0)
    case .close(let code, reason: _):
      // RFC 6455 §5.5.1: the echo carries the code that was received; none if ours was sent.
      close(code == .noStatus ? nil : code, to: &output, maskKey: role == .client ? maskKey() : 0)
      end()
    case .message, .pong: break
    }
    return event
  }

  /// A violation was found: what was half received is dropped.
  private mutating func fail() {
    failed = true
    // There is no telling where the peer's close would begin, so it is not waited for.
    if state == .closing { end() }
    release()
  }

  mutating func end() {
    state = .closed
    release()
  }

  private mutating func release() {
    frame = nil
    message = nil
    partial = []
    assembled = []
    assembledIsSpent = false
    inflater = nil
  }
}
