import Testing

@testable import Directories

@Suite struct `Web address` {
  @Test(arguments: [
    ("https://API.github.com/orgs", "https://api.github.com"),
    ("https://a.example:443/", "https://a.example"), ("http://a.example:80", "http://a.example"),
    ("http://a.example:8080?x", "http://a.example:8080"), ("http://[::1]:81/x", "http://[::1]:81"),
    ("http://[::1]", "http://[::1]"), ("ftp://a.example", nil), ("https://", nil),
    ("https://u:p@a.example", nil), ("https://a.example:0", nil), ("https://a.example:x", nil),
    ("https://a b", nil), ("//a.example", nil), ("https://a\\b", nil), ("https://:80", nil),
  ])
  func `has a host and a scheme`(text: String, origin: String?) {
    #expect(WebAddress(text)?.origin == origin)
  }

  @Test func `is recognized as this machine, or not`() {
    for host in ["127.0.0.1", "127.9.8.7:80", "localhost:1", "[::1]:2"] {
      #expect(WebAddress("http://\(host)/")?.isLoopback == true)
    }
    for host in ["127.0.0.1.example.org", "127.1", "10.0.0.1", "[::2]", "127.0.0.300"] {
      #expect(WebAddress("http://\(host)/")?.isLoopback == false)
    }
  }
}
