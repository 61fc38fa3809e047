import TestSupport
import Testing

extension `End to end` {
  @Suite struct `A crowd whose presence is watched` {
    /// The full size is 10,000 users and 1,000 watchers: PRESENCE_CROWD="10000 1000".
    @Test func `all coming back at once cost each watcher a bounded number of messages`() throws {
      let crowd = Programs.environment("PRESENCE_CROWD") ?? "3000 100"
      let size = crowd.split(separator: " ").map(String.init)
      let folder = try TemporaryFolder()
      let people = (0..<(Int(size[0]) ?? 0)).map { "- { user: user-\($0), name: User \($0) }\n" }
      try folder.write(people.joined(), to: "people.yaml")
      let relay = try RelayProcess(
        """
        log: { durability: os }
        limits: { requests_per_s: 0, unauthenticated_per_address: 0, handshake_timeout_ms: 60000 }
        directory: { kind: local, file: \(folder["people.yaml"]) }
        """)
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer("presence.py"), "\(relay.port)", "\(relay.process.id)"]
          + size, input: "")
      #expect(try peer.wait(Deadline(seconds: 240)) == .exit(0), "\(peer.errors)")
      #expect(peer.output.hasSuffix("good\n"))
      print(peer.output, terminator: "")
      #expect(try relay.stop() == .exit(0))
    }
  }
}
