internal import CLinux
internal import Glibc
/// The result of accepting.
public enum AcceptResult: ~Copyable, Sendable {
  /// A connection, and the address of its peer.
  case socket(Socket, Address)
  /// No client is waiting; wait for `readable`.
  case wouldBlock
  /// No descriptors or buffers are left (`EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM`). The client is
  /// still waiting, so pause accepting for a while; see `Acceptor`.
  case exhausted(SystemError)
  /// The listener itself is broken.
  case failed(SystemError)
}

/// A listening TCP or Unix socket, closed when the value is deinitialized. To be registered
/// level-triggered.
///
/// Several listeners can share one port (`SO_REUSEPORT`), one per loop, and the kernel distributes
/// the clients. With that option it is easy to start a second server on the same port by mistake,
/// which then receives half of the clients. So the first listener is opened by `claim`, and only
/// its owner can create a `sibling`.
public struct Listener: ~Copyable, Sendable {
  /// The descriptor, for `EventLoop.register`.
  public let descriptor: Int32
  /// The address that it listens on, with the actual port if 0 was requested; of a Unix socket
  /// 0.0.0.0:0.
  public let address: Address
  /// The path of a Unix socket, which is removed with the listener.
  private var path: String?
  /// Whether all loops accept from its queue.
  public let isShared: Bool
  /// Sockets of the same port that another process has opened, for siblings.
  private var spares: [Int32] = []

  /// The kernel reduces it to `net.core.somaxconn`: after a restart all clients reconnect at once.
  private static let backlog: Int32 = 65535

  /// TCP keepalive: the idle time before the first probe, the interval, and the number of probes.
  private static let keepaliveIdleSeconds: Int32 = 60
  private static let keepaliveIntervalSeconds: Int32 = 10
  private static let keepaliveProbes: Int32 = 3

  /// Listens on an address that no other socket listens on; throws `EADDRINUSE` otherwise, even if
  /// the other one shares its port.
  ///
  /// The port is bound without `SO_REUSEPORT`, which the kernel refuses if another socket listens
  /// there; the option is set afterwards, and from then on siblings can be added. The port is never
  /// free in between. Two servers that start at the same time both bind (`SO_REUSEADDR`), but the
  /// kernel allows only one of them to listen.
  public static func claim(_ address: Address) throws(SystemError) -> Listener {
    let listener = try Listener(address, sharesPort: false)
    guard clinux_set_reuse_port(listener.descriptor, 1) == 0 else {
      throw SystemError.last("setsockopt SO_REUSEPORT \(listener.address)")
    }
    return listener
  }

  /// Takes over a listening TCP socket that the process was started with; throws if the descriptor is
  /// none. Its queue of clients belongs to the service manager, too, so clients wait in it while the
  /// process is restarted.
  public static func adopt(_ descriptor: Int32) throws(SystemError) -> Listener {
    guard clinux_adopt_listener(descriptor) == 0 else {
      throw SystemError.last("listen on descriptor \(descriptor)")
    }
    return try Listener(adopted: descriptor, isShared: true)
  }

  /// Takes over the listeners of another process, which may go on using them. They are closed if one cannot be
  /// used.
  /// - Parameter isShared: whether all loops accept from the queue of the first one.
  public static func takeOver(
    _ descriptors: [Int32], isShared: Bool
  ) throws(SystemError) -> Listener {
    guard let first = descriptors.first else { throw SystemError("take over", code: EBADF) }
    var listener = try Listener(adopted: first, isShared: isShared)
    listener.spares = Array(descriptors.dropFirst())
    return listener
  }

  /// Takes over a Unix socket that listens at a path, which is removed with the listener.
  public static func takeOver(_ descriptor: Int32, folder: String, name: String) -> Listener {
    Listener(unixDescriptor: descriptor, path: "\(folder)/\(name)")
  }

  /// The number of siblings that exist already; each has to be used, or clients wait in its queue for good.
  public var spareCount: Int { spares.count }

  /// Opens another listener on the same address, for another loop; the kernel distributes clients
  /// over all. Of a shared one, each loop accepts from its queue when it can: a queue of one's own would
  /// end with this process.
  ///
  /// When a listener is closed, the connections that the kernel has assigned to it are reset: open
  /// all listeners before clients connect, and close them together.
  public mutating func sibling() throws(SystemError) -> Listener {
    if !spares.isEmpty { return try Listener(adopted: spares.removeFirst(), isShared: isShared) }
    if !isShared { return try Listener(address, sharesPort: true) }
    return try Listener(adopted: copy(), isShared: true)
  }

  /// Returns a second descriptor of the socket, which stays open as long as one of them is.
  public func copy() throws(SystemError) -> Int32 {
    let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
    if copy < 0 { throw SystemError.last("dup \(address)") }
    return copy
  }

  /// Leaves the path of a Unix socket in place, for the process that has taken the socket over.
  public mutating func leavePath() { path = nil }

  /// Listens on a Unix socket, which only this user, and root, may connect to. Replaces a socket
  /// without a listening process; throws `EADDRINUSE` if there is one.
  public static func claim(folder: String, name: String) throws(SystemError) -> Listener {
    let descriptor = unsafe clinux_listen_unix(folder, name)
    if descriptor < 0 { throw SystemError.last("listen \(folder)/\(name)") }
    return Listener(unixDescriptor: descriptor, path: "\(folder)/\(name)")
  }

  /// Listens on a Unix socket that belongs to a folder but is no file in it: a copy of the folder has none, and
  /// none is left behind by a process that was killed. Any user may connect: see `ProcessChannel.isOfThisUser`.
  /// - Throws: `EADDRINUSE` if a process listens already.
  public static func claim(
    forFolder folder: String, name: String
  ) throws(SystemError) -> Listener {
    let descriptor = unsafe clinux_listen_for_folder(folder, name)
    if descriptor < 0 { throw SystemError.last("listen as \(name) of \(folder)") }
    return Listener(unixDescriptor: descriptor, path: nil)
  }

  private init(unixDescriptor: Int32, path: String?) {
    descriptor = unixDescriptor
    address = Address(unspecifiedPort: 0)
    self.path = path
    isShared = false
  }

  private init(adopted descriptor: Int32, isShared: Bool) throws(SystemError) {
    let socket = Socket(owning: descriptor)
    try Self.keepAlive(descriptor, socket.localAddress())
    address = try socket.localAddress()
    path = nil
    self.isShared = isShared
    self.descriptor = socket.release()
  }

  private init(_ wanted: Address, sharesPort: Bool) throws(SystemError) {
    let descriptor = clinux_tcp_socket(wanted.isIPv6 ? 1 : 0)
    if descriptor < 0 { throw SystemError.last("socket") }
    // Closed if an error is thrown below.
    let socket = Socket(owning: descriptor)
    // Closing connections of a predecessor (TIME_WAIT) must not block the port.
    guard clinux_set_reuse_address(descriptor, 1) == 0 else {
      throw SystemError.last("setsockopt SO_REUSEADDR \(wanted)")
    }
    try Self.keepAlive(descriptor, wanted)
    if sharesPort, clinux_set_reuse_port(descriptor, 1) < 0 {
      throw SystemError.last("setsockopt SO_REUSEPORT \(wanted)")
    }
    var raw = wanted.raw
    guard unsafe clinux_bind(descriptor, &raw) == 0 else {
      throw SystemError.last("bind \(wanted)")
    }
    guard listen(descriptor, Self.backlog) == 0 else {
      throw SystemError.last("listen \(wanted)")
    }
    address = try socket.localAddress()
    path = nil
    isShared = false
    self.descriptor = socket.release()
  }

  /// Detects peers that are gone when nothing is read or sent: accepted sockets inherit it.
  private static func keepAlive(_ descriptor: Int32, _ address: Address) throws(SystemError) {
    let code = clinux_set_keepalive(
      descriptor, keepaliveIdleSeconds, keepaliveIntervalSeconds, keepaliveProbes)
    if code != 0 { throw SystemError.last("setsockopt SO_KEEPALIVE \(address)") }
  }

  deinit {
    if let path { _ = unsafe unlink(path) }
    for spare in spares { close(spare) }
    close(descriptor)
  }

  /// Accepts one waiting client: accept4(2).
  public func accept() -> AcceptResult {
    while true {
      var peer = clinux_address()
      let descriptor = unsafe clinux_accept(self.descriptor, &peer)
      if descriptor >= 0 { return .socket(Socket(owning: descriptor), Address(peer)) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .wouldBlock
      case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted(SystemError.last("accept"))
      case EBADF, EFAULT, EINVAL, ENOTSOCK: return .failed(SystemError.last("accept"))
      default:
        // Errors of a waiting client (ECONNABORTED, ENETDOWN, EPERM by a firewall, see accept(2))
        // affect only that client. If more are waiting, the next turn reports it.
        return .wouldBlock
      }
    }
  }
}
