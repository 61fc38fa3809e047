package import Platform

/// The header of the PROXY protocol, with which a proxy begins a connection and names the client whose
/// bytes follow.
///
/// The comments name sections of HAProxy's specification, proxy-protocol.txt.
package struct ProxyHeader: Equatable, Sendable {
  /// The client's address; `nil` if the proxy speaks for itself, or does not know the address of its
  /// client: the connection's own address counts then.
  package var client: Address?
  /// The number of bytes of the header.
  package var length: Int

  /// The most bytes of a header. Version 2 could declare 65,551: a proxy needs a few hundred for
  /// addresses, and some more for its extensions.
  package static let limitBytes = 4096

  /// A rule that the beginning of a connection violates.
  package enum Violation: Error, Equatable {
    case missing
    case malformedLine
    case version(Int)
    case command(Int)
    case family(Int)
    case tooLong(Int)
    case cutAddresses
    case malformedExtensions
    case checksum
  }

  /// Reads the header at the front of `bytes`; `nil` until all of it has arrived.
  package static func read(_ bytes: [UInt8]) throws(Violation) -> ProxyHeader? {
    guard !bytes.isEmpty else { return nil }
    return bytes[0] == signature[0] ? try readBinary(bytes) : try readLine(bytes)
  }

  /// Whether all of `beginning` has arrived.
  private static func has(_ beginning: [UInt8], _ bytes: [UInt8]) throws(Violation) -> Bool {
    guard bytes.starts(with: beginning.prefix(bytes.count)) else { throw .missing }
    return bytes.count >= beginning.count
  }

  // MARK: - Version 1, §2.1

  private static let lineBeginning = Array("PROXY ".utf8)
  /// The longest line, with its CRLF.
  private static let lineLimitBytes = 107

  private static func readLine(_ bytes: [UInt8]) throws(Violation) -> ProxyHeader? {
    guard try has(lineBeginning, bytes) else { return nil }
    guard let end = bytes.prefix(lineLimitBytes).firstRange(of: [13, 10]) else {
      if bytes.count >= lineLimitBytes { throw .malformedLine }
      return nil
    }
    let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    let fields = text.split(separator: " ", omittingEmptySubsequences: false)
    // Whatever follows UNKNOWN is ignored.
    if fields[1] == "UNKNOWN" { return ProxyHeader(client: nil, length: end.upperBound) }
    let isIPv6 = fields[1] == "TCP6"
    guard isIPv6 || fields[1] == "TCP4", fields.count == 6,
      let client = address(fields[2], port: fields[4], isIPv6: isIPv6),
      address(fields[3], port: fields[5], isIPv6: isIPv6) != nil
    else { throw .malformedLine }
    return ProxyHeader(client: client, length: end.upperBound)
  }

  private static func address(_ host: Substring, port: Substring, isIPv6: Bool) -> Address? {
    guard host.contains(":") == isIPv6, port.utf8.allSatisfy({ 48...57 ~= $0 }),
      port == "0" || !port.hasPrefix("0"), let number = UInt16(port)
    else { return nil }
    return Address(numericHost: String(host), port: number)
  }

  // MARK: - Version 2, §2.2

  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10] + Array("QUIT\n".utf8)
  /// The bytes before the addresses.
  private static let fixedBytes = 16

  private static func readBinary(_ bytes: [UInt8]) throws(Violation) -> ProxyHeader? {
    guard try has(signature, bytes), bytes.count >= fixedBytes else { return nil }
    let (version, command) = (Int(bytes[12] >> 4), Int(bytes[12] & 15))
    guard version == 2 else { throw .version(version) }
    let length = fixedBytes + number(bytes[...], at: 14)
    guard length <= limitBytes else { throw .tooLong(length) }
    guard bytes.count >= length else { return nil }
    switch command {
    // LOCAL, a check of the proxy's own: what follows is skipped.
    case 0: return ProxyHeader(client: nil, length: length)
    case 1:
      return ProxyHeader(client: try client(of: bytes[..<length]), length: length)
    default: throw .command(command)
    }
  }

  private static func client(of header: ArraySlice<UInt8>) throws(Violation) -> Address? {
    let (family, transport) = (Int(header[13] >> 4), Int(header[13] & 15))
    guard family <= 3, transport <= 2 else { throw .family(Int(header[13])) }
    // UNSPEC, INET, INET6 and UNIX.
    let addressBytes = [0, 4, 16, 108][family]
    let ports = fixedBytes + 2 * addressBytes
    let hasPorts = family == 1 || family == 2
    let extensions = ports + (hasPorts ? 4 : 0)
    guard extensions <= header.count else { throw .cutAddresses }
    try checkExtensions(of: header, from: extensions)
    guard hasPorts, transport != 0 else { return nil }
    return Address(
      bytes: header[fixedBytes..<fixedBytes + addressBytes],
      port: UInt16(number(header, at: ports)))
  }

  /// Checks the TLVs: each has a type, a length of two bytes, and its value.
  private static func checkExtensions(
    of header: ArraySlice<UInt8>, from start: Int
  ) throws(Violation) {
    var offset = start
    var checksum: Int?
    while offset < header.count {
      let value = offset + 3
      guard value <= header.count else { throw .malformedExtensions }
      let end = value + number(header, at: offset + 1)
      guard end <= header.count else { throw .malformedExtensions }
      if header[offset] == checksumType {
        guard end == value + 4, checksum == nil else { throw .malformedExtensions }
        checksum = value
      }
      offset = end
    }
    guard let checksum else { return }
    let sent = number(header, at: checksum) << 16 | number(header, at: checksum + 2)
    guard sent == crc32c(header, zeroing: checksum..<checksum + 4) else { throw .checksum }
  }

  /// `PP2_TYPE_CRC32C`, §2.2.3.
  private static let checksumType: UInt8 = 3

  /// The CRC-32C (RFC 9260 §A) of the header, in which the checksum itself counts as zero.
  private static func crc32c(_ header: ArraySlice<UInt8>, zeroing checksum: Range<Int>) -> Int {
    var sum = UInt32.max
    for index in header.indices {
      sum ^= checksum.contains(index) ? 0 : UInt32(header[index])
      for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0x82F6_3B78 : 0) }
    }
    return Int(~sum)
  }

  private static func number(_ bytes: ArraySlice<UInt8>, at offset: Int) -> Int {
    Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
  }
}

extension ProxyHeader.Violation: CustomStringConvertible {
  package var description: String {
    switch self {
    case .missing: "there is none"
    case .malformedLine: "its line is not PROXY, TCP4, TCP6 or UNKNOWN, two addresses and two ports"
    case .version(let version): "its version is \(version), not 1 or 2"
    case .command(let command): "its command is \(command), not LOCAL or PROXY"
    case .family(let family): "its address family and transport are \(family)"
    case .tooLong(let length): "it has \(length) bytes, more than \(ProxyHeader.limitBytes)"
    case .cutAddresses: "it is shorter than its addresses"
    case .malformedExtensions: "its TLVs do not have the length that it declares"
    case .checksum: "its checksum is wrong"
    }
  }
}
