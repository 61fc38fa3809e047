internal import CLinux
internal import Glibc
/// What came of accepting.
public enum AcceptResult: ~Copyable, Sendable {
  /// A connection, and where it comes from.
  case socket(Socket, Address)
  /// Nobody waits; wait for `readable`.
  case wouldBlock
  /// There are no descriptors or buffers left (`EMFILE`, `ENFILE`, `ENOBUFS`, `ENOMEM`): the
  /// client still waits, so stop asking for a while; see `Acceptor`.
  case exhausted(SystemError)
  /// The listener itself is broken.
  case failed(SystemError)
}

/// A listening TCP socket, closed once, when the value goes. To be registered level-triggered.
///
/// Several of them can share one port (`SO_REUSEPORT`), one per loop, and the kernel spreads the
/// clients. That makes it easy to start a second server on the same port by mistake, which then
/// takes half of the clients. So the first is opened by `claim`, and only its owner can make a
/// `sibling`.
public struct Listener: ~Copyable, Sendable {
  /// The descriptor, for `EventLoop.register`.
  public let descriptor: Int32
  /// Where it listens, with the port that the system chose if 0 was asked for.
  public let address: Address

  /// As much as `net.core.somaxconn` allows: a restart brings everyone back at once.
  private static let backlog: Int32 = 65535

  /// After this much silence TCP asks whether the peer is there, so often, and so many times.
  private static let keepaliveIdleSeconds: Int32 = 60
  private static let keepaliveIntervalSeconds: Int32 = 10
  private static let keepaliveProbes: Int32 = 3

  /// Listens where nobody else does; throws `EADDRINUSE` if somebody does, shared port or not.
  ///
  /// The port is taken without `SO_REUSEPORT`, which the kernel refuses if anyone listens there;
  /// the option is set afterwards, and from then on siblings may join. There is no moment
  /// in between in which the port is free. Two servers that start at the same time both bind
  /// (`SO_REUSEADDR`), but the kernel lets only one of them listen.
  public static func claim(_ address: Address) throws(SystemError) -> Listener {
    let listener = try Listener(address, sharesPort: false)
    guard clinux_set_reuse_port(listener.descriptor, 1) == 0 else {
      throw SystemError.last("setsockopt SO_REUSEPORT \(listener.address)")
    }
    return listener
  }

  /// Another listener on the same address, for another loop; the kernel spreads clients over all.
  ///
  /// What the kernel has assigned to a listener that is closed later is reset: open all of them
  /// before clients come, and close them together.
  public func sibling() throws(SystemError) -> Listener {
    try Listener(address, sharesPort: true)
  }

  private init(_ wanted: Address, sharesPort: Bool) throws(SystemError) {
    let descriptor = clinux_tcp_socket(wanted.isIPv6 ? 1 : 0)
    if descriptor < 0 { throw SystemError.last("socket") }
    // Closes it if anything below throws.
    let socket = Socket(owning: descriptor)
    // Connections of a predecessor that are still closing (TIME_WAIT) must not keep the port.
    guard clinux_set_reuse_address(descriptor, 1) == 0 else {
      throw SystemError.last("setsockopt SO_REUSEADDR \(wanted)")
    }
    // Accepted sockets inherit it. It finds peers that are gone while nobody reads from them, and
    // nothing is sent.
    guard
      clinux_set_keepalive(
        descriptor, Self.keepaliveIdleSeconds, Self.keepaliveIntervalSeconds, Self.keepaliveProbes)
        == 0
    else {
      throw SystemError.last("setsockopt SO_KEEPALIVE \(wanted)")
    }
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
    self.descriptor = socket.release()
  }

  deinit { close(descriptor) }

  /// Takes one waiting client: accept4(2).
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
        // Whatever befell a client that was waiting (ECONNABORTED, ENETDOWN, EPERM by a firewall,
        // see accept(2)) took only that one. If more wait, the next turn tells.
        return .wouldBlock
      }
    }
  }
}
