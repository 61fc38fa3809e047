internal import EventLoop
internal import Glibc
package import Platform
internal import TLS
package import WebSocket
import Wire

/// From the host name to the opening handshake.
extension Client {
  package func openConnection() {
    let host = ClientLoop.Host(name: configuration.url.host, port: configuration.url.port)
    connection.link.phase = .resolving(host)
    shared.resolve(host, for: self)
  }

  func resolved(_ host: ClientLoop.Host, _ result: Result<[Address], AddressError>) {
    // The attempt that asked may have been abandoned meanwhile.
    guard case .resolving(host) = connection.link.phase else { return }
    switch result {
    case .success(let addresses): connect(to: addresses[...], last: nil)
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
        return try connection.connect(to: address, rest: addresses)
      } catch {
        last = error
      }
    }
    lose(.unreachable(last ?? SystemError("connect", code: EADDRNOTAVAIL)))
  }

  package func connectingFailed(_ error: SystemError) {
    guard case .connecting(let address, let rest) = connection.link.phase else { return }
    connection.drop()
    connect(to: rest, last: SystemError("connect \(address)", code: error.code))
  }

  package func connected() {
    guard configuration.url.isEncrypted else { return greet() }
    let (url, trust) = (configuration.url, configuration.trust)
    do {
      let context = try shared.context(trusting: trust)
      // A session of another host, or of one that was trusted for other reasons, is not resumed.
      let ticket = secured.map { $0 == (url, trust) } == true ? connection.ticket : nil
      secured = (url, trust)
      secure(with: context, host: url.host, resuming: ticket)
    } catch {
      lose(.noAuthorities(error))
    }
  }

  package func followEncryption() { followEncryption(with: configuration.url.host) }

  package func handshake() -> ClientHandshake {
    let url = configuration.url
    var target = url.target
    if let user = configuration.user { target = url.target(adding: "user", user) }
    var headers: [(name: String, value: String)] = []
    if let token = configuration.token { headers.append(("Authorization", "Bearer \(token)")) }
    return ClientHandshake(
      host: url.authority, target: target, subprotocols: ["relay.v1"],
      deflate: configuration.compresses ? DeflateParameters.clientOffers : [], headers: headers,
      nonce: shared.links.nonce())
  }
}
