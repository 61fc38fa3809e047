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

extension HostKey: CustomStringConvertible {
  /// `192.0.2.1`, or `2001:db8:0:1::/64`.
  package var description: String {
    func part(_ shift: UInt64, _ mask: UInt64) -> UInt64 { network >> shift & mask }
    if isIPv6 {
      let groups = [48, 32, 16, 0].map { String(part($0, 0xFFFF), radix: 16) }
      return groups.joined(separator: ":") + "::/64"
    }
    return [24, 16, 8, 0].map { String(part($0, 0xFF)) }.joined(separator: ".")
  }
}
