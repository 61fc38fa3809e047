import Glibc
import Platform
import Server
import TLS
import TestSupport

/// An HTTP client that a test controls step by step, without or with TLS.
final class HTTPClient {
  private let socket: Socket
  private var session: TLSSession?
  /// Ciphertext for the relay that has not been sent.
  private var ciphertext: [UInt8] = []
  private var received: [UInt8] = []
  /// The relay has closed the connection.
  private(set) var hasEnded = false

  var borrowed: BorrowedSocket { socket.borrowed }

  /// - Parameters:
  ///   - context: `nil` is without TLS; otherwise the handshake is done on return.
  ///   - source: an address of this machine; `nil` = the system's choice.
  ///   - header: what is sent before anything else, with TLS in one piece with its first flight.
  init(
    _ server: Server, _ context: TLSContext? = nil, from source: String? = nil,
    after header: [UInt8] = []
  ) throws {
    socket = try Socket.connect(
      to: server.address, from: source.flatMap { Address(numericHost: $0, port: 0) })
    ciphertext = header
    guard let context else {
      try flush()
      return
    }
    guard var session = TLSSession(client: context, host: "localhost") else {
      throw Unexpected("no memory")
    }
    session.begin(output: &ciphertext)
    self.session = consume session
    while isShakingHands {
      try flush()
      try read()
    }
    try flush()
  }

  private var isShakingHands: Bool {
    switch session {
    case .some(let session): session.state == .handshaking
    case .none: false
    }
  }

  /// Sends bytes without TLS.
  func send(raw bytes: [UInt8]) throws { try send(bytes) }

  /// Sends it in one piece, and with `end` the end of the stream in the same one.
  func send(_ text: String, end: Bool = false) throws {
    var bytes = Array(text.utf8)
    if session == nil {
      try send(bytes)
    } else {
      while !bytes.isEmpty {
        guard let count = session?.send(bytes.span, output: &ciphertext), count > 0 else {
          throw Unexpected("TLS is over")
        }
        bytes.removeFirst(count)
      }
      if end { session?.close(output: &ciphertext) }
      try flush()
    }
    if end { socket.borrowed.shutdownWrite() }
  }

  /// Returns the received bytes once `isEnough` says so or the relay has closed.
  func receive(until isEnough: (String) -> Bool = { _ in false }) throws -> String {
    while true {
      let text = String(decoding: received, as: UTF8.self)
      if hasEnded || isEnough(text) { return text }
      try read()
    }
  }

  /// Reads bytes that are not from the relay.
  func skip(_ count: Int) throws {
    var left = count
    while left > 0 {
      var buffer = [UInt8](repeating: 0, count: min(left, 65_536))
      guard let taken = try readSocket(&buffer), taken > 0 else { throw Unexpected("an end") }
      left -= taken
    }
  }

  // MARK: - The socket

  private func read() throws {
    var buffer = [UInt8](repeating: 0, count: TLSSession.headroomBytes + 16_384)
    let start = session == nil ? 0 : TLSSession.headroomBytes
    var chunk = [UInt8](repeating: 0, count: buffer.count - start)
    guard let count = try readSocket(&chunk) else { return }
    if count == 0 {
      hasEnded = true
      return
    }
    buffer.replaceSubrange(start..<start + count, with: chunk[..<count])
    if session == nil {
      received += buffer[..<count]
    } else {
      var span = buffer.mutableSpan
      let plain =
        session?.receive(in: &span, ciphertext: start..<start + count, output: &ciphertext) ?? 0
      received += buffer[..<plain]
    }
  }

  /// `nil` if nothing is there, 0 at the end.
  private func readSocket(_ buffer: inout [UInt8]) throws -> Int? {
    try wait(POLLIN)
    var span = buffer.mutableSpan
    switch socket.borrowed.read(into: &span) {
    case .bytes(let count): return count
    case .wouldBlock: return nil
    case .end: return 0
    case .failed(let error): throw error
    }
  }

  private func flush() throws {
    try send(ciphertext)
    ciphertext = []
  }

  private func send(_ bytes: [UInt8]) throws {
    if bytes.isEmpty { return }
    try wait(POLLOUT)
    guard case .sent(bytes.count) = socket.borrowed.send(bytes.span) else {
      throw Unexpected("a socket that does not take \(bytes.count) bytes")
    }
  }

  private func wait(_ event: Int32) throws {
    guard becomes(event, socket.borrowed.descriptor) else { throw Unexpected("silence") }
  }
}

/// Fills the kernel's buffers from the relay to the client: the relay runs in this process, so that
/// its descriptor can be used.
///
/// - Returns: the number of accepted bytes, which the client reads before any output of the relay.
func stuff(_ server: Server, towards client: HTTPClient) throws -> Int {
  let address = try client.borrowed.localAddress()
  // Other suites of the process may have thousands of descriptors open.
  let found = (0..<Int32(65_536)).map(BorrowedSocket.init).first {
    (try? $0.peerAddress()) == address && (try? $0.localAddress()) == server.address
  }
  guard let found else { throw Unexpected("the relay does not know that client") }
  let junk = [UInt8](repeating: 0, count: 65_536)
  var total = 0
  // Until the kernel has accepted none for a while: as long as it probes whether the client reads,
  // every 200 ms at first, that makes room for a little more.
  var refusals = 0
  while refusals < 500 {
    switch found.send(junk.span) {
    case .sent(let count):
      total += count
      refusals = 0
    case .wouldBlock:
      refusals += 1
      usleep(1000)
    case .failed(let error): throw error
    }
  }
  return total
}
