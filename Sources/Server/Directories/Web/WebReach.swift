/// Where a `WebClient` may connect: the one place that decides it, for every request, redirect, next
/// page and picture.
///
/// What the operator has configured may have any address. What an answer names, a third party may
/// have chosen, and the relay can reach hosts that it cannot: that is of the configured origin, or has
/// a public address. Asked with the address of the actual connection, so that a second lookup of a
/// name cannot lead elsewhere; with a proxy that is the address of the proxy, which decides for itself
/// what it connects to.
struct WebReach: Sendable {
  /// The origins that the operator has configured.
  let origins: Set<String>
  /// Which addresses the hosts of other origins may have; replaced by tests.
  let others: @Sendable (PeerAddress) -> Bool

  init(origin: String?, others: @escaping @Sendable (PeerAddress) -> Bool = \.isPublic) {
    self.init(origins: origin.map { [$0] } ?? [], others: others)
  }

  init(origins: Set<String>, others: @escaping @Sendable (PeerAddress) -> Bool = \.isPublic) {
    self.origins = origins
    self.others = others
  }

  /// Whether a request for `url` may connect to `address`; `nil` = one that is not of the internet.
  func mayConnect(to address: PeerAddress?, for url: String) -> Bool {
    if let origin = WebAddress(url)?.origin, origins.contains(origin) { return true }
    return address.map(others) ?? false
  }
}
