internal import EventLoop
import Gateway
import Logging
import Platform
import Relay
import TLS
import WebSocket

/// Accepts and rejects connections.
extension SocketLoop {
  func accept() {
    let turnedAway = world.acceptor?.turnedAway ?? 0
    defer {
      if let acceptor = world.acceptor, acceptor.turnedAway > turnedAway {
        connections.context.violations.count(.descriptors, acceptor.turnedAway - turnedAway)
      }
    }
    do {
      try world.acceptor?.accept { socket, peer in admit(socket, from: peer) }
    } catch {
      logger.critical(
        "The relay accepts no more connections. Restart it.", metadata: ["error": "\(error)"])
      world.stopAccepting()
    }
  }

  private func admit(_ socket: consuming Socket, from peer: Address) {
    let proxies = world.shared.proxies
    let hop = proxies.hop(peer)
    let (host, isProxy) = (hop.host, hop.isTrusted)
    guard isProxy || !proxies.sendHeaders else {
      reject(
        socket,
        Admission.Refusal(
          rule: .proxyProtocol, text: "This port takes connections of trusted proxies only.\n",
          because: "The address is not in trusted_proxies. If it is that of a proxy, add it."),
        from: host, status: 403)
      return
    }
    let admission = connections.context.admission
    if let refusal = admission.admit(host, descriptor: socket.descriptor, isProxy: isProxy) {
      logger.debug(
        "A connection is rejected.",
        metadata: [
          "loop": .stringConvertible(world.index), "address": "\(peer)",
          "rule": "\(refusal.rule.rawValue)",
        ])
      reject(socket, refusal, from: host)
      return
    }
    var tls: TLSChannel?
    if let credentials = world.shared.credentials {
      tls = TLSChannel(server: credentials.current)
      guard tls != nil else {
        admission.leave(host)
        reject(
          socket,
          Admission.Refusal(rule: .memory, text: "The relay is out of memory; try again later.\n"),
          from: host)
        return
      }
    }
    let stream = connections.accept(from: host, as: isProxy ? .proxy : .client)
    connections.diagnostics.debug(
      stream, "A connection is accepted.", [LogField("address", "\(peer)")])
    serve(socket, tls, at: stream, awaitsHeader: proxies.sendHeaders)
  }

  /// Accepts programs of operators: whoever may open the socket may read the relay's files, too.
  func acceptOperators() {
    do {
      try world.operatorAcceptor?.accept { socket, _ in
        serve(socket, nil, at: connections.accept(from: nil, as: .operator))
      }
    } catch {
      logger.error(
        "The operator's socket accepts no more connections. Restart the relay to use it again.",
        metadata: ["error": "\(error)"])
      world.operatorAcceptor?.close()
    }
  }

  private func serve(
    _ socket: consuming Socket, _ tls: TLSChannel?, at index: Int, awaitsHeader: Bool = false
  ) {
    do {
      try world.open(index, socket, tls, awaitsHeader: awaitsHeader)
    } catch {
      logger.error("A connection cannot be served.", metadata: ["error": "\(error)"])
      connections.remove(stream: index)
    }
  }

  /// Tells a rejected client the reason: as plaintext without TLS; with TLS, where it could not
  /// read that, as an alert.
  private func reject(
    _ socket: borrowing Socket, _ refusal: Admission.Refusal, from host: HostKey,
    status: Int = 503
  ) {
    connections.context.violations.count(refusal.rule, from: host, because: refusal.reason)
    // Unread input would turn the close into a reset, which may overtake the response.
    Self.discardInput(of: socket, into: &unread)
    if world.shared.credentials == nil {
      _ = socket.send(HTTPResponse(status: status, text: refusal.text).bytes.span)
    } else {
      let alert = TLSSession.refusal
      _ = socket.send(alert.span)
    }
  }

  private static func discardInput(of socket: borrowing Socket, into buffer: inout [UInt8]) {
    var span = buffer.mutableSpan
    _ = socket.read(into: &span)
  }
}
