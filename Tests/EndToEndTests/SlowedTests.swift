import TestSupport
import Testing

extension `End to end` {
  /// A user that sends too much, with Python's websockets.
  @Suite struct `A client that is slowed` {
    /// Runs one case of `slowed.py`.
    private func play(_ name: String, _ limits: String, besides configuration: String = "") throws {
      let relay = try RelayProcess("limits: { \(limits) }\n\(configuration)")
      let peer = try ChildProcess(
        ["/usr/bin/python3", Programs.peer("slowed.py"), name, relay.url], input: "")
      #expect(try peer.wait(Deadline(seconds: 120)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
      #expect(try relay.stop() == .exit(0))
    }

    @Test func `gets every send acknowledged, in order and without an error`() throws {
      try play("order", "sends_per_s: 40, burst: 20")
    }

    @Test func `gets every send acknowledged with two loops as well`() throws {
      try play("order", "sends_per_s: 40, burst: 20", besides: "loops: 2")
    }

    @Test func `still receives messages of other users`() throws {
      try play("listens", "sends_per_s: 1, burst: 2")
    }

    @Test func `is not taken for idle`() throws {
      try play("stays", "sends_per_s: 1, burst: 1, heartbeat_s: 1, idle_timeout_s: 2")
    }

    @Test func `is not considered idle, although its pong waits after all that it has sent`()
      throws
    {
      try play("stuffed", "sends_per_s: 1, burst: 1, heartbeat_s: 1, idle_timeout_s: 2")
    }

    @Test func `has its turn also where it sends nothing more`() throws {
      try play("half", "sends_per_s: 2, burst: 1, heartbeat_s: 1, idle_timeout_s: 2")
    }

    @Test func `is given up when its process is gone`() throws {
      try play("gone", "sends_per_s: 1, burst: 1, idle_timeout_s: 600")
    }

    @Test func `has a limited number of connections`() throws {
      try play("crowd", "connections_per_user: 3")
    }
  }
}
