import EventLoop
import Glibc
import Mailbox

/// A handler made of closures, which counts what it was told.
final class Recorder: EventHandler {
  var onReady: (Registration, UInt64, Readiness) -> Void = { _, _, _ in }
  var onTimer: (TimerID, UInt64) -> Void = { _, _ in }
  var onBeforeSleep: () -> Void = {}
  private(set) var events: [(token: UInt64, readiness: Readiness)] = []
  private(set) var timers: [UInt64] = []
  private(set) var sleeps = 0

  func ready(_ registration: Registration, token: UInt64, _ readiness: Readiness) {
    events.append((token, readiness))
    onReady(registration, token, readiness)
  }

  func timerFired(_ timer: TimerID, token: UInt64) {
    timers.append(token)
    onTimer(timer, token)
  }

  func beforeSleep() {
    sleeps += 1
    onBeforeSleep()
  }
}

/// Both ends of a connection over loopback.
struct Pair: ~Copyable {
  var client: Socket
  var server: Socket

  init(receiveBufferBytes: Int? = nil) throws {
    let listener = try Listener.claim(Address("127.0.0.1:0"))
    if let receiveBufferBytes {
      // Accepted sockets inherit it.
      try BorrowedSocket(descriptor: listener.descriptor).setReceiveBuffer(
        bytes: receiveBufferBytes)
    }
    let client = try Socket.connect(to: listener.address)
    let server = try accept(from: listener)
    guard becomes(POLLOUT, client.descriptor) else { throw Unexpected("not connected") }
    try client.finishConnecting()
    self.client = client
    self.server = server
  }
}

/// What ends a test that cannot go on.
struct Unexpected: Error {
  var what: String
  init(_ what: String) { self.what = what }
}

/// Waits for the next client.
func accept(from listener: borrowing Listener) throws -> Socket {
  guard becomes(POLLIN, listener.descriptor) else { throw Unexpected("nobody came") }
  switch listener.accept() {
  case .socket(let socket, _): return socket
  default: throw Unexpected("nobody came")
  }
}

/// Waits until poll(2) reports it; false after 10 s.
func becomes(_ event: Int32, _ descriptor: Int32) -> Bool {
  var request = pollfd(fd: descriptor, events: Int16(event), revents: 0)
  return unsafe poll(&request, 1, 10_000) == 1
}

extension BorrowedSocket {
  /// Reads until the end, or until `count` bytes are there.
  func readAll(upTo count: Int = .max) -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    while bytes.count < count, becomes(POLLIN, descriptor) {
      var span = buffer.mutableSpan
      guard case .bytes(let size) = read(into: &span) else { break }
      bytes += buffer[..<size]
    }
    return bytes
  }
}
