import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `A notice of several lines` {
  @Test func `is not cut by the line between the panes`() {
    var chat = Sample.busy(80, 24)
    let text = (1...20).map { "word\($0)" }.joined(separator: " ")
    chat.complain(text)
    let drawn = (0..<24).map { chat.draw(.plain).grid.text(row: $0) }.joined()
    #expect((1...20).allSatisfy { drawn.contains("word\($0)") })
  }

  @Test func `covers neither what is being written nor the keys`() {
    var chat = Sample.busy(80, 24)
    chat.composer = TextEditor("precious")
    chat.complain((1...20).map { "word\($0)" }.joined(separator: " "))
    let drawn = (0..<24).map { chat.draw(.plain).grid.text(row: $0) }
    #expect(drawn.contains { $0.contains("precious") })
    #expect(drawn.last?.contains("Ctrl+K") == true)
  }
}

@Suite struct `The bars` {
  private func rows(_ chat: Chat) -> [String] {
    picture(chat.draw(.dark())).split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }

  @Test func `the title shows the state of the connection, and how far it lags`() {
    var chat = Sample.busy(100, 24)
    let states: [(Chat.Connection, String)] = [
      (.connecting, "◌ connecting…"),
      (.live(roundTripMilliseconds: nil), "● connected"),
      (.live(roundTripMilliseconds: 3), "● 3 ms"),
      (.waiting(until: Sample.now + 9_001, reason: ""), "↻ reconnecting in 10 s"),
      (.ended("no"), "✕ offline"),
    ]
    for (connection, text) in states {
      chat.connection = connection
      #expect(rows(chat)[0].hasSuffix(text))
    }
    chat.conversations["dm:ada:grace"]?.isJoined = true
    chat.conversations["dm:ada:grace"]?.head = 120
    chat.conversations["dm:ada:grace"]?.latest = 20
    #expect(rows(chat)[0].contains("lagging by 100"))
  }

  @Test func `the title shows the presence of the peer, or when they were last online`() {
    var chat = Sample.busy(100, 24)
    #expect(rows(chat)[0].contains("Grace Hopper  online"))
    chat.conversations["dm:ada:grace"]?.presence = .offline
    chat.conversations["dm:ada:grace"]?.lastSeen = Sample.now - Sample.day
    #expect(rows(chat)[0].contains("last seen yesterday 12:40"))
    chat.conversations["dm:ada:grace"]?.isMuted = true
    #expect(rows(chat)[0].contains("last seen yesterday 12:40 · muted"))
    chat.conversations["dm:ada:grace"]?.typing = [.init(user: "grace", until: Sample.now + 1)]
    #expect(rows(chat)[0].contains("typing…"))
    chat.now += 1
    #expect(!rows(chat)[0].contains("typing…"))
  }

  @Test func `in a room it names typing users`() {
    var chat = Sample.room(100, 24)
    chat.conversations["general"]?.typing = [.init(user: "bo", until: Sample.now + 1)]
    #expect(rows(chat)[0].contains("Bo is typing…"))
    chat.conversations["general"]?.typing.append(.init(user: "grace", until: Sample.now + 1))
    #expect(rows(chat)[0].contains("Bo and 1 more are typing…"))
  }

  @Test func `a notice replaces the keys until its time is over`() {
    var chat = Sample.busy(100, 24)
    chat.notice = Chat.Notice(text: "copied\u{1B}[2J", isError: false, until: Sample.now + 1)
    #expect(rows(chat).last == " copied[2J")
    chat.now += 1
    #expect(rows(chat).last?.contains("Enter send") == true)
  }

  @Test func `names and texts of others cannot write to the terminal`() {
    var chat = Sample.busy(100, 24)
    let bad = "\u{1B}]0;x\u{7}\u{202E}evil\u{9B}31m"
    chat.conversations["general"]?.title = bad
    chat.conversations["dm:ada:grace"]?.title = bad
    chat.conversations["dm:ada:bo"]?.last?.text = bad
    chat.conversations["dm:ada:bo"]?.typing = []
    chat.names["grace"] = bad
    chat.directory = .failed(bad)
    chat.connection = .ended(bad)
    let text = picture(chat.draw(.dark()))
    #expect(text.contains("]0;xevil31m"))
    #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
    #expect(!text.unicodeScalars.contains { "\u{202E}\u{9B}\u{7F}".unicodeScalars.contains($0) })
  }
}
