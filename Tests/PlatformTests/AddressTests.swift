import Platform
import Testing

@Suite struct `An address` {
  @Test(arguments: [
    "127.0.0.1:80", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:80", "[2001:db8::7]:1",
  ])
  func `a numeric address prints as it was written`(text: String) throws {
    #expect(try Address(text).description == text)
  }

  @Test(arguments: [
    "", ":", "80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1",
    "127.0.0.1:80x", "::1:80", "[::1]", "[::1]80", "[127.0.0.1]:80", ":80", "1.2.3:80",
    "127.0.0.1\0:80",
  ])
  func `anything else is refused, and the refusal quotes it`(text: String) {
    #expect(throws: AddressError.malformed(text)) { try Address(text) }
  }

  @Test func `loopback is 127 and everything below it, and the IPv6 one`() throws {
    for text in ["127.0.0.1:1", "127.255.0.9:1", "[::1]:1", "[::ffff:127.0.0.1]:1"] {
      #expect(try Address(text).isLoopback, "\(text)")
    }
    for text in ["128.0.0.1:1", "0.0.0.0:1", "[::]:1", "[::2]:1", "[1::1]:1"] {
      #expect(try !Address(text).isLoopback, "\(text)")
    }
  }

  @Test func `limits count IPv4 by address and IPv6 by network`() throws {
    func key(_ text: String) throws -> [UInt64] {
      let address = try Address(text)
      return [address.network, address.isIPv6 ? 1 : 0]
    }
    #expect(try key("10.0.0.1:1") == key("10.0.0.1:2"))
    #expect(try key("10.0.0.1:1") != key("10.0.0.2:1"))
    #expect(try key("[2001:db8::1]:1") == key("[2001:db8::ffff:2]:9"))
    #expect(try key("[2001:db8::1]:1") != key("[2001:db8:0:1::1]:1"))
    #expect(try key("[::1]:1") != key("0.0.0.0:1"))
  }

  @Test func `an address is made of its bytes as of its text`() throws {
    #expect(try Address(bytes: [203, 0, 113, 7], port: 80) == Address("203.0.113.7:80"))
    let zeros = [UInt8](repeating: 0, count: 10)
    #expect(
      try Address(bytes: [0x20, 1, 0xD, 0xB8] + zeros + [0xAB, 7], port: 1)
        == Address("[2001:db8::ab07]:1"))
    #expect(
      try Address(bytes: zeros + [255, 255, 203, 0, 113, 7], port: 1) == Address("203.0.113.7:1"))
  }

  @Test func `the name of this machine's loopback is found`() throws {
    let addresses = try Address.resolve("localhost:81")
    #expect(!addresses.isEmpty)
    #expect(addresses.allSatisfy { $0.isLoopback && $0.port == 81 })
  }

  @Test func `a name that cannot exist is refused with the resolver's reason`() {
    #expect {
      try Address.resolve(host: "no such host", port: 1)
    } throws: { error in
      guard case .unresolved(host: "no such host", let reason)? = error as? AddressError else {
        return false
      }
      return !reason.isEmpty
    }
  }
}
