/// A network of IPv4 or IPv6 addresses (CIDR, RFC 4632, RFC 4291 §2.3), or a single address.
public struct AddressRange: Hashable, Sendable {
  private let first: Address
  private let prefixBits: Int

  /// Parses `10.0.0.0/8`, `fd00::/8` or an address; `nil` for anything else, and if bits after the
  /// prefix are set, since that is often a typing error.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = Address(numericHost: String(parts[0]), port: 0), !parts[0].contains("%")
    else { return nil }
    let width = address.isIPv6 ? 128 : 32
    guard parts.count == 2 else {
      (first, prefixBits) = (address, width)
      return
    }
    guard parts[1].utf8.allSatisfy({ 48...57 ~= $0 }), let bits = Int(parts[1]), bits <= width,
      address.prefix(bits: bits) == address
    else { return nil }
    (first, prefixBits) = (address, bits)
  }

  /// Whether the address, without regard to its port, is in the range.
  public func contains(_ address: Address) -> Bool {
    address.isIPv6 == first.isIPv6 && address.prefix(bits: prefixBits) == first
  }
}
