/// The origin of a connection for limits per address: an IPv4 address, or the first 64 bits of an
/// IPv6 address, which is the network of one customer.
package struct HostKey: Hashable, Sendable {
  private let network: UInt64
  private let isIPv6: Bool

  package init(network: UInt64, isIPv6: Bool) {
    self.network = network
    self.isIPv6 = isIPv6
  }
}
