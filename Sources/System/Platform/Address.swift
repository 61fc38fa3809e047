internal import CLinux
internal import Glibc

/// An IPv4 or IPv6 address and a port.
public struct Address: Hashable, Sendable, CustomStringConvertible {
  /// The upper half of an IPv6 address; 0 for IPv4.
  private let high: UInt64
  /// The lower half of an IPv6 address, or the 32 bits of IPv4.
  private let low: UInt64
  private let scope: UInt32
  /// 0 = chosen by the system when it is bound.
  public var port: UInt16
  /// Whether this is IPv6; `::ffff:1.2.3.4` always counts as IPv4.
  public let isIPv6: Bool

  /// Parses a numeric `HOST:PORT`, IPv6 in brackets: `127.0.0.1:80`, `[::1]:80`.
  ///
  /// For names, use `resolve`, which may query the network.
  public init(_ text: String) throws(AddressError) {
    let (host, port) = try Self.split(text)
    guard let address = Address(numericHost: host, port: port) else {
      throw .malformed(text)
    }
    self = address
  }

  /// Parses a numeric host without brackets; nil for anything else.
  public init?(numericHost host: String, port: UInt16) {
    // C would read a NUL as the end of the text.
    if host.utf8.contains(0) { return nil }
    var raw = clinux_address()
    let isIPv6: Int32 = host.utf8.contains(UInt8(ascii: ":")) ? 1 : 0
    guard unsafe clinux_parse_address(host, isIPv6, &raw) == 1 else { return nil }
    raw.port = port
    self.init(raw)
  }

  /// Takes the 4 bytes of an IPv4 address or the 16 of an IPv6 address, in network order.
  public init(bytes: some Collection<UInt8>, port: UInt16) {
    precondition(bytes.count == 4 || bytes.count == 16, "an address has 4 or 16 bytes")
    let high = bytes.dropLast(8).reduce(0) { $0 << 8 | UInt64($1) }
    let low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    let isMapped = bytes.count == 16 && high == 0 && low >> 32 == 0xFFFF
    self.init(
      high: high, low: isMapped ? low & 0xFFFF_FFFF : low,
      isIPv6: bytes.count == 16 && !isMapped)
    self.port = port
  }

  /// Returns the addresses of a name or a numeric host in the system's order of preference; never
  /// empty.
  ///
  /// Calls getaddrinfo(3), which may block for seconds: must not be called on a loop's thread.
  public static func resolve(host: String, port: UInt16) throws(AddressError) -> [Address] {
    if let numeric = Address(numericHost: host, port: port) { return [numeric] }
    if host.isEmpty || host.utf8.contains(0) {
      throw .unresolved(host: host, reason: "not a name")
    }
    var raw = [clinux_address](repeating: clinux_address(), count: 16)
    let count = unsafe clinux_resolve(host, &raw, Int32(raw.count))
    guard count > 0 else {
      let reason =
        unsafe count == 0 ? "no address" : String(cString: clinux_resolve_error(count))
      throw .unresolved(host: host, reason: reason)
    }
    return raw.prefix(Int(count)).map { raw in
      var address = Address(raw)
      address.port = port
      return address
    }
  }

  /// Resolves `HOST:PORT`, as `resolve(host:port:)`.
  public static func resolve(_ text: String) throws(AddressError) -> [Address] {
    let (host, port) = try split(text)
    return try resolve(host: host, port: port)
  }

  /// Splits `HOST:PORT`, and removes the brackets of IPv6.
  public static func split(_ text: String) throws(AddressError) -> (host: String, port: UInt16) {
    guard let colon = text.lastIndex(of: ":") else { throw .malformed(text) }
    var host = text[..<colon]
    let digits = text[text.index(after: colon)...]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
      guard host.contains(":") else { throw .malformed(text) }
    } else if host.contains(":") {
      // Without brackets the end of the address is ambiguous.
      throw .malformed(text)
    }
    // UInt16 would accept "+80", too.
    guard !host.isEmpty, digits.utf8.allSatisfy({ 48...57 ~= $0 }), let port = UInt16(digits)
    else { throw .malformed(text) }
    return (String(host), port)
  }

  /// Whether only this machine can reach it: 127.0.0.0/8 or ::1.
  public var isLoopback: Bool {
    isIPv6 ? high == 0 && low == 1 : low >> 24 == 127
  }

  /// The unit of limits per address: the IPv4 address, or the IPv6 /64 network.
  ///
  /// A single IPv6 host commonly has 2^64 addresses, so a limit per address would have no effect.
  public var network: UInt64 { isIPv6 ? high : low }

  /// The host without port and brackets.
  public var host: String {
    var raw = self.raw
    let text = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
      guard let start = text.baseAddress,
        unsafe clinux_print_address(&raw, start) == 0
      else { preconditionFailure("inet_ntop rejected a valid address") }
      return unsafe String(cString: start)
    }
    return scope == 0 ? text : "\(text)%\(scope)"
  }

  /// `127.0.0.1:80` or `[::1]:80`.
  public var description: String {
    isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension Address {
  /// Returns the address with all bits after the first ones cleared, and without port and scope.
  func prefix(bits: Int) -> Address {
    // Smart shifts: one of the whole width gives 0.
    let high = isIPv6 ? self.high & (UInt64.max << (64 - min(bits, 64))) : 0
    let low =
      isIPv6
      ? self.low & (UInt64.max << (128 - max(bits, 64)))
      : self.low & (0xFFFF_FFFF << (32 - bits))
    return Address(high: high, low: low, isIPv6: isIPv6)
  }

  /// The address 0.0.0.0.
  init(unspecifiedPort port: UInt16) {
    self.init(high: 0, low: 0, isIPv6: false)
    self.port = port
  }

  private init(high: UInt64, low: UInt64, isIPv6: Bool) {
    (self.high, self.low, self.isIPv6) = (high, low, isIPv6)
    (scope, port) = (0, 0)
  }

  init(_ raw: clinux_address) {
    var halves: (UInt64, UInt64) = (0, 0)
    unsafe withUnsafeBytes(of: raw.bytes) { bytes in
      halves.0 = unsafe bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self).bigEndian
      halves.1 = unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian
    }
    isIPv6 = raw.is_ipv6 != 0
    high = isIPv6 ? halves.0 : 0
    low = isIPv6 ? halves.1 : halves.0 >> 32
    scope = raw.scope
    port = raw.port
  }

  var raw: clinux_address {
    var raw = clinux_address()
    let halves = isIPv6 ? (high.bigEndian, low.bigEndian) : ((low << 32).bigEndian, 0)
    unsafe withUnsafeMutableBytes(of: &raw.bytes) { bytes in
      unsafe bytes.storeBytes(of: halves.0, toByteOffset: 0, as: UInt64.self)
      unsafe bytes.storeBytes(of: halves.1, toByteOffset: 8, as: UInt64.self)
    }
    raw.scope = scope
    raw.port = port
    raw.is_ipv6 = isIPv6 ? 1 : 0
    return raw
  }
}
