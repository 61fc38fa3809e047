import Platform
import Testing

@testable import Server

@Suite struct `A header of the PROXY protocol` {
  /// The bytes of version 2: the signature, the command, the family, the length and the rest.
  static func binary(
    command: UInt8 = 0x21, family: UInt8 = 0x11, _ rest: [UInt8], length: Int? = nil
  ) -> [UInt8] {
    let length = length ?? rest.count
    return [13, 10, 13, 10, 0, 13, 10, 0x51, 0x55, 0x49, 0x54, 10, command, family]
      + [UInt8(length >> 8), UInt8(length & 255)] + rest
  }

  /// From 203.0.113.7, port 50,000, to 192.0.2.1, port 443.
  static let ipv4: [UInt8] = [203, 0, 113, 7, 192, 0, 2, 1, 0xC3, 0x50, 0x01, 0xBB]
  /// From 2001:db8::7, port 50,000.
  static let ipv6: [UInt8] =
    [0x20, 0x01, 0x0D, 0xB8] + .init(repeating: 0, count: 11) + [7]
    + .init(repeating: 1, count: 16) + [0xC3, 0x50, 0x01, 0xBB]
  /// What haproxy 2.6 sends with `proxy-v2-options crc32c,unique-id`, from 127.0.0.1, port 51,148.
  static let checksummed =
    binary(
      [127, 0, 0, 1, 127, 0, 0, 1, 0xC7, 0xCC, 0x86, 0xB3]
        + [3, 0, 4, 0x1C, 0xF8, 0x1D, 0x3D, 5, 0, 0])

  static let valid: [(header: [UInt8], client: String?)] = [
    (Array("PROXY TCP4 203.0.113.7 192.0.2.1 50000 443\r\n".utf8), "203.0.113.7:50000"),
    (Array("PROXY TCP4 255.255.255.255 255.255.255.255 65535 0\r\n".utf8), "255.255.255.255:65535"),
    (Array("PROXY TCP6 2001:db8::7 2001:DB8::1 50000 443\r\n".utf8), "[2001:db8::7]:50000"),
    (Array("PROXY TCP6 ::ffff:203.0.113.7 ::1 50000 443\r\n".utf8), "203.0.113.7:50000"),
    (Array("PROXY UNKNOWN\r\n".utf8), nil),
    (Array("PROXY UNKNOWN \(String(repeating: "f", count: 91))\r\n".utf8), nil),
    (binary(ipv4), "203.0.113.7:50000"),
    (binary(family: 0x12, ipv4), "203.0.113.7:50000"),
    (binary(family: 0x21, ipv6), "[2001:db8::7]:50000"),
    (binary(ipv4 + [4, 0, 2, 9, 9, 0xEA, 0, 0]), "203.0.113.7:50000"),
    (checksummed, "127.0.0.1:51148"),
    (binary(family: 0x00, []), nil),
    (binary(family: 0x10, ipv4), nil),
    (binary(family: 0x31, .init(repeating: 0x2F, count: 216)), nil),
    (binary(command: 0x20, family: 0x00, []), nil),
    (binary(command: 0x20, family: 0x11, ipv4), nil),
    (binary(command: 0x20, family: 0xFF, [1, 2, 3]), nil),
  ]

  @Test(arguments: valid)
  func `names the client, or nobody`(header: [UInt8], client: String?) throws {
    let read = try ProxyHeader.read(header)
    #expect(read?.client?.description == client)
    #expect(read?.length == header.count)
  }

  @Test(arguments: valid)
  func `is read once all of it is there, and what follows it is not`(
    header: [UInt8], client: String?
  ) throws {
    let whole = try ProxyHeader.read(header)
    for count in 0..<header.count {
      #expect(try ProxyHeader.read(Array(header[..<count])) == nil, "\(count) bytes")
    }
    for rest in ["\u{16}\u{3}\u{1}", "GET / HTTP/1.1\r\n", "PROXY UNKNOWN\r\n"] {
      #expect(try ProxyHeader.read(header + Array(rest.utf8)) == whole)
    }
  }

  @Test(arguments: [
    "PROXY \r\n", "PROXY TCP4\r\n", "PROXY TCP5 1.2.3.4 1.2.3.4 1 1\r\n",
    "PROXY tcp4 1.2.3.4 1.2.3.4 1 1\r\n", "PROXY UNKNOWNS\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n",
    "PROXY TCP4  1.2.3.4 1.2.3.4 1 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n",
    "PROXY TCP4 ::1 ::1 1 1\r\n", "PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n",
    "PROXY TCP4 1.2.3 1.2.3.4 1 1\r\n", "PROXY TCP4 1.2.3.04 1.2.3.4 1 1\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.256 1 1\r\n", "PROXY TCP6 fe80::1%lo ::1 1 1\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 65536 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 +1 1\r\n",
    "PROXY TCP4 1.2.3.4 1.2.3.4 -1 1\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 \r\n",
  ])
  func `of version 1 is a line of the specification's form`(line: String) {
    #expect(throws: ProxyHeader.Violation.malformedLine) { try ProxyHeader.read(Array(line.utf8)) }
  }

  @Test func `of version 1 has at most 107 bytes`() throws {
    let begun = Array("PROXY UNKNOWN ".utf8) + Array(repeating: 0x66, count: 91)
    #expect(try ProxyHeader.read(begun + [13, 10])?.length == 107)
    #expect(try ProxyHeader.read(begun + [13]) == nil)
    #expect(throws: ProxyHeader.Violation.malformedLine) {
      try ProxyHeader.read(begun + [0x66, 13, 10])
    }
  }

  @Test(arguments: [
    (binary(command: 0x11, ipv4), ProxyHeader.Violation.version(1)),
    (binary(command: 0x31, ipv4), .version(3)),
    (binary(command: 0x22, ipv4), .command(2)),
    (binary(command: 0x2F, ipv4), .command(15)),
    (binary(family: 0x41, ipv4), .family(0x41)),
    (binary(family: 0x13, ipv4), .family(0x13)),
    (binary([]), .cutAddresses),
    (binary(ipv4.dropLast()), .cutAddresses),
    (binary(family: 0x21, ipv6.dropLast()), .cutAddresses),
    (binary(family: 0x31, .init(repeating: 0x2F, count: 215)), .cutAddresses),
    (binary(ipv4 + [4]), .malformedExtensions),
    (binary(ipv4 + [4, 0]), .malformedExtensions),
    (binary(ipv4 + [4, 0, 1]), .malformedExtensions),
    (binary(ipv4 + [4, 0, 0, 4, 255, 255, 1]), .malformedExtensions),
    (binary(family: 0x00, [4, 0, 1]), .malformedExtensions),
    (binary(ipv4 + [3, 0, 3, 0, 0, 0]), .malformedExtensions),
    (binary(ipv4 + [3, 0, 4, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0]), .malformedExtensions),
    (binary(ipv4 + [3, 0, 4, 0, 0, 0, 0]), .checksum),
  ])
  func `of version 2 is refused if it breaks a rule`(
    header: [UInt8], violation: ProxyHeader.Violation
  ) {
    #expect(throws: violation) { try ProxyHeader.read(header) }
  }

  @Test func `has a checksum over all of its bytes`() {
    // Without the command, whose neighbour is LOCAL, the length, which says where the header ends, and the
    // type of the checksum itself.
    for index in Self.checksummed.indices where ![12, 14, 15, 28].contains(index) {
      var changed = Self.checksummed
      changed[index] ^= 1
      #expect(throws: ProxyHeader.Violation.self, "byte \(index)") {
        try ProxyHeader.read(changed)
      }
    }
  }

  @Test func `that is too long is refused before it arrives`() throws {
    let rest = Self.ipv4 + [4, 0x0F, 0xE1] + .init(repeating: 0, count: 4065)
    #expect(try ProxyHeader.read(Self.binary(rest))?.length == ProxyHeader.limitBytes)
    #expect(throws: ProxyHeader.Violation.tooLong(4097)) {
      try ProxyHeader.read(Self.binary([], length: 4081))
    }
    #expect(throws: ProxyHeader.Violation.tooLong(65_551)) {
      try ProxyHeader.read(Self.binary(command: 0x20, [], length: 65_535))
    }
  }

  @Test(arguments: [
    "G", "GET / HTTP/1.1\r\n", "proxy TCP4", "PROXX", "PRI * HTTP/2.0\r\n", "\u{16}\u{3}\u{1}",
    "\n",
    "\r\n\r\n\0\r\nQUIT\r", "\r\nX",
  ])
  func `is missed at the first byte that belongs to none`(beginning: String) {
    #expect(throws: ProxyHeader.Violation.missing) { try ProxyHeader.read(Array(beginning.utf8)) }
  }

  @Test func `is refused in a sentence of its own for each rule`() {
    let violations: [ProxyHeader.Violation] = [
      .missing, .malformedLine, .version(1), .command(2), .family(0x41), .tooLong(5000),
      .cutAddresses, .malformedExtensions, .checksum,
    ]
    #expect(Set(violations.map(\.description)).count == violations.count)
  }
}
