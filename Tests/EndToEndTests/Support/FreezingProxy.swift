import Glibc
import Platform
import Synchronization
import TestSupport

/// A TCP proxy before a relay that can stop passing bytes on, in either direction: the connection stays,
/// and what was sent waits.
final class FreezingProxy: Sendable {
  enum Direction: CaseIterable { case toRelay, toClient, both }

  let port: UInt16
  private let relayPort: UInt16
  private let listener: Int32
  private let frozen = Mutex<Direction?>(nil)
  private let isOver = Mutex(false)

  init(_ relay: RelayProcess) throws {
    relayPort = relay.port
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(listener, address, size) == 0 && listen(listener, 16) == 0
          && getsockname(listener, address, &size) == 0
      }
    }
    guard isBound else { throw Unexpected("the proxy cannot listen: \(errno)") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    _ = try WorkerThread(name: "proxy") { [self] in run() }
  }

  func freeze(_ direction: Direction) { frozen.withLock { $0 = direction } }
  func thaw() { frozen.withLock { $0 = nil } }
  func end() { isOver.withLock { $0 = true } }

  private func passes(_ direction: Direction) -> Bool {
    let frozen = frozen.withLock(\.self)
    return frozen != .both && frozen != direction
  }

  /// Passes bytes on until the end; each turn takes a few milliseconds, and so notices a thaw.
  private func run() {
    var pairs: [(client: Int32, relay: Int32)] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !isOver.withLock(\.self) {
      var requests = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
      for pair in pairs {
        requests.append(
          pollfd(fd: passes(.toRelay) ? pair.client : -1, events: Int16(POLLIN), revents: 0))
        requests.append(
          pollfd(fd: passes(.toClient) ? pair.relay : -1, events: Int16(POLLIN), revents: 0))
      }
      _ = unsafe poll(&requests, nfds_t(requests.count), 5)
      var ended: [Int] = []
      for (index, pair) in pairs.enumerated() {
        for (request, target) in [(2 * index + 1, pair.relay), (2 * index + 2, pair.client)]
        where requests[request].revents != 0 {
          let count = unsafe recv(requests[request].fd, &buffer, buffer.count, 0)
          let sent = count > 0 ? unsafe send(target, buffer, count, Int32(MSG_NOSIGNAL)) : 0
          if count <= 0 || sent < count { ended.append(index) }
        }
      }
      for index in Set(ended).sorted(by: >) {
        let pair = pairs.remove(at: index)
        close(pair.client)
        close(pair.relay)
      }
      guard requests[0].revents != 0 else { continue }
      let client = accept(listener, nil, nil)
      if let relay = try? Socket.connect(to: Address("127.0.0.1:\(relayPort)")) {
        // Loopback connects at once; what is sent before waits in the socket.
        pairs.append((client, relay.release()))
      }
    }
    for pair in pairs {
      close(pair.client)
      close(pair.relay)
    }
    close(listener)
  }
}
