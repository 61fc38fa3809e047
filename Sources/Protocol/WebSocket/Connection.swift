/// One endpoint of a connection after the handshake (RFC 6455 §5 to §7), with optional compression
/// of messages (RFC 7692).
///
/// The connection is a value that consumes bytes and yields events. Answers that the RFC requires,
/// to a ping and to the peer's close, are appended to `output`; the caller appends everything else.
/// The connection uses no socket, clock or random numbers: a client passes its masking keys as
/// arguments (from a cryptographic source, §10.3; a server does not use them).
///
/// It allocates no memory while no message is partially received, unless the peer's messages may
/// refer to earlier ones.
public struct Connection {
  /// The state of the closing handshake (RFC 6455 §7.1).
  public enum State: Sendable {
    /// Both endpoints may send.
    case open
    /// A close frame was sent, the peer's is awaited; earlier messages of the peer still arrive.
    case closing
    /// Nothing more is read or sent: a server closes the socket, a client waits for that.
    case closed
  }

  /// Data from the peer.
  public enum Event: Equatable, Sendable {
    /// A complete message; the opcode is `text` or `binary`, and text is valid UTF-8.
    case message(Opcode, Payload)
    /// A ping with this payload; the pong is already in the output.
    case ping([UInt8])
    /// A pong with this payload, solicited or not.
    case pong([UInt8])
    /// The peer's close frame, ``CloseCode/noStatus`` if it has no code. If no close frame was sent
    /// before, its echo is already in the output. No events follow.
    case close(CloseCode, reason: String)
  }

  /// The location of a message's payload.
  public enum Payload: Equatable, Sendable {
    /// In this range of the caller's buffer, unmasked in place: the message arrived in one piece.
    case input(Range<Int>)
    /// In ``Connection/assembled``, until the next call to `next`.
    case assembled
  }

  /// A frame whose header was read, and whose payload is being taken.
  private struct Frame {
    /// The number of bytes of the payload that were not taken.
    var missing: Int
    /// As in ``FrameHeader``; 0 if unmasked, because that changes nothing.
    let maskKey: UInt32
    /// The number of bytes that were taken, modulo the length of the mask.
    var phase: UInt8 = 0
    let opcode: Opcode
    let fin: Bool

    init(_ header: FrameHeader) {
      missing = header.payloadLength
      maskKey = header.maskKey ?? 0
      opcode = header.opcode
      fin = header.fin
    }

    mutating func take(_ count: Int) {
      missing -= count
      phase = UInt8(truncatingIfNeeded: (Int(phase) + count) & 3)
    }
  }

  /// Which endpoint this is.
  public let role: Role
  /// The state of the closing handshake.
  public internal(set) var state = State.open
  /// The base-2 logarithm of the maximum window of this endpoint's compressor; 0 if messages may
  /// not be sent compressed.
  let deflatingBits: UInt8
  /// Whether messages of this endpoint may refer to earlier ones.
  let deflatingKeepsContext: Bool
  /// The limits for input from the peer.
  public let limits: Limits
  /// The message that arrived in several pieces or compressed: valid after an event that refers to
  /// it, until the next call to `next`.
  public private(set) var assembled: [UInt8] = []
  /// The incomplete header, or payload of a control frame, that has arrived.
  private var partial: [UInt8] = []
  /// Shared, unless context is kept; `nil` if the peer may not send compressed messages.
  private var inflater: Inflater?
  private var frame: Frame?
  // Small fields are in this order so that no space is left between them.
  /// Set after a violation: the start of the next frame is unknown then.
  private(set) var failed = false
  /// The number of frames of the message that is being received, if they are limited.
  private var fragments: UInt32 = 0
  /// The message in `assembled` was returned and is no longer needed.
  private var assembledIsSpent = false
  /// The opcode of the message that is being received.
  private var message: Opcode?
  /// That message is compressed, and `assembled` has its compressed form.
  private var isCompressed = false
  /// Between two text messages this is in its initial state: each must end with a whole scalar.
  private var text = UTF8Validator()

  /// Whether the connection is open and the next byte begins a message or a control frame: nothing
  /// is partially received. A caller that knows the next bytes may then process them itself.
  public var isBetweenMessages: Bool {
    state == .open && !failed && frame == nil && message == nil && partial.isEmpty
  }

  /// Creates a connection after the opening handshake.
  public init(role: Role, limits: Limits) {
    self.role = role
    self.limits = limits
    deflatingBits = 0
    deflatingKeepsContext = false
  }

  /// Creates a connection after the opening handshake, with its agreement on compression.
  /// - Parameter streams: of the thread that uses this connection. If the peer keeps context, the
  ///   connection has its own stream in addition, from the first compressed message on.
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

  /// Whether a part of a frame has arrived, but not all of it.
  package var isAmidFrame: Bool { frame != nil || !partial.isEmpty }

  /// Processes bytes of `input` from `offset` to the end of the next event, and advances `offset`;
  /// returns `nil` when all are consumed and more are needed.
  ///
  /// The buffer may be reused after `nil`: incomplete frames have been copied. After a close and
  /// after a violation all input is consumed and ignored.
  /// - Parameters:
  ///   - input: the bytes that were read; payloads are unmasked in place.
  ///   - output: receives the answers to pings and to the peer's close.
  ///   - maskKey: returns a fresh key for each answer of a client.
  /// - Throws: the violation of the peer; close the connection with its code.
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

  /// Makes sure that `frame` is set; returns `false` if its header is incomplete.
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

  /// Checks a header against the message that it belongs to (RFC 6455 §5.4).
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
      if limits.fragments > 0 {
        guard fragments < limits.fragments else {
          throw .tooManyFragments(limit: limits.fragments)
        }
        fragments += 1
      }
      // A subtraction, because the sum with a declared length may overflow.
      guard
        limits.messageBytes == 0 || header.payloadLength <= limits.messageBytes - assembled.count
      else { throw .messageTooBig(limitBytes: limits.messageBytes) }
    }
    frame = Frame(header)
  }

  /// Takes the part of the current frame's payload that has arrived; returns `nil` unless it
  /// completes an event.
  private mutating func readPayload(in input: inout MutableSpan<UInt8>, at offset: inout Int)
    throws(ProtocolViolation) -> Event?
  {
    guard var frame else { preconditionFailure("a payload follows its header") }
    let range = offset..<offset + min(input.count - offset, frame.missing)
    if frame.maskKey != 0 {
      Masking.apply(frame.maskKey, phase: Int(frame.phase), to: &input, in: range)
    }
    offset = range.upperBound
    frame.take(range.count)
    let isWhole = frame.missing == 0
    self.frame = isWhole ? nil : frame

    let bytes = input.span.extracting(range)
    if !frame.opcode.isControl {
      return try takeData(bytes, at: range, endsMessage: isWhole && frame.fin)
    }
    // Usually it arrives in one piece, and this is the only copy.
    if !bytes.isEmpty { partial.append(copying: bytes) }
    guard isWhole else { return nil }
    let payload = partial
    partial = []
    return try control(frame.opcode, payload)
  }

  /// Takes a part of a message's payload; returns the message if it is complete.
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

  /// Takes a part of a compressed message, which is decompressed when it is complete: until then it
  /// needs no stream of its own, and in either form no more memory than ``Limits/messageBytes``.
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
    case .continuation, .text, .binary: preconditionFailure("\(opcode) is not a control frame")
    }
    // RFC 6455 §5.5.1: empty, or a code of two bytes and then a reason.
    if payload.isEmpty { return .close(.noStatus, reason: "") }
    guard payload.count >= 2 else { throw .closeCodeTruncated }
    let code = CloseCode(rawValue: UInt16(payload[0]) << 8 | UInt16(payload[1]))
    guard code.mayBeSent else { throw .closeCodeInvalid(code.rawValue) }
    guard let reason = String(validating: payload[2...], as: UTF8.self) else {
      throw .closeReasonNotUTF8
    }
    return .close(code, reason: reason)
  }

  /// Appends the answer that the RFC requires.
  private mutating func answered(
    _ event: Event, output: inout [UInt8], maskKey: () -> UInt32
  ) -> Event {
    switch event {
    case .ping(let payload):
      // RFC 6455 §5.5.2, even after a close frame was sent: only the peer's ends the obligation.
      append(.pong, payload.span, to: &output, maskKey: role == .client ? maskKey() : 0)
    case .close(let code, reason: _):
      // RFC 6455 §5.5.1: the echo has the code that was received; nothing is sent if a close frame
      // was sent before.
      close(code == .noStatus ? nil : code, to: &output, maskKey: role == .client ? maskKey() : 0)
      end()
    case .message, .pong: break
    }
    return event
  }

  /// Handles a violation: partially received data is discarded.
  private mutating func fail() {
    failed = true
    // The start of the peer's close frame cannot be found, so it is not awaited.
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
