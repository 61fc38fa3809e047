import WebSocket

/// A connection that is fed, and everything observable about it.
struct FrameReader {
  /// An event with its payload copied out.
  enum Event: Equatable {
    case message(Opcode, [UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(CloseCode, String)
  }

  struct Outcome: Equatable {
    var events: [Event] = []
    var violation: ProtocolViolation?
    var output: [UInt8] = []
    var state = Connection.State.open
  }

  private static let maskKey: UInt32 = 0xA5C3_1E77
  private(set) var connection: Connection
  private(set) var outcome = Outcome()
  private var fedBytes = 0

  private let agreement: DeflateAgreement?

  init(
    role: Role, limits: Limits, closedBefore: Bool, deflate agreement: DeflateAgreement? = nil
  ) {
    connection = Connection(
      role: role, limits: limits, deflate: agreement, sharing: DeflateStreams())
    self.agreement = agreement
    if closedBefore { close() }
    outcome.state = connection.state
  }

  /// Feeds one piece, in a buffer of its own that is freed afterwards.
  mutating func feed(_ piece: ArraySlice<UInt8>) throws(FuzzFinding) {
    var buffer = Array(piece)
    fedBytes += buffer.count
    var offset = 0
    while true {
      let event: Connection.Event?
      do throws(ProtocolViolation) {
        var input = buffer.mutableSpan
        event = try connection.next(
          in: &input, at: &offset, output: &outcome.output, maskKey: { Self.maskKey })
      } catch {
        try take(error)
        continue
      }
      guard let event else { break }
      try expect(outcome.violation == nil, "\(event) comes after a violation")
      try take(event, buffer)
    }
    try expect(offset == buffer.count, "\(offset) bytes of \(buffer.count) were consumed")
    try checkMemory()
    outcome.state = connection.state
  }

  private mutating func take(_ violation: ProtocolViolation) throws(FuzzFinding) {
    try expect(outcome.violation == nil, "\(violation) comes after another violation")
    try expect(violation.closeCode.mayBeSent, "\(violation) has a code that must not be sent")
    try expect(
      violation.description.utf8.count <= 123, "\(violation) does not fit into a close frame")
    outcome.violation = violation
    close()
    try expect(connection.state == .closed, "the connection must be closed after a violation")
  }

  private mutating func close() {
    connection.close(.goingAway, reason: "ours", to: &outcome.output, maskKey: Self.maskKey)
  }

  private mutating func take(_ event: Connection.Event, _ buffer: [UInt8]) throws(FuzzFinding) {
    switch event {
    case .message(let opcode, let payload):
      let bytes =
        switch payload {
        case .input(let range): Array(buffer[range])
        case .assembled: connection.assembled
        }
      let limit = connection.limits.messageBytes
      try expect(limit == 0 || bytes.count <= limit, "a message has \(bytes.count) bytes")
      try expect(
        opcode == .binary || String(validating: bytes, as: UTF8.self) != nil,
        "a text is not UTF-8")
      outcome.events.append(.message(opcode, bytes))
    case .ping(let payload): outcome.events.append(.ping(payload))
    case .pong(let payload): outcome.events.append(.pong(payload))
    case .close(let code, let reason):
      try expect(
        connection.state == .closed, "the connection must be closed after the peer's close")
      outcome.events.append(.close(code, reason))
    }
  }

  /// Held memory is in proportion to the arrived bytes, whatever a header declares, and within
  /// the limits; an array may have capacity for twice its count.
  private func checkMemory() throws(FuzzFinding) {
    let held = connection.assembled.capacity
    let limit = connection.limits.messageBytes
    // Deflate expands a byte to at most 1,032 (zlib's technical notes), and gets space in advance.
    let arrived = agreement == nil ? fedBytes : 1032 * fedBytes + 512
    let bytes = limit == 0 ? arrived : min(arrived, limit)
    try expect(held <= 2 * bytes + 64, "\(held) bytes are held for \(fedBytes)")
    // A client's empty pong has 6 bytes, the ping that it answers 2.
    try expect(
      outcome.output.count <= 3 * fedBytes + 32,
      "\(outcome.output.count) bytes answer \(fedBytes)")
    if connection.isBetweenMessages {
      try expect(!connection.isAmidFrame, "amid a frame and between messages at once")
    }
  }

  /// The frames by which the other end sends these events to an end of that role.
  static func encoded(
    _ events: [Event], for role: Role, deflate agreement: DeflateAgreement? = nil
  ) -> [UInt8] {
    let none = Limits(frameBytes: 0, messageBytes: 0, fragments: 0)
    let other: Role = role == .server ? .client : .server
    var sender = Connection(
      role: other, limits: none, deflate: agreement, sharing: DeflateStreams())
    let deflater = agreement.map { agreement in
      role == .client
        ? Deflater(
          windowBits: max(9, agreement.serverWindowBits),
          keepsContext: agreement.serverKeepsContext)
        : Deflater(
          windowBits: max(9, agreement.clientWindowBits),
          keepsContext: agreement.clientKeepsContext)
    }
    var bytes: [UInt8] = []
    for event in events {
      switch event {
      case .message(let opcode, let payload):
        if let deflater {
          sender.appendMessage(
            opcode, payload.span, compressing: deflater, to: &bytes, maskKey: maskKey)
        } else if role == .client {
          Connection.appendMessage(opcode, payload.span, to: &bytes)
        } else {
          sender.appendMessage(opcode, payload.span, to: &bytes, maskKey: maskKey)
        }
      case .ping(let payload): sender.appendPing(payload, to: &bytes, maskKey: maskKey)
      case .pong(let payload):
        // A connection sends a pong only in answer to a ping, so it is given one.
        var peer = Connection(role: sender.role, limits: none)
        var ping: [UInt8] = []
        Connection(role: role, limits: none).appendPing(payload, to: &ping, maskKey: maskKey)
        var offset = 0
        var input = ping.mutableSpan
        _ = try? peer.next(in: &input, at: &offset, output: &bytes, maskKey: { maskKey })
      case .close(let code, let reason):
        sender.close(
          code == .noStatus ? nil : code, reason: reason, to: &bytes, maskKey: maskKey)
      }
    }
    return bytes
  }
}
