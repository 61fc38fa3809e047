import TestSupport
import Testing
import Wire

extension `End to end` {
  /// What an operator asks a relay.
  @Suite struct `Watching a relay` {
    private func readiness(_ relay: RelayProcess) throws -> String {
      try HTTPExchange(relay, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n").answer()
    }

    @Test
    func `each alert fires for its fault alone, and no query names a metric that is not there`()
      throws
    {
      let peer = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("monitoring.py"), Programs.relay], input: "")
      #expect(try peer.wait(Deadline(seconds: 120)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }

    @Test func `Prometheus's parser reads the metrics, and they are correct`() throws {
      let folder = try TemporaryFolder()
      try folder.write("[{ user: ada }, { user: bo }, { user: Ada Lovelace }]\n", to: "people.yaml")
      let relay = try RelayProcess(
        """
        loops: 2
        bots: [{ user: echo, behaviour: echo }]
        directory: { kind: local, file: \(folder["people.yaml"]) }
        """, in: folder)
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer("metrics.py"), "\(relay.port)", relay.dataFolder],
        input: "")
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      try relay.stop()
    }

    @Test func `readiness sends an entry through the whole relay, and no client sees it`() throws {
      let relay = try RelayProcess("loops: 2")
      let clock = ContinuousClock()
      let began = clock.now
      for _ in 1...30 {
        #expect(try readiness(relay).hasPrefix("HTTP/1.1 200 OK\r\n"))
      }
      // Asking often costs nothing: an answer holds for five seconds, on every loop.
      let entries = try relay.metric("relay_log_entries_total")
      #expect(entries >= 1)
      #expect(entries <= 1 + Int((clock.now - began) / .seconds(5)))

      // Not even a user of that name.
      let client = try RawClient(relay, user: "sys.canary")
      try client.send(.rooms(.init()))
      let rooms = try client.first { message in
        if case .rooms(let rooms, _) = message { rooms.map(\.room) } else { nil }
      }
      #expect(rooms == ["general"])
      try client.send(.join(.init(room: "sys:canary", after: 0)))
      #expect(try client.error().code == .forbidden)
      try client.send(.history(.init(room: "sys:canary")))
      #expect(try client.error().code == .forbidden)
      try client.send(.send(.init(room: "sys:canary", id: "1", text: "hi")))
      #expect(try client.error().code == .forbidden)

      #expect(try relay.stop() == .exit(0))
      let verify = try RelayProcess.command("verify", "--data", relay.dataFolder)
      #expect(try verify.wait() == .exit(0), "\(verify.output)\(verify.errors)")
    }

    @Test func `readiness does not wait for a log that does not answer`() throws {
      let relay = try RelayProcess("debug: { commit_delay_ms: 4500 }")
      let answer = try readiness(relay)
      #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"), "\(answer)")
      #expect(answer.contains("the test entry was not acknowledged"), "\(answer)")
      #expect(answer.contains("\r\nRetry-After: 5\r\n"), "\(answer)")
      #expect(answer.contains(#""code":"unavailable""#), "\(answer)")
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a file system of its own takes root"))
    func `a full disk makes it unready, and space ready again`() throws {
      let disk = try SmallDisk(kibibytes: 4096)
      let relay = try RelayProcess(RelayProcess.withoutLimits, data: disk.folder["data"])
      #expect(try readiness(relay).hasPrefix("HTTP/1.1 200 "))
      // Whatever is left.
      let filler = try ChildProcess(
        ["sh", "-c", "cat /dev/zero >'\(disk.folder["filler"])'"], input: "")
      #expect(try filler.wait() == .exit(1))
      let ada = try RawClient(relay, user: "ada")
      let text = String(repeating: "0123456789", count: 800)
      var number = 0
      // What the files have to spare is taken as well.
      try ada.send(.send(.init(room: "general", id: "0", text: text)))
      while case .ack = try ada.first(where: { $0.isOutcome }) {
        number += 1
        try ada.send(.send(.init(room: "general", id: "\(number)", text: text)))
      }
      var answer = ""
      _ = try becomesTrue {
        answer = try readiness(relay)
        return !answer.hasPrefix("HTTP/1.1 200 ")
      }
      #expect(answer.hasPrefix("HTTP/1.1 503 "), "\(answer)")
      #expect(answer.contains("The log is unavailable"), "\(answer)")

      try run("rm", disk.folder["filler"])
      _ = try becomesTrue {
        answer = try readiness(relay)
        return answer.hasPrefix("HTTP/1.1 200 ")
      }
      #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(answer)")
      #expect(try relay.stop() == .exit(0))
    }
  }
}

extension ServerMessage {
  /// Says what became of a send.
  fileprivate var isOutcome: Bool {
    switch self {
    case .ack, .error: true
    default: false
    }
  }
}

extension RawClient {
  fileprivate func first(where matches: (ServerMessage) -> Bool) throws -> ServerMessage {
    try first { matches($0) ? $0 : nil }
  }
}

extension RelayProcess {
  /// A metric without labels.
  func metric(_ name: String) throws -> Int {
    let metrics = try metrics()
    guard let start = metrics.firstRange(of: "\n\(name) "),
      let value = Int(metrics[start.upperBound...].prefix { $0.isNumber })
    else { throw Unexpected("no \(name) in \(metrics)") }
    return value
  }
}
