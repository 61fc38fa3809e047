import EventLoop
import Logging
import Relay
import TLS
import WebSocket

/// Who is let in.
extension ConnectionLoop {
  func accept() {
    lookAtClocks()
    let turnedAway = acceptor?.turnedAway ?? 0
    defer {
      if let acceptor, acceptor.turnedAway > turnedAway {
        context.violations.note(.descriptors, acceptor.turnedAway - turnedAway)
      }
    }
    do {
      try acceptor?.accept { socket, peer in admit(socket, from: peer) }
    } catch {
      context.logger.error("accepting clients has ended: \(error)")
      acceptor?.close()
      acceptor = nil
    }
  }

  private func admit(_ socket: consuming Socket, from peer: Address) {
    let host = peer.hostKey
    if let refusal = context.admission.admit(host, descriptor: socket.descriptor) {
      turnAway(socket, refusal)
      return
    }
    var tls: TLSChannel?
    if let credentials = context.credentials {
      tls = TLSChannel(credentials.current)
      guard tls != nil else {
        context.admission.leave(host)
        turnAway(
          socket,
          Admission.Refusal(rule: .memory, text: "This relay has no memory left; try later.\n"))
        return
      }
    }
    let index = addConnection()
    let descriptor = socket.release()
    connections[index].socket = BorrowedSocket(descriptor: descriptor)
    connections[index].host = host
    connections[index].isLocal = peer.isLoopback
    connections[index].phase = .handshake
    connections[index].tls = tls
    connections[index].heardAt = now.monotonic
    let timeout = context.configuration.limits.handshakeTimeoutMilliseconds
    connections[index].deadline = timeout == 0 ? 0 : now.monotonic + Int64(timeout)
    do {
      connections[index].registration = try loop.register(
        descriptor, for: [.readable, .writable, .edgeTriggered], token: UInt64(index))
    } catch {
      context.logger.error("a client cannot be served: \(error)")
      _ = Socket(owning: descriptor)
      remove(index)
    }
  }

  /// Says why a client is not let in: in clear by a sentence, to one that wants TLS, and could not
  /// read that, by an alert.
  private func turnAway(_ socket: borrowing Socket, _ refusal: Admission.Refusal) {
    context.violations.note(refusal.rule)
    switch refusal.rule {
    case .descriptors: reportShortage(of: "descriptors are", "; ulimit -n raises it")
    case .memory: reportShortage(of: "memory is", "")
    default: break
    }
    // What lies there unread would make a reset of the end, which may overtake the answer.
    var span = unsafe MutableSpan(_unsafeElements: readBuffer)
    _ = socket.read(into: &span)
    if context.credentials == nil {
      _ = socket.send(HTTPResponse(status: 503, text: refusal.text).bytes.span)
    } else {
      let alert = TLSSession.refusal
      _ = socket.send(alert.span)
    }
  }

  /// Says it, but not all the time.
  private func reportShortage(of what: String, _ remedy: String) {
    guard now.monotonic >= nextShortageReport else { return }
    nextShortageReport = now.monotonic + 60_000
    context.logger.warning("no \(what) left for more clients, who are turned away\(remedy)")
  }
}
