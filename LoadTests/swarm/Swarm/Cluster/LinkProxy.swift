internal import Glibc
internal import Platform

/// Proxies between relays and PostgreSQL, on a thread of their own: each link listens on a port of
/// 127.0.0.1 and forwards to a server's socket, unless it is told to misbehave.
final class LinkProxy: Sendable {
  enum Order: Sendable {
    case fault(Scenario.LinkFault)
    /// Nothing arrives until `release`.
    case hold, release
    /// New connections are forwarded to this socket.
    case forward(String)
  }

  /// By link.
  let ports: [UInt16]
  private let orders: Mailbox<(links: [Int], order: Order)?>
  private let thread: WorkerThread

  /// The link from which the standby receives what the primary writes: the last one.
  var replication: Int { ports.count - 1 }

  /// - Parameters:
  ///   - targets: by link, the server's socket.
  ///   - note: is called, on the thread, with the faults that depend on what is forwarded.
  init(to targets: [String], note: @escaping @Sendable (String) -> Void) throws {
    let orders = try Mailbox<(links: [Int], order: Order)?>()
    var listeners: [Int32] = []
    var ports: [UInt16] = []
    for _ in targets {
      let (descriptor, port) = try Self.listen()
      listeners.append(descriptor)
      ports.append(port)
    }
    self.ports = ports
    self.orders = orders
    thread = try WorkerThread(name: "links") { [listeners] in
      var forwarder = LinkForwarder(
        links: zip(listeners, targets).map { LinkForwarder.Link(listener: $0, target: $1) },
        note: note)
      var taken: [(links: [Int], order: Order)?] = []
      while true {
        forwarder.turn(wokenBy: orders.descriptor)
        orders.drain(into: &taken)
        for order in taken {
          guard let order else { return forwarder.end() }
          for link in order.links { forwarder.perform(order.order, on: link) }
        }
      }
    }
  }

  func perform(_ fault: Scenario.LinkFault, on links: [Int]) {
    orders.post((links, .fault(fault)))
  }
  func hold(_ link: Int) { orders.post(([link], .hold)) }
  func release(_ link: Int) { orders.post(([link], .release)) }
  func forward(_ link: Int, to socket: String) { orders.post(([link], .forward(socket))) }

  func end() {
    orders.post(nil)
    thread.join()
  }

  /// Listens on a port of 127.0.0.1. The caller owns the descriptor.
  static func listen() throws -> (Int32, UInt16) {
    guard let any = Address(numericHost: "127.0.0.1", port: 0) else {
      throw SystemError("127.0.0.1", code: EINVAL)
    }
    let listener = try Listener.claim(any)
    // The thread owns it, for as long as it runs.
    let descriptor = fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 0)
    guard descriptor >= 0 else { throw SystemError.last("dup") }
    return (descriptor, listener.address.port)
  }
}
