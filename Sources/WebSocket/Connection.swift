/// One endpoint of an open connection (RFC 6455 §5 to §7), after the handshake.
///
/// A value that eats bytes and yields events. What the RFC wants answered by itself, a ping and
/// the peer's close, is appended to `output`; all else the caller appends. It knows no socket, no
/// clock and no random numbers: the keys that a client masks with come in as arguments (from a
/// cryptographic source, §10.3; a server never uses them).
///
/// While nothing is half received it owns no memory beyond itself.
public struct Connection: Sendable {
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
  public private(set) var state = State.open
  /// What is accepted from the peer.
  public let limits: Limits
  /// The message that came in pieces: of use when an event says so, until the next call to `next`.
  public private(set) var assembled: [UInt8] = []

  /// Set once a violation was thrown: where the next frame would begin is not known any more.
  private var failed = false
  /// The message in `assembled` was handed out and is over.
  private var assembledIsSpent = false
  /// Opcode of the message that is being received.
  private var message: Opcode?
  /// Between two text messages it is where it began: each must end with a whole scalar.
  private var text = UTF8Validator()
  private var fragments = 0
  private var frame: Frame?
  /// The part that has arrived of a header, or of a control frame's payload.
  private var partial: [UInt8] = []

  /// Whether the connection is open and the next byte begins a message, or a control frame:
  /// nothing is half received. A caller that knows what comes next may then take it by itself.
  public var isBetweenMessages: Bool {
    state == .open && !failed && frame == nil && message == nil && partial.isEmpty
  }

  /// A connection whose opening handshake is done.
  public init(role: Role, limits: Limits) {
    self.role = role
    self.limits = limits
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
      if let header = try FrameHeader.read(rest, as: role, payloadLimitBytes: limits.frameBytes) {
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
        partial.span, as: role, payloadLimitBytes: limits.frameBytes)
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

  private mutating func end() {
    state = .closed
    release()
  }

  private mutating func release() {
    frame = nil
    message = nil
    partial = []
    assembled = []
    assembledIsSpent = false
  }

  // MARK: Sending

  /// Appends a message as one frame; nothing unless the connection is open, since the peer may
  /// close at any time and no data may follow a close (RFC 6455 §5.5.1).
  /// - Parameters:
  ///   - opcode: `text` or `binary`; that text is UTF-8 is the caller's to know.
  ///   - maskKey: of a client, and fresh for each frame; a server's is not used.
  public func appendMessage(
    _ opcode: Opcode, _ payload: Span<UInt8>, to output: inout [UInt8], maskKey: UInt32
  ) {
    precondition(opcode == .text || opcode == .binary, "a message is text or binary")
    guard state == .open else { return }
    append(opcode, payload, to: &output, maskKey: maskKey)
  }

  /// Appends a message as one frame of a server: the same bytes for every open connection, so
  /// that they are made once for all of them.
  public static func appendMessage(
    _ opcode: Opcode, _ payload: Span<UInt8>, to output: inout [UInt8]
  ) {
    precondition(opcode == .text || opcode == .binary, "a message is text or binary")
    FrameHeader(opcode: opcode, payloadLength: payload.count).append(to: &output)
    output.append(copying: payload)
  }

  /// Appends a ping of at most 125 bytes; nothing unless the connection is open.
  public func appendPing(
    _ payload: [UInt8] = [], to output: inout [UInt8], maskKey: UInt32
  ) {
    precondition(payload.count <= 125, "RFC 6455 §5.5: a control frame has at most 125 bytes")
    guard state == .open else { return }
    append(.ping, payload.span, to: &output, maskKey: maskKey)
  }

  /// Appends a close and waits for the peer's, or for nothing after a violation; does nothing if
  /// a close was sent before.
  /// - Parameters:
  ///   - code: one that ``CloseCode/mayBeSent``, or `nil` for an empty frame.
  ///   - reason: cut at 123 bytes, between two scalars; left out when there is no code.
  ///   - maskKey: of a client; a server's is not used.
  public mutating func close(
    _ code: CloseCode?, reason: String = "", to output: inout [UInt8], maskKey: UInt32
  ) {
    guard state == .open else { return }
    var payload: [UInt8] = []
    if let code {
      precondition(code.mayBeSent, "RFC 6455 §7.4: \(code.rawValue) must not be sent")
      payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
      payload.append(contentsOf: Self.cut(reason, bytes: 123))
    }
    append(.close, payload.span, to: &output, maskKey: maskKey)
    if failed { end() } else { state = .closing }
  }

  private func append(
    _ opcode: Opcode, _ payload: Span<UInt8>, to output: inout [UInt8], maskKey: UInt32
  ) {
    let key = role == .client ? maskKey : nil
    FrameHeader(opcode: opcode, maskKey: key, payloadLength: payload.count).append(to: &output)
    let start = output.count
    output.append(copying: payload)
    guard let key else { return }
    var bytes = output.mutableSpan
    Masking.apply(key, to: &bytes, in: start..<bytes.count)
  }

  /// The longest prefix of whole scalars in at most that many bytes.
  private static func cut(_ text: String, bytes limit: Int) -> String.UTF8View.SubSequence {
    let utf8 = text.utf8
    guard utf8.count > limit else { return utf8[...] }
    var end = utf8.index(utf8.startIndex, offsetBy: limit)
    while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return utf8[..<end]
  }
}
