/// Sending.
extension Connection {
  /// Appends a message as one frame. Does nothing unless the connection is open, because the peer
  /// may close at any time and no data may follow a close (RFC 6455 §5.5.1).
  /// - Parameters:
  ///   - opcode: `text` or `binary`; the caller guarantees that text is UTF-8.
  ///   - maskKey: for a client, fresh for each frame; a server ignores it.
  public func appendMessage(
    _ opcode: Opcode, _ payload: Span<UInt8>, to output: inout [UInt8], maskKey: UInt32
  ) {
    precondition(opcode == .text || opcode == .binary, "a message is text or binary")
    guard state == .open else { return }
    append(opcode, payload, to: &output, maskKey: maskKey)
  }

  /// Appends a message as one frame of a server. The bytes are the same for every open connection,
  /// so they can be built once for all of them.
  public static func appendMessage(
    _ opcode: Opcode, _ payload: Span<UInt8>, to output: inout [UInt8]
  ) {
    precondition(opcode == .text || opcode == .binary, "a message is text or binary")
    FrameHeader(opcode: opcode, payloadLength: payload.count).append(to: &output)
    output.append(copying: payload)
  }

  /// Appends a message as one frame, compressed if that makes it smaller and if the peer can
  /// inflate it; otherwise as ``appendMessage(_:_:to:maskKey:)``.
  /// - Parameter deflater: one with context is used by this connection only.
  public func appendMessage(
    _ opcode: Opcode, _ payload: Span<UInt8>, compressing deflater: Deflater,
    to output: inout [UInt8], maskKey: UInt32
  ) {
    precondition(opcode == .text || opcode == .binary, "a message is text or binary")
    guard state == .open else { return }
    let isCompressed =
      mayCompress(payload, with: deflater)
      && deflater.withSmaller(payload) {
        append(opcode, rsv1: true, $0, to: &output, maskKey: maskKey)
      }
    if !isCompressed { append(opcode, payload, to: &output, maskKey: maskKey) }
  }

  /// Appends a message as one frame, compressed with the one of the thread's compressors that uses
  /// the peer's window best, if that makes it smaller; otherwise as
  /// ``appendMessage(_:_:to:maskKey:)``.
  public func appendMessage(
    _ opcode: Opcode, _ payload: Span<UInt8>, compressing streams: DeflateStreams,
    to output: inout [UInt8], maskKey: UInt32
  ) {
    if deflatingBits > 0, let deflater = streams.deflater(windowBits: max(9, Int(deflatingBits))) {
      appendMessage(opcode, payload, compressing: deflater, to: &output, maskKey: maskKey)
    } else {
      appendMessage(opcode, payload, to: &output, maskKey: maskKey)
    }
  }

  /// Appends a message as one frame of a server, compressed if that makes it smaller. The caller
  /// knows the recipients: the bytes are the same for every open connection that
  /// ``canInflate(from:)``.
  /// - Returns: whether the message is compressed.
  @discardableResult
  public static func appendMessage(
    _ opcode: Opcode, _ payload: Span<UInt8>, compressing deflater: Deflater,
    to output: inout [UInt8]
  ) -> Bool {
    precondition(opcode == .text || opcode == .binary, "a message is text or binary")
    precondition(!deflater.keepsContext, "a broadcast frame must not depend on earlier messages")
    let isCompressed = deflater.withSmaller(payload) { compressed in
      FrameHeader(rsv1: true, opcode: opcode, payloadLength: compressed.count).append(to: &output)
      output.append(copying: compressed)
    }
    if !isCompressed { appendMessage(opcode, payload, to: &output) }
    return isCompressed
  }

  /// Whether the peer has agreed to accept all output of this compressor.
  public func canInflate(from deflater: Deflater) -> Bool {
    deflater.windowBits <= Int(deflatingBits) && (deflatingKeepsContext || !deflater.keepsContext)
  }

  /// Whether the message may be compressed: if it is no longer than the peer's window, it has no
  /// references beyond that, even if the compressor's window is larger.
  private func mayCompress(_ payload: Span<UInt8>, with deflater: Deflater) -> Bool {
    canInflate(from: deflater)
      || deflatingBits > 0 && !deflater.keepsContext && payload.count <= 1 << Int(deflatingBits)
  }

  /// Appends a ping of at most 125 bytes. Does nothing unless the connection is open.
  public func appendPing(
    _ payload: [UInt8] = [], to output: inout [UInt8], maskKey: UInt32
  ) {
    precondition(payload.count <= 125, "RFC 6455 §5.5: a control frame has at most 125 bytes")
    guard state == .open else { return }
    append(.ping, payload.span, to: &output, maskKey: maskKey)
  }

  /// Appends a close frame and waits for the peer's, except after a violation. Does nothing if a
  /// close frame was sent before.
  /// - Parameters:
  ///   - code: one that ``CloseCode/mayBeSent``, or `nil` for an empty frame.
  ///   - reason: truncated to 123 bytes at a scalar boundary; omitted without a code.
  ///   - maskKey: for a client; a server ignores it.
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

  func append(
    _ opcode: Opcode, rsv1: Bool = false, _ payload: Span<UInt8>, to output: inout [UInt8],
    maskKey: UInt32
  ) {
    let key = role == .client ? maskKey : nil
    FrameHeader(rsv1: rsv1, opcode: opcode, maskKey: key, payloadLength: payload.count)
      .append(to: &output)
    let start = output.count
    output.append(copying: payload)
    guard let key else { return }
    var bytes = output.mutableSpan
    Masking.apply(key, to: &bytes, in: start..<bytes.count)
  }

  /// Returns the longest prefix of whole scalars with at most `limit` bytes.
  private static func cut(_ text: String, bytes limit: Int) -> String.UTF8View.SubSequence {
    let utf8 = text.utf8
    guard utf8.count > limit else { return utf8[...] }
    var end = utf8.index(utf8.startIndex, offsetBy: limit)
    while utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return utf8[..<end]
  }
}
