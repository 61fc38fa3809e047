import TestSupport
import Testing

extension `End to end` {
  /// The web page over many kills, reloads and switches of the room: `web_long.py` plays the cases.
  @Suite struct `The web page in long use` {
    fileprivate func play(_ name: String, seconds: Int = 240) throws {
      let browser = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("web_long.py"), name, Programs.relay])
      let outcome = try browser.wait(Deadline(seconds: seconds))
      #expect(outcome == .exit(0), "\(browser.errors)")
      #expect(browser.output == "good\n")
    }

    @Test func `shows each message once over 30 kills of the relay and 30 reloads`() throws {
      try play("kills")
    }

    @Test func `keeps what it has shown over 90 reloads in that moment, without a relay`() throws {
      try play("reloads")
    }

    @Test func `holds nothing of rooms that were left`() throws { try play("switching") }
  }

  @Suite struct `Measured: the web page in long use` {
    @Test func `holds nothing of 3,600 rooms that were left`() throws {
      try `The web page in long use`().play("hour", seconds: 900)
    }
  }
}
