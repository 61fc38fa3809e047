import Client
import Messenger
import Terminal
import Testing
import Wire

/// What is wrong for longer than a notice is shown.
@Suite struct `A condition that lasts` {
  private func title(_ harness: Harness) -> Substring {
    picture(harness.chat.draw(.dark())).prefix { $0 != "\n" }
  }

  private func unsaved() -> Harness {
    var harness = Harness.talking()
    harness.take(.condition(.notSaved, "Messages are not saved: the disk is full."))
    return harness
  }

  @Test(arguments: [
    (Chat.Condition.notSaved, "! not saved"), (.noToken, "! no token"),
    (.signedOut, "! signed out"), (.notStored, "! not stored"),
    (.otherClock, "! clock"),
  ])
  func `stays in the bar when its notice is gone, and the help says it in full`(
    condition: Chat.Condition, label: String
  ) {
    #expect(Chat.Condition.allCases.count == 5)
    var harness = Harness.talking()
    harness.take(.condition(condition, "Something is wrong with it."))
    #expect(harness.chat.notice?.text == "Something is wrong with it.")
    harness.take(.done("Copied."))
    harness.now += 60_000
    harness.take(.tick)
    #expect(harness.chat.notice == nil)
    #expect(title(harness).contains(label))
    harness.press(Key(.function(1)))
    #expect(picture(harness.chat.draw(.dark())).contains("Something is wrong with it."))
    harness.take(.condition(condition, nil))
    #expect(!title(harness).contains("!"))
  }

  @Test(arguments: [30, 40, 69, 70, 100])
  func `is in the bar at any width, in the list as well`(columns: Int) {
    var harness = unsaved()
    harness.take(.resized(Size(columns: columns, rows: 24)))
    #expect(title(harness).contains("!"))
    harness.press(Key(.function(6), .shift), Key(.function(6), .shift))
    #expect(title(harness).contains("!"))
  }

  @Test func `is told once, however often it is found again`() {
    var harness = unsaved()
    harness.take(.done("Copied."))
    harness.take(.condition(.notSaved, "Messages are not saved: the disk is full."))
    #expect(harness.chat.notice?.text == "Copied.")
  }

  @Test(arguments: [(60_000, false), (-60_000, false), (600_000, true), (-10_800_000, true)])
  func `is the clock, if it differs from the relay's by minutes`(ahead: Int64, isWrong: Bool) {
    var harness = Harness()
    let time = harness.now - ahead
    harness.take(
      .client(
        .welcomed(
          .init(
            user: "ada", session: "s", server: "relay/1", time: time, heartbeatSeconds: 30,
            limits: .init()))))
    #expect(title(harness).contains("! clock") == isWrong)
    harness.welcome()
    #expect(!title(harness).contains("! clock"))
  }

  // MARK: Quitting

  private func quit(_ harness: inout Harness) -> Bool {
    harness.effects = []
    harness.press(Key(.character("c"), .control))
    return harness.effects.contains(.quit)
  }

  @Test func `makes quitting ask, if a message or a draft would be lost`() throws {
    var harness = unsaved()
    harness.type("precious")
    harness.press(Key(.enter))
    harness.take(.kept(id: try #require(harness.sent.first).id, false))
    harness.type("a draft")
    #expect(!quit(&harness))
    #expect(picture(harness.chat.draw(.dark())).contains("1 message and 1 draft cannot be saved."))
    harness.press(Key(.escape))
    #expect(harness.chat.overlay == nil && harness.chat.composer.text == "a draft")
    #expect(!quit(&harness))
    #expect(quit(&harness))
  }

  @Test func `does not make it ask for what the relay has, or what is saved after all`() throws {
    var harness = unsaved()
    for text in ["one", "two"] {
      harness.type(text)
      harness.press(Key(.enter))
      harness.take(.kept(id: try #require(harness.sent.last).id, false))
    }
    #expect(harness.chat.unkept.count == 2)
    harness.acknowledge(harness.sent[0], seq: 1)
    #expect(!quit(&harness))
    harness.press(Key(.character("n")))
    harness.take(.kept(id: harness.chat.unkept[0].send.id, true))
    #expect(quit(&harness))
  }

  @Test func `without one nothing is asked`() {
    var harness = Harness.talking()
    harness.type("a draft")
    #expect(quit(&harness))
  }
}
