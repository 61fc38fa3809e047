import RelayConfiguration
import Testing

@testable import Gateway
@testable import Server

@Suite struct `The host of files, as configured` {
  @Test(arguments: [
    ("", "https://chat.example.org", nil),
    ("files.example.org", "https://chat.example.org", "https://files.example.org"),
    ("files.example.org", "https://chat.example.org:8443/", "https://files.example.org:8443"),
    ("files.example.org:444", "https://chat.example.org:8443", "https://files.example.org:444"),
    ("files.example.org", "http://[::1]:80", "http://files.example.org"),
    ("localhost", "", "http://localhost:8080"), ("[::1]:9", "", "http://[::1]:9"),
  ])
  func `has the scheme of the page, and its port unless it has one`(
    host: String, page: String, origin: String?
  ) {
    var configuration = Configuration()
    configuration.files.host = host
    configuration.auth.publicURL = page
    #expect(configuration.fileHost(listeningOn: "127.0.0.1:8080")?.origin == origin)
  }
}
