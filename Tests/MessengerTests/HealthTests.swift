import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `The health of the connection` {
  private func title(_ harness: Harness) -> String {
    let picture = picture(harness.chat.draw(.dark()))
    return picture.prefix { $0 != "\n" }.description
  }

  private func welcomed() -> Harness {
    var harness = Harness.talking()
    harness.see(.pong(t: nil, time: harness.now))
    return harness
  }

  @Test func `a message without an answer for two seconds is shown as waiting, second by second`()
    throws
  {
    var harness = welcomed()
    harness.type("hello")
    harness.press(Key(.enter))
    #expect(title(harness).hasSuffix(" ms"))
    let due = try #require(harness.chat.deadline)
    #expect(due <= harness.now + 2000)
    harness.now += 1999
    harness.take(.tick)
    #expect(title(harness).hasSuffix(" ms"))
    harness.now += 1
    harness.take(.tick)
    #expect(title(harness).hasSuffix("◐ waiting 2 s"))
    #expect(try #require(harness.chat.deadline) <= harness.now + 1000)
    harness.now += 4000
    harness.take(.tick)
    #expect(title(harness).hasSuffix("◐ waiting 6 s"))
    harness.acknowledge(try #require(harness.sent.first), seq: 1)
    #expect(title(harness).hasSuffix(" ms"))
  }

  @Test func `a ping without an answer is shown as waiting, an answered one is not`() {
    var harness = Harness.talking()
    harness.now += 3000
    harness.take(.tick)
    #expect(title(harness).hasSuffix("◐ waiting 3 s"))
    // That exchange began before the relay answered again: another one tells how fast it is now.
    harness.effects = []
    harness.see(.pong(t: nil, time: harness.now))
    #expect(title(harness).hasSuffix("● connected"))
    #expect(harness.requests == [.ping(t: nil)])
    harness.now += 40
    harness.see(.pong(t: nil, time: harness.now))
    #expect(title(harness).hasSuffix("● 40 ms"))
  }

  @Test func `while a ping is unanswered nothing looks better than it, also after the next one`() {
    var harness = welcomed()
    harness.now += 10_000
    harness.take(.tick)
    for second in 1...20 {
      harness.now += 1000
      harness.take(.tick)
      #expect(title(harness).hasSuffix(second < 2 ? "● 1000 ms" : "◐ waiting \(second) s"))
    }
    // Of the pings that waited, none tells how fast the relay is now.
    harness.now += 1
    harness.effects = []
    for shown in ["◐ waiting 10 s", "● connected", "● connected"] {
      harness.see(.pong(t: nil, time: harness.now))
      #expect(title(harness).hasSuffix(shown))
    }
    #expect(harness.requests == [.ping(t: nil)])
    harness.now += 3
    harness.see(.pong(t: nil, time: harness.now))
    #expect(title(harness).hasSuffix("● 3 ms"))
  }

  @Test func `older messages and people that were asked for are awaited as well`() {
    var harness = welcomed()
    harness.chat.historyIsAsked()
    harness.now += 1500
    harness.take(.tick)
    #expect(title(harness).hasSuffix("● 1500 ms"))
    harness.now += 500
    harness.take(.tick)
    #expect(title(harness).hasSuffix("◐ waiting 2 s"))
    harness.see(.error(WireError(.unavailable, "Later.", re: .history)))
    #expect(title(harness).hasSuffix("● 0 ms"))
  }

  @Test func `what is shown changes by itself with the age of what is unanswered`() throws {
    var harness = welcomed()
    harness.type("hello")
    harness.press(Key(.enter))
    let start = harness.now
    var shown: [Int64] = []
    while harness.now < start + 4000 {
      harness.now = try #require(harness.chat.deadline)
      harness.take(.tick)
      shown.append(harness.now - start)
    }
    #expect(Set(shown).isSuperset(of: [500, 1000, 1500, 2000, 3000, 4000]))
  }

  @Test func `a message that the relay cannot store now is answered, and the bar says it`() throws {
    var harness = welcomed()
    harness.type("hello")
    harness.press(Key(.enter))
    let send = try #require(harness.sent.first)
    for _ in 0..<5 {
      harness.see(
        .error(
          WireError(
            .unavailable, "The disk is full.", re: .send, room: send.room, id: send.id,
            retryAfterMilliseconds: 1000)))
      harness.now += 1000
      harness.take(.tick)
      #expect(title(harness).contains("! not stored") && title(harness).hasSuffix(" ms"))
    }
    harness.acknowledge(send, seq: 1)
    #expect(!title(harness).contains("!"))
  }

  @Test func `time in which the process did not run is not the relay's`() {
    var harness = welcomed()
    harness.now += 10_000
    harness.take(.tick)
    // The laptop is closed.
    harness.now += 8 * 3_600_000
    harness.take(.tick)
    #expect(title(harness).hasSuffix("● 0 ms"))
    harness.now += 5
    harness.see(.pong(t: nil, time: harness.now))
    #expect(title(harness).hasSuffix("● connected"))
  }

  @Test func `a message from before the connection waits since the connection`() {
    var harness = Harness.talking()
    harness.lose()
    harness.type("hello")
    harness.press(Key(.enter))
    harness.now += 60_000
    harness.welcome()
    harness.see(.pong(t: nil, time: harness.now))
    #expect(title(harness).hasSuffix("● 0 ms"))
    harness.now += 2000
    harness.take(.tick)
    #expect(title(harness).hasSuffix("◐ waiting 2 s"))
  }

  @Test func `a refused message does not wait`() throws {
    var harness = welcomed()
    harness.type("hello")
    harness.press(Key(.enter))
    let send = try #require(harness.sent.first)
    harness.take(.client(.refused(send, WireError(.forbidden, "No."))))
    harness.now += 5000
    harness.take(.tick)
    #expect(!title(harness).contains("waiting"))
  }

  @Test func `Alt+R reconnects, while it waits as well`() {
    var harness = welcomed()
    harness.press(Key(.character("r"), .alt))
    #expect(harness.effects.last == .reconnect)
    harness.lose()
    harness.effects = []
    harness.press(Key(.character("r"), .alt))
    #expect(harness.effects.last == .reconnect)
    #expect(picture(harness.chat.draw(.dark())).contains("(Alt+R: now)"))
  }
}

@Suite struct `Whether the user looks` {
  @Test func `without reports of the focus, nobody looks a minute after the last key`() {
    var harness = Harness.talking()
    harness.press(Key(.character("a")))
    harness.now += 59_999
    harness.entry(1, "seen")
    #expect(harness.chat.conversations[Harness.room]?.read == 1)
    #expect(!harness.effects.contains { if case .notify = $0 { true } else { false } })
    harness.now += 60_000
    harness.entry(2, "not seen")
    #expect(harness.chat.conversations[Harness.room]?.read == 1)
    #expect(harness.effects.contains(.notify(title: "bo", body: "not seen")))
    harness.press(Key(.character("b")))
    #expect(harness.chat.conversations[Harness.room]?.read == 2)
  }

  @Test func `a hint about the focus is shown once, when the user comes back`() {
    var harness = Harness.talking()
    harness.chat.focusHint = "a hint"
    harness.press(Key(.character("a")))
    #expect(harness.chat.notice == nil)
    for expected in ["a hint", nil] {
      harness.now += 60_000
      harness.take(.tick)
      harness.press(Key(.character("b")))
      #expect(harness.chat.notice?.text == expected)
    }
  }

  @Test func `with the focus they look for as long as they have it`() {
    var harness = Harness.talking()
    harness.take(.input(.focus(true)))
    harness.now += 3_600_000
    harness.entry(1, "seen")
    #expect(harness.chat.conversations[Harness.room]?.read == 1)
  }

  @Test func `0 seconds mean that they always look`() {
    var harness = Harness.talking()
    harness.chat.settings.awayAfterSeconds = 0
    harness.now += 3_600_000
    harness.entry(1, "seen")
    #expect(harness.chat.conversations[Harness.room]?.read == 1)
  }

  @Test func `the presence is away after five minutes without a key`() {
    var harness = Harness.talking()
    harness.now += 300_000
    harness.take(.tick)
    #expect(harness.requests.contains(.presence(isAway: true)))
    harness.press(Key(.character("b")))
    #expect(harness.requests.contains(.presence(isAway: false)))
  }
}
