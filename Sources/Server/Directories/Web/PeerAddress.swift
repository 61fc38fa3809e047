/// The address of a host that is about to be connected to, as its name was resolved for that connection.
struct PeerAddress: Equatable, Sendable {
  /// 4 or 16, in network order.
  let bytes: [UInt8]

  /// `nil` for what is no address of IPv4 or IPv6.
  init?(bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Whether it is a host of the public internet: neither this machine, nor one of a private network
  /// (RFC 1918, RFC 6598, RFC 4193, RFC 3927, RFC 4291), nor what is reserved for other uses (the IANA
  /// registries of special-purpose addresses). An IPv4 address inside of one of IPv6 counts as itself.
  var isPublic: Bool {
    if bytes.count == 4 { return Self.isPublic(bytes[...]) }
    // ::ffff:a.b.c.d (RFC 4291 §2.5.5.2) and 64:ff9b::a.b.c.d, the way to IPv4 through NAT64 (RFC 6052).
    if bytes.starts(with: Self.mappedPrefix) || bytes.starts(with: Self.translatedPrefix) {
      return Self.isPublic(bytes[12...])
    }
    // Global unicast is 2000::/3; all the rest is of this machine, this link, this site or reserved.
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
    // 2001::/23: protocol assignments, Teredo and ORCHID among them.
    case (0x20, 0x01, 0x00...0x01, _): return false
    // Documentation.
    case (0x20, 0x01, 0x0D, 0xB8), (0x3F, 0xFF, 0x00...0x0F, _): return false
    // 6to4, which leads to an IPv4 address.
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

  /// RFC 6890 and what came after it.
  private static let reserved: [(prefix: UInt32, length: UInt32)] = [
    (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
    (0xAC10_0000, 12), (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16),
    (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
  ]
}
