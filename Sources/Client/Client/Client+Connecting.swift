internal import EventLoop
internal import Glibc
internal import Platform
internal import TLS
internal import WebSocket
import Wire

/// From the host name to the opening handshake.
extension Client {
  func resolved(_ host: ClientLoop.Host, _ result: Result<[Address], AddressError>) {
    // The attempt that asked may have been abandoned meanwhile.
    guard case .resolving(host) = link.phase else { return }
    switch result {
    case .success(let addresses):
      connect(to: addresses[...], last: nil)
    case .failure(.unresolved(let host, let reason)):
      lose(.unresolved(host: host, reason: reason))
    case .failure(.malformed(let text)):
      lose(.unresolved(host: text, reason: "not a host"))
    }
  }

  /// Tries the addresses one after the other.
  private func connect(to addresses: ArraySlice<Address>, last: SystemError?) {
    var (addresses, last) = (addresses, last)
    while let address = addresses.popFirst() {
      do {
        guard let index else { return }
        return try link.connect(
          to: address, rest: addresses, on: shared.loop, token: ClientLoop.token(of: index))
      } catch {
        last = error
      }
    }
    lose(.unreachable(last ?? SystemError("connect", code: EADDRNOTAVAIL)))
  }

  func ready(_ readiness: Readiness) {
    switch link.phase {
    case .none, .resolving: break
    case .connecting(let address, let rest):
      if let error = link.connectionError() {
        drop()
        connect(
          to: rest, last: SystemError("connect \(address)", code: error.code))
      } else if configuration.url.isEncrypted {
        secure()
      } else {
        greet()
      }
    case .securing, .handshaking, .open:
      if readiness.contains(.writable) { markDirty() }
      if !readiness.isDisjoint(with: [.readable, .closed, .failed]) { read() }
    }
  }

  private func secure() {
    let (url, trust) = (configuration.url, configuration.trust)
    do {
      let context = try shared.context(trusting: trust)
      let known = ticket.flatMap { $0.1 == url && $0.2 == trust ? $0.0 : nil }
      guard let tls = TLSChannel(client: context, host: url.host, resuming: known) else {
        lose(.notEncrypted(.broken("out of memory")))
        return
      }
      link.secure(tls)
      markDirty()
    } catch {
      lose(.noAuthorities(error))
    }
  }

  /// Handles the state of the TLS session after a read; it may have ended.
  func followEncryption() {
    guard let tls = link.tls else { return }
    switch tls.state {
    case .handshaking: markDirty()
    case .open:
      if case .securing = link.phase { greet() }
      if link.hasOutput { markDirty() }
    case .ended: lose(ClientError(link.end(nil)))
    case .failed(let failure):
      // Sends the alert that tells the server why.
      link.flush()
      if case .untrusted(let reason) = failure {
        lose(.untrusted(host: configuration.url.host, reason: reason))
      } else {
        lose(.notEncrypted(failure))
      }
    }
  }

  private func greet() {
    let url = configuration.url
    var target = url.target
    if let user = configuration.user { target = url.target(adding: "user", user) }
    var headers: [(name: String, value: String)] = []
    if let token = configuration.token { headers.append(("Authorization", "Bearer \(token)")) }
    let handshake = ClientHandshake(
      host: url.authority, target: target, subprotocols: ["relay.v1"],
      deflate: configuration.compresses ? DeflateParameters.clientOffers : [], headers: headers,
      nonce: shared.links.nonce())
    link.begin(handshake)
    markDirty()
  }
}
