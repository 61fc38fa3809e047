import Glibc
import Testing

@testable import Directories

@Suite struct `The address of a host` {
  @Test(arguments: [
    "8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0",
    "192.0.1.1", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
    "223.255.255.255", "169.253.0.1", "9.255.255.255", "11.0.0.0", "2606:4700::1111",
    "2a00:1450:4001::1", "2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2001:200::1",
    "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
  ])
  func `is public`(text: String) throws {
    #expect(try address(text).isPublic)
  }

  @Test(arguments: [
    // This machine, also in forms that look like other addresses.
    "127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::", "::127.0.0.1",
    "::ffff:127.0.0.1", "64:ff9b::7f00:1",
    // Private networks, a provider's, link-local ones, and the metadata services of clouds.
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "100.64.0.1",
    "100.127.255.255", "169.254.169.254", "fd00::1", "fc00::1", "fe80::1", "fec0::1",
    "fd00:ec2::254", "::ffff:192.168.1.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1",
    // Broadcast, multicast, and unspecified.
    "255.255.255.255", "224.0.0.1", "239.255.255.255", "240.0.0.1", "ff02::1", "192.0.0.8",
    "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "198.19.255.255", "192.88.99.1",
    "2001:db8::1", "2001::1", "2001:20::1", "2001:1ff::1", "2002:7f00:1::1", "3fff::1", "100::1",
    "4000::1", "5f00::1",
  ])
  func `is not public`(text: String) throws {
    #expect(try !address(text).isPublic)
  }

  @Test func `has 4 or 16 bytes`() {
    for count in [0, 3, 5, 15, 17] {
      #expect(PeerAddress(bytes: [UInt8](repeating: 8, count: count)) == nil)
    }
  }

  private func address(_ text: String) throws -> PeerAddress {
    var bytes = [UInt8](repeating: 0, count: 16)
    let isFour = !text.contains(":")
    let code = unsafe inet_pton(isFour ? AF_INET : AF_INET6, text, &bytes)
    try #require(code == 1)
    return try #require(PeerAddress(bytes: Array(bytes.prefix(isFour ? 4 : 16))))
  }
}
