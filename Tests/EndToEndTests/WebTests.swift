import TestSupport
import Testing

extension `End to end` {
  /// The web page in headless Chromium, as a person uses it: `web.py` plays the cases.
  @Suite struct `The web page` {
    func play(_ name: String, of program: String = "web.py") throws {
      let browser = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer(program), name, Programs.relay])
      // Chromium takes its time to start.
      let outcome = try browser.wait(Deadline(seconds: 180))
      #expect(outcome == .exit(0), "\(browser.errors)")
      #expect(browser.output == "good\n")
    }

    @Test func `leads from its address to the first answer of a bot, by the keyboard`() throws {
      try play("first_chat")
    }

    @Test func `opens the conversation that its address names`() throws { try play("addresses") }

    @Test func `is below a path, with all that it requests`() throws { try play("below_a_path") }

    @Test func `is used by keys, and keeps the focus`() throws { try play("regions") }

    @Test func `stays at the newest message when the connection is back`() throws {
      try play("returning")
    }

    @Test func `is used at 200 %, on 320 pixels, in forced colors and with reduced motion`() throws
    {
      try play("magnified")
    }

    @Test func `sends each message once over a kill of the relay`() throws { try play("restart") }

    @Test func `opens without a relay, and sends later what was written meanwhile`() throws {
      try play("offline")
    }

    @Test func `shows the same in two tabs and to another user`() throws { try play("two_tabs") }

    @Test func `takes a token from its address, renews it, and asks for another one`() throws {
      try play("token")
    }

    @Test func `says until when the directory is rate-limited`() throws { try play("directory") }

    @Test func `shows what others write as text`() throws { try play("attacks") }

    @Test func `is not framed, and is embedded only where the origin is allowed`() throws {
      try play("framing")
    }

    @Test func `is without findings of axe-core`() throws { try play("accessibility") }

    @Test func `loads at most 64 KiB at the first visit`() throws { try play("size") }

    @Test func `can be turned off`() throws { try play("turned_off") }
  }

  @Suite struct `Measured: the web page` {
    @Test func `paints soon, keeps its frames, and holds no memory`() throws {
      try `The web page`().play("budgets")
    }
  }
}
