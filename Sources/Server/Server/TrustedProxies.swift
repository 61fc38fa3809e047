import Gateway
import Platform

/// The addresses of proxies that are believed what they say of their clients.
struct TrustedProxies: Sendable {
  private let ranges: [AddressRange]
  /// Whether other addresses may not connect, and these begin each connection with a header of the
  /// PROXY protocol.
  let sendHeaders: Bool

  /// - Parameter ranges: addresses and networks (CIDR).
  init(_ ranges: [String], sendHeaders: Bool) {
    self.ranges = ranges.compactMap { AddressRange($0) }
    self.sendHeaders = sendHeaders
  }

  /// Returns what counts of an address in a chain of proxies.
  func hop(_ address: Address) -> ProxyChain.Hop {
    ProxyChain.Hop(
      host: HostKey(network: address.network, isIPv6: address.isIPv6),
      isTrusted: ranges.contains { $0.contains(address) })
  }

  /// The chain of the header fields of a request.
  var chain: ProxyChain {
    ProxyChain { text in Address(numericHost: text, port: 0).map(hop) }
  }
}
