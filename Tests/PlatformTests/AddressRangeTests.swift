import Platform
import Testing

@Suite struct `A range of addresses` {
  @Test(arguments: [
    ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
    ("192.168.7.128/25", "192.168.7.128", true), ("192.168.7.128/25", "192.168.7.127", false),
    ("127.0.0.1", "127.0.0.1", true), ("127.0.0.1", "127.0.0.2", false),
    ("0.0.0.0/0", "203.0.113.7", true), ("0.0.0.0/0", "::1", false),
    ("::/0", "::1", true), ("::/0", "127.0.0.1", false),
    // A dual-stack socket shows IPv4 peers so.
    ("10.0.0.0/8", "::ffff:10.1.2.3", true),
    ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::1", false),
    ("2001:db8:0:0:1000::/68", "2001:db8:0:0:1fff::1", true),
    ("2001:db8:0:0:1000::/68", "2001:db8:0:0:2000::1", false),
    ("::1", "::1", true), ("::1", "::2", false),
  ])
  func `contains those with its prefix`(range: String, address: String, isIn: Bool) throws {
    let range = try #require(AddressRange(range))
    let address = try #require(Address(numericHost: address, port: 4711))
    #expect(range.contains(address) == isIn)
  }
}
