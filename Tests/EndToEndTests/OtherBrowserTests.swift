import TestSupport
import Testing

extension `End to end` {
  /// The web page in Firefox and WebKit, as a person uses it: `web_browsers.py` plays cases of the
  /// scripts for Chromium with other drivers. A browser that is not installed is reported, and is no failure.
  @Suite(.serialized) struct `The web page in other browsers` {
    private static let browsers = ["firefox", "webkit"]
    private static let missing: Int32 = 2

    private func play(_ name: String, in browser: String) throws {
      let player = try ChildProcess(
        ["/usr/bin/python3", "-B", Programs.peer("web_browsers.py"), name, Programs.relay, browser])
      let outcome = try player.wait(Deadline(seconds: 240))
      if outcome == .exit(Self.missing) {
        print(player.errors)
        return
      }
      #expect(outcome == .exit(0), "\(player.errors)")
      #expect(player.output == "good\n")
    }

    @Test(arguments: browsers)
    func `leads from its address to the first answer of a bot, by the keyboard`(
      browser: String
    ) throws {
      try play("first_chat", in: browser)
    }

    @Test(arguments: browsers)
    func `sends neither a composition nor a paste by itself`(browser: String) throws {
      try play("composing", in: browser)
    }

    @Test(arguments: browsers)
    func `sends each message once over a kill of the relay`(browser: String) throws {
      try play("restart", in: browser)
    }

    @Test(arguments: browsers)
    func `opens without a relay, and sends later what was written meanwhile`(
      browser: String
    ) throws {
      try play("offline", in: browser)
    }

    @Test(arguments: browsers)
    func `shows the same in two tabs and to another user`(browser: String) throws {
      try play("two_tabs", in: browser)
    }

    @Test(arguments: browsers)
    func `does not move what one reads, whatever changes around it`(browser: String) throws {
      try play("drift", in: browser)
    }

    @Test(arguments: browsers)
    func `shows what others write as text`(browser: String) throws {
      try play("attacks", in: browser)
    }
  }
}
