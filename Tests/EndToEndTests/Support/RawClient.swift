import Glibc
import Platform
import TestSupport
import WebSocket
import Wire

/// A client that a test controls completely, and that waits for nothing else: it neither
/// reads nor reconnects by itself.
final class RawClient {
  /// What the relay sent.
  enum Event {
    case message([UInt8])
    case closed(UInt16, reason: String)
    /// The connection is over without a close.
    case end
  }

  private let socket: BorrowedSocket
  /// For poll(2).
  var descriptor: Int32 { socket.descriptor }
  private var connection = Connection(
    role: .client, limits: Limits(frameBytes: 4 << 20, messageBytes: 4 << 20, fragments: 4096))
  /// Read and not yet taken apart.
  private var input: [UInt8] = []
  private var offset = 0
  private var output: [UInt8] = []
  private var sent = 0
  private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
  private var isAtEnd = false

  /// Connects and shakes hands.
  /// - Throws: `HandshakeFailure`, if the answer is no WebSocket.
  convenience init(
    _ relay: RelayProcess, user: String?, subprotocols: [String] = ["relay.v1"],
    target: String? = nil, headers: [(name: String, value: String)] = []
  ) throws {
    try self.init(
      port: relay.port, user: user, subprotocols: subprotocols, target: target, headers: headers)
  }

  /// Connects to a port, and shakes hands.
  init(
    port: UInt16, user: String?, subprotocols: [String] = ["relay.v1"], target: String? = nil,
    headers: [(name: String, value: String)] = []
  ) throws {
    socket = try Self.connect(port: port)
    try wait(POLLOUT, Deadline())
    try socket.finishConnecting()
    var random = SystemRandomNumberGenerator()
    let handshake = ClientHandshake(
      host: "127.0.0.1:\(port)", target: target ?? (user.map { "/ws?user=\($0)" } ?? "/ws"),
      subprotocols: subprotocols, headers: headers,
      nonce: (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) })
    output = handshake.request
    try flush()
    try finish(handshake)
  }

  private static func connect(port: UInt16) throws -> BorrowedSocket {
    let socket = try Socket.connect(to: Address("127.0.0.1:\(port)"))
    return BorrowedSocket(descriptor: socket.release())
  }

  private func finish(_ begun: ClientHandshake) throws {
    var handshake = begun
    while true {
      let bytes = input
      let answer = try handshake.read(bytes.span, headerLimitBytes: 16 * 1024, atEnd: isAtEnd)
      if let answer {
        offset = answer.length
        return
      }
      if isAtEnd { throw Unexpected("the relay hung up during the handshake") }
      try wait(POLLIN, Deadline())
      receive()
    }
  }

  deinit { Glibc.close(socket.descriptor) }

  // MARK: Sending

  func send(_ json: String) throws { try send(.text, Array(json.utf8)) }

  func send(_ message: ClientMessage) throws { try send(.text, message.json) }

  /// Sends all of it, however long the relay takes.
  func send(_ opcode: Opcode, _ payload: [UInt8]) throws {
    enqueue(opcode, payload)
    try flush()
  }

  /// Sends bytes that need be no frames.
  func send(raw bytes: [UInt8]) throws {
    output += bytes
    try flush()
  }

  /// Keeps it for `flushAvailable`.
  func enqueue(_ opcode: Opcode, _ payload: [UInt8]) {
    // A key of zero masks nothing, and is a key like any other.
    connection.appendMessage(opcode, payload.span, to: &output, maskKey: 0)
  }

  func enqueue(_ json: [UInt8]) { enqueue(.text, json) }

  func enqueue(_ json: String) { enqueue(.text, Array(json.utf8)) }

  var hasOutput: Bool { sent < output.count }

  /// Sends as much as the system accepts at once; `false` if something is left.
  @discardableResult
  func flushAvailable() throws -> Bool {
    while hasOutput {
      let bytes = output
      switch socket.send(bytes.span.extracting(sent..<bytes.count)) {
      case .sent(let count): sent += count
      case .wouldBlock: return false
      case .failed(let error): throw error
      }
    }
    output.removeAll(keepingCapacity: true)
    sent = 0
    return true
  }

  private func flush(_ deadline: Deadline = Deadline()) throws {
    while try !flushAvailable() { try wait(POLLOUT, deadline) }
  }

  /// Begins the closing handshake.
  func close() throws {
    connection.close(.normal, to: &output, maskKey: 0)
    try flush()
  }

  /// Says that nothing more comes, as the end of a connection demands.
  func hangUp() { socket.shutdownWrite() }

  // MARK: Receiving

  /// The next event of the input so far; `nil` if there is none.
  func nextAvailable() throws -> Event? {
    if offset < input.count {
      switch try takeApart() {
      case .message(_, .input(let range))?: return .message(Array(input[range]))
      case .message(_, .assembled)?: return .message(connection.assembled)
      case .close(let code, let reason)?:
        _ = try? flushAvailable()
        return .closed(code.rawValue, reason: reason)
      case .ping?, .pong?:
        _ = try flushAvailable()
        return try nextAvailable()
      case nil: break
      }
    }
    input.removeAll(keepingCapacity: true)
    offset = 0
    return isAtEnd ? .end : nil
  }

  private func takeApart() throws(ProtocolViolation) -> Connection.Event? {
    // Taken out for the call, and put back: a span is of one owner.
    var bytes: [UInt8] = []
    swap(&bytes, &input)
    defer { swap(&bytes, &input) }
    var span = bytes.mutableSpan
    return try connection.next(in: &span, at: &offset, output: &output) { 0 }
  }

  /// Reads the available input, without waiting.
  func receive() {
    if offset == input.count {
      input.removeAll(keepingCapacity: true)
      offset = 0
    }
    var span = buffer.mutableSpan
    switch socket.read(into: &span) {
    case .bytes(let count): input += buffer[..<count]
    case .wouldBlock: break
    case .end, .failed: isAtEnd = true
    }
  }

  /// Waits for the next event.
  func next(_ deadline: Deadline = Deadline()) throws -> Event {
    while true {
      if let event = try nextAvailable() { return event }
      try wait(POLLIN, deadline)
      receive()
    }
  }

  /// Waits for the next message.
  func nextJSON(_ deadline: Deadline = Deadline()) throws -> [UInt8] {
    switch try next(deadline) {
    case .message(let json): return json
    case .closed(let code, let reason): throw Unexpected("closed: \(code) \(reason)")
    case .end: throw Unexpected("the relay hung up")
    }
  }

  /// Waits for the first message of which `pick` makes something; the others are dropped.
  func first<Picked>(
    _ deadline: Deadline = Deadline(), _ pick: (ServerMessage) -> Picked?
  ) throws -> Picked {
    while true {
      if let picked = pick(try nextMessage(deadline)) { return picked }
    }
  }

  func nextMessage(_ deadline: Deadline = Deadline()) throws -> ServerMessage {
    let json = try nextJSON(deadline)
    return try ServerMessage(decoding: json.span)
  }

  /// Waits for the close; the messages before it are returned.
  func untilClosed(
    _ deadline: Deadline = Deadline()
  ) throws -> (messages: [ServerMessage], code: UInt16, reason: String) {
    var messages: [ServerMessage] = []
    while true {
      switch try next(deadline) {
      case .message(let json): messages.append(try ServerMessage(decoding: json.span))
      case .closed(let code, let reason): return (messages, code, reason)
      case .end: throw Unexpected("the relay hung up without a close, after \(messages)")
      }
    }
  }

  private func wait(_ event: Int32, _ deadline: Deadline) throws {
    guard becomes(event, socket.descriptor, deadline) else {
      throw Unexpected("the relay said nothing more")
    }
  }
}

// MARK: - What tests ask for most

extension RawClient {
  func error() throws -> WireError {
    try first { if case .error(let error) = $0 { error } else { nil } }
  }

  func ack() throws -> ServerMessage.Ack {
    try first { if case .ack(let ack) = $0 { ack } else { nil } }
  }

  func join(_ room: String, after: Int64? = nil) throws -> ServerMessage.Joined {
    try send(.join(.init(room: room, after: after)))
    return try first {
      if case .joined(let joined) = $0, joined.room == room { joined } else { nil }
    }
  }

  /// Sends a text and waits for its ack.
  @discardableResult
  func say(_ text: String, in room: String, id: String) throws -> ServerMessage.Ack {
    try send(.send(.init(room: room, id: id, text: text)))
    return try first { message in
      if case .ack(let ack) = message, ack.id == id { ack } else { nil }
    }
  }

  func entry() throws -> Entry {
    try first { if case .message(let entry) = $0 { entry } else { nil } }
  }

  func history(_ room: String, after: Int64 = 0, limit: Int = 500) throws
    -> ServerMessage.HistoryPage
  {
    try send(.history(.init(room: room, after: after, limit: limit)))
    return try first { if case .history(let page) = $0 { page } else { nil } }
  }

  /// Every entry of a room, page by page.
  func everything(in room: String) throws -> [Entry] {
    var entries: [Entry] = []
    while true {
      let page = try history(room, after: entries.last?.seq ?? 0)
      entries += page.entries
      if !page.more { return entries }
    }
  }
}

extension [UInt8] {
  /// The whole number after the first `"name":`, without decoding anything else.
  func integer(_ name: String) -> Int64? {
    let key = Array("\"\(name)\":".utf8)
    guard let range = firstRange(of: key) else { return nil }
    var value: Int64 = 0
    var index = range.upperBound
    while index < count, 0x30...0x39 ~= self[index] {
      value = value * 10 + Int64(self[index] - 0x30)
      index += 1
    }
    return index > range.upperBound ? value : nil
  }
}
