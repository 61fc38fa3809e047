import Relay
import Testing
import YAML

@testable import Server

/// Every number of the configuration at its extremes is refused in a sentence, or served with.
@Suite struct `A number in the configuration` {
  private static let keys: [ConfigurationKey] = ConfigurationKey.all.filter {
    $0.expected.hasPrefix("a whole number from ")
  }

  /// A thousand event loops, and a minute before each ack, are what was asked for.
  private static let unserved: Set<String> = ["loops", "debug.commit_delay_ms"]

  /// What a key takes, as it says itself.
  private static func range(of key: ConfigurationKey) throws -> ClosedRange<Int> {
    let bounds = key.expected.split(separator: " ").compactMap { Int($0) }
    try #require(bounds.count == 2)
    return bounds[0]...bounds[1]
  }

  private static func yaml(_ key: ConfigurationKey, _ value: String) -> String {
    key.section.map { "\($0): { \(key.name): \(value) }" } ?? "\(key.path): \(value)"
  }

  @Test func `that no integer has, or beyond its range, is refused in a sentence`() throws {
    #expect(Self.keys.count > 20)
    for key in Self.keys {
      let range = try Self.range(of: key)
      for value in [
        "\(Int64.max)", "\(Int64.min)", "9223372036854775808", "1e308", "0.5", "0x7f", "-1",
        "999999999999999999999999999999", "\(range.upperBound + 1)", ".inf", "~",
      ] {
        let wrong = try complaints(about: Self.yaml(key, value))
        #expect(wrong.first?.hasPrefix(":1: \(key.path) is ") == true, "\(wrong)")
        #expect(wrong.first?.hasSuffix("; expected \(key.expected)") == true, "\(wrong)")
      }
    }
  }

  @Test func `at either end of its range is served with`() throws {
    for key in Self.keys where !Self.unserved.contains(key.path) {
      let range = try Self.range(of: key)
      for value in [range.lowerBound, range.lowerBound + 1, range.upperBound] {
        guard
          case .success(let configured) = try ConfigurationFixture(
            Self.yaml(key, "\(value)")
          ).load()
        else {
          // It does not fit the defaults of others.
          continue
        }
        try serve(configured)
      }
    }
  }

  /// With everything at once: what is multiplied by one another, or added up.
  @Test(arguments: [true, false])
  func `at an end together with all others is served with`(isLargest: Bool) throws {
    var configuration = Configuration()
    for key in Self.keys where !Self.unserved.contains(key.path) {
      let range = try Self.range(of: key)
      let value = isLargest ? range.upperBound : range.lowerBound
      #expect(key.set(.init(line: 1, content: .scalar("\(value)", isPlain: true)), &configuration))
    }
    try serve(configuration)
  }

  /// An entry, a page and the metrics, as far as a relay so configured has them; what counts is that
  /// it is there afterwards.
  private func serve(_ configured: Configuration) throws {
    try withServer(configure: {
      let (listen, loops) = ($0.listen, $0.loops)
      $0 = configured
      ($0.listen, $0.loops, $0.log.durability) = (listen, loops, .memory)
    }) { server in
      let content = #"{"id":"1","text":"hi"}"#
      let end = "HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
      let requests = [
        "GET /metrics \(end)\r\n", "GET /v1/rooms/general/messages?user=ada \(end)\r\n",
        "GET /v1/people?user=ada \(end)\r\n",
        "POST /v1/rooms/general/messages?user=ada \(end)Content-Type: application/json\r\n"
          + "Content-Length: \(content.utf8.count)\r\n\r\n\(content)",
      ]
      for request in requests {
        let client = try HTTPClient(server)
        try client.send(request)
        _ = try client.receive()
      }
    }
  }
}
