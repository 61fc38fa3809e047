/// The resolved address of a host that is about to be connected to.
struct PeerAddress: Equatable, Sendable {
  /// 4 or 16 bytes, in network order.
  let bytes: [UInt8]

  /// Returns `nil` unless these are the bytes of an IPv4 or IPv6 address.
  init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Whether it is a host of the public internet: not this machine, not a private network (RFC
  /// 1918, RFC 6598, RFC 4193, RFC 3927, RFC 4291), and not reserved (the IANA registries of
  /// special-purpose addresses). An IPv4 address embedded in an IPv6 address is judged by itself.
  var isPublic: Bool {
    if bytes.count == 4 { return Self.isPublic(bytes[...]) }
    // ::ffff:a.b.c.d (RFC 4291 §2.5.5.2) and 64:ff9b::a.b.c.d, which NAT64 translates (RFC 6052).
    if bytes.starts(with: Self.mappedPrefix) || bytes.starts(with: Self.translatedPrefix) {
      return Self.isPublic(bytes[12...])
    }
    // Global unicast is 2000::/3; the rest is loopback, link-local, site-local or reserved.
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    // 2001::/23: protocol assignments, including Teredo and ORCHID.
    case (0x20, 0x01, 0x00...0x01, _): return false
    // Documentation.
    case (0x20, 0x01, 0x0D, 0xB8), (0x3F, 0xFF, 0x00...0x0F, _): return false
    // 6to4, which is routed to an IPv4 address.
    case (0x20, 0x02, _, _): return false
    default: return true
    }
  }

  private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
  private static let translatedPrefix: [UInt8] = [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]

  private static func isPublic(_ four: ArraySlice<UInt8>) -> Bool {
    let value = four.reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    return !reserved.contains { value >> (32 - $0.length) == $0.prefix >> (32 - $0.length) }
  }

  /// RFC 6890 and later registrations.
  private static let reserved: [(prefix: UInt32, length: UInt32)] = [
    (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
    (0xAC10_0000, 12), (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16),
    (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
  ]
}
