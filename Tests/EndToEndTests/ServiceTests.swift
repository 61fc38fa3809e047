import TestSupport
import Testing

extension `End to end` {
  /// The relay under a service manager: `units.py` plays the cases, in place of systemd.
  @Suite struct `As a service` {
    private func play(_ name: String) throws {
      let peer = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("units.py"), name, Programs.relay])
      #expect(try peer.wait(Deadline(seconds: 150)) == .exit(0), "\(peer.errors)")
      #expect(peer.output == "good\n")
    }

    @Test func `it tells when it is ready, reloads and stops`() throws { try play("started") }

    @Test func `over restarts, clients wait at the socket, and none is refused`() throws {
      try play("queued")
    }

    @Test func `while the thread of the log hangs, there is no sign of life, and the log names it`()
      throws
    {
      try play("hung_log")
    }

    @Test func `while a loop hangs, there is no sign of life, and the log names it`() throws {
      try play("hung_loop")
    }

    @Test func `a socket that cannot be served is refused`() throws { try play("sockets") }

    @Test func `the unit leaves a relay ended that another start cannot repair`() throws {
      try play("exit_codes")
    }

    @Test func `systemd accepts the units, and finds their exposure low`() throws {
      try play("units")
    }
  }
}
