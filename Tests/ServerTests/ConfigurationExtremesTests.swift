import RelayConfiguration
import Testing
import YAML

/// A relay runs with every number that its configuration accepts: see RelayConfigurationTests.
@Suite struct `An extreme number in the configuration` {
  /// Except for a thousand event loops, and a minute before each ack: the relay would obey.
  private static let served = ConfigurationKey.all.filter {
    $0.range != nil && !["loops", "debug.commit_delay_ms"].contains($0.path)
  }

  private static func set(
    _ key: ConfigurationKey, to number: Int, in configuration: inout Configuration
  ) -> Bool {
    key.set(.init(line: 1, content: .scalar("\(number)", isPlain: true)), &configuration)
  }

  @Test func `lets a relay serve at either end of its range`() throws {
    for key in Self.served {
      let range = try #require(key.range)
      for number in [range.lowerBound, range.lowerBound + 1, range.upperBound] {
        var configuration = Configuration()
        #expect(Self.set(key, to: number, in: &configuration))
        // Otherwise it cannot be combined with the defaults of other keys.
        if configuration.contradictions().isEmpty { try serve(configuration) }
      }
    }
  }

  /// All together: for numbers that are multiplied or added.
  @Test(arguments: [true, false])
  func `lets a relay serve together with the extremes of all others`(isLargest: Bool) throws {
    var configuration = Configuration()
    for key in Self.served {
      let range = try #require(key.range)
      let number = isLargest ? range.upperBound : range.lowerBound
      #expect(Self.set(key, to: number, in: &configuration))
    }
    try serve(configuration)
  }

  /// Requests an entry, a page and the metrics, if a relay so configured has them; the test is that
  /// it still runs afterwards.
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
