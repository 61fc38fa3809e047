import RelayConfiguration
import Testing
import YAML

/// A relay serves with every number that its configuration takes; which it takes is in
/// RelayConfigurationTests.
@Suite struct `A number in the configuration` {
  /// A thousand event loops, and a minute before each ack, are what was asked for.
  private static let served = ConfigurationKey.all.filter {
    $0.range != nil && !["loops", "debug.commit_delay_ms"].contains($0.path)
  }

  private static func set(
    _ key: ConfigurationKey, to number: Int, in configuration: inout Configuration
  ) -> Bool {
    key.set(.init(line: 1, content: .scalar("\(number)", isPlain: true)), &configuration)
  }

  @Test func `at either end of its range is served with`() throws {
    for key in Self.served {
      let range = try #require(key.range)
      for number in [range.lowerBound, range.lowerBound + 1, range.upperBound] {
        var configuration = Configuration()
        #expect(Self.set(key, to: number, in: &configuration))
        // Otherwise it does not fit the defaults of others.
        if configuration.contradictions().isEmpty { try serve(configuration) }
      }
    }
  }

  /// With everything at once: what is multiplied by one another, or added up.
  @Test(arguments: [true, false])
  func `at an end together with all others is served with`(isLargest: Bool) throws {
    var configuration = Configuration()
    for key in Self.served {
      let range = try #require(key.range)
      let number = isLargest ? range.upperBound : range.lowerBound
      #expect(Self.set(key, to: number, in: &configuration))
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
