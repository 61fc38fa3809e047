/// Where a connection comes from, as limits per address count it: an IPv4 address, or the network that
/// one customer has in IPv6, its first 64 bits.
package struct HostKey: Hashable, Sendable {
  private let network: UInt64
  private let isIPv6: Bool

  package init(network: UInt64, isIPv6: Bool) {
    self.network = network
    self.isIPv6 = isIPv6
  }
}
