internal import CLinux
internal import Glibc
internal import Platform
internal import Synchronization

/// Forwards connections to a port of this machine, on a thread of its own, and counts the bytes that clients send: what is
/// sent twice is in no figure of the relay, and a client that was killed tells nothing.
final class CountingProxy: Sendable {
  let port: UInt16
  private let counter: Counter
  private let end: Mailbox<Void>
  private let thread: WorkerThread

  fileprivate final class Counter: Sendable {
    let bytes = Atomic<Int64>(0)
  }

  init(to target: UInt16) throws {
    guard let target = Address(numericHost: "127.0.0.1", port: target) else {
      throw SystemError("127.0.0.1", code: EINVAL)
    }
    let (listener, port) = try LinkProxy.listen()
    let (end, counter) = (try Mailbox<Void>(), Counter())
    (self.port, self.end, self.counter) = (port, end, counter)
    thread = try WorkerThread(name: "files-proxy") {
      var forwarder = Forwarder(listener: listener, target: target, counter: counter)
      while !end.wait(timeoutMilliseconds: 0) { forwarder.turn(wokenBy: end.descriptor) }
      forwarder.end()
    }
  }

  deinit {
    end.post(())
    thread.join()
  }

  var sentBytes: Int64 { counter.bytes.load(ordering: .relaxed) }
}

/// The connections of a proxy, used by its thread.
private struct Forwarder {
  /// One direction of a connection.
  struct Direction {
    let source: Int32
    let target: Int32
    var held: ArraySlice<UInt8> = []
    var hasEnded = false

    /// What has to happen before it moves on.
    var request: pollfd {
      if !held.isEmpty { return pollfd(fd: target, events: Int16(POLLOUT), revents: 0) }
      return pollfd(fd: hasEnded ? -1 : source, events: Int16(POLLIN), revents: 0)
    }
  }

  struct Pair {
    var up: Direction
    var down: Direction
  }

  /// What the system keeps on the way to the relay is lost with it.
  private static let bufferBytes: Int32 = 65_536

  let listener: Int32
  let target: Address
  let counter: CountingProxy.Counter
  private var pairs: [Pair] = []
  private var buffer = [UInt8](repeating: 0, count: 65_536)

  init(listener: Int32, target: Address, counter: CountingProxy.Counter) {
    (self.listener, self.target, self.counter) = (listener, target, counter)
  }

  /// Waits until something can be done, and does it.
  mutating func turn(wokenBy waker: Int32) {
    var requests = [waker, listener].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    for pair in pairs { requests += [pair.up.request, pair.down.request] }
    guard unsafe poll(&requests, nfds_t(requests.count), -1) > 0 else { return }
    var kept: [Pair] = []
    for (index, pair) in pairs.enumerated() {
      var pair = pair
      let (up, down) = (requests[2 + 2 * index].revents, requests[3 + 2 * index].revents)
      let isGood = (up == 0 || move(&pair.up, counts: true)) && (down == 0 || move(&pair.down))
      if isGood, !(pair.up.hasEnded && pair.down.hasEnded) {
        kept.append(pair)
      } else {
        close(pair)
      }
    }
    pairs = kept
    if requests[1].revents != 0 { accept() }
  }

  mutating func end() {
    for pair in pairs { close(pair) }
    Glibc.close(listener)
  }

  private mutating func accept() {
    var address = clinux_address()
    let client = unsafe clinux_accept(listener, &address)
    guard client >= 0 else { return }
    guard let socket = try? Socket.connect(to: target) else {
      Glibc.close(client)
      return
    }
    let relay = socket.release()
    var bytes = Self.bufferBytes
    let size = socklen_t(MemoryLayout<Int32>.size)
    unsafe setsockopt(relay, SOL_SOCKET, SO_SNDBUF, &bytes, size)
    unsafe setsockopt(client, SOL_SOCKET, SO_RCVBUF, &bytes, size)
    pairs.append(
      Pair(
        up: Direction(source: client, target: relay), down: Direction(source: relay, target: client)
      ))
  }

  /// - Returns: whether the connection is still one.
  private mutating func move(_ direction: inout Direction, counts: Bool = false) -> Bool {
    if direction.held.isEmpty {
      let count = unsafe recv(direction.source, &buffer, buffer.count, 0)
      if count < 0 { return errno == EAGAIN || errno == EINTR }
      if count == 0 {
        direction.hasEnded = true
        shutdown(direction.target, Int32(SHUT_WR))
        return true
      }
      if counts { counter.bytes.add(Int64(count), ordering: .relaxed) }
      direction.held = buffer[..<count]
    }
    let sent = unsafe direction.held.withUnsafeBytes {
      unsafe send(direction.target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    if sent < 0 { return errno == EAGAIN || errno == EINTR }
    direction.held = direction.held.dropFirst(sent)
    return true
  }

  private func close(_ pair: Pair) {
    for descriptor in [pair.up.source, pair.up.target] { Glibc.close(descriptor) }
  }
}
