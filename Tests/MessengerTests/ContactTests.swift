import Client
import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Blocks, requests and reports` {
  private func say(_ text: String, in harness: inout Harness) {
    harness.type(text)
    harness.press(Key(.enter))
  }

  private func asked(_ harness: Harness) -> [(message: ClientMessage, ref: String)] {
    harness.effects.compactMap {
      if case .ask(let message, let ref) = $0 { (message, ref) } else { nil }
    }
  }

  private func hidden(_ seq: Int64) -> Entry {
    Harness.entry(seq, "bo", .init(room: Harness.room, id: "x", text: "x"), at: 0).hidden
  }

  private func drawn(_ harness: inout Harness) -> String {
    harness.chat.prepareToDraw()
    return picture(harness.chat.draw(.dark()))
  }

  @Test func `hidden messages that follow each other are one line, unread and notified by none`() {
    var harness = Harness.talking()
    harness.take(.input(.focus(false)))
    harness.entry(1, from: "ada", "hello")
    for seq: Int64 in 2...4 { harness.take(.client(.entry(hidden(seq)))) }
    #expect(harness.texts == ["hello", "3 messages of a blocked person are hidden"])
    // Entries that come twice count once.
    harness.take(.client(.entry(hidden(3))))
    harness.entry(5, from: "ada", "still there?")
    harness.take(.client(.entry(hidden(6))))
    #expect(harness.texts.last == "A message of a blocked person is hidden")
    let conversation = harness.chat.conversations[Harness.room]
    #expect(conversation?.unread == 0 && conversation?.last?.text == "still there?")
    #expect(conversation?.latest == 6 && harness.chat.timeline?.lastSeq == 6)
    #expect(!harness.effects.contains { if case .notify = $0 { true } else { false } })
    #expect(drawn(&harness).contains("3 messages of a blocked person are hidden"))
  }

  @Test func `a run of hidden messages continues over the pages of the archive`() {
    var harness = Harness.talking(head: 250)
    harness.kept[Harness.room] = (1...250).map { hidden($0) }
    harness.take(
      .page(room: Harness.room, before: nil, (151...250).map { hidden($0) }, isComplete: false))
    #expect(harness.texts == ["100 messages of a blocked person are hidden"])
    let key = harness.chat.timeline?.messages.first?.key
    harness.take(
      .page(room: Harness.room, before: 151, (51...150).map { hidden($0) }, isComplete: false))
    #expect(harness.texts == ["200 messages of a blocked person are hidden"])
    #expect(
      harness.chat.timeline?.firstSeq == 51 && harness.chat.timeline?.messages.first?.key == key)
  }

  @Test(arguments: [
    ("/block", ClientMessage.block(user: "bo", on: true), "bo is blocked."),
    ("/block @Cy", .block(user: "cy", on: true), "cy is blocked."),
    ("/unblock", .block(user: "bo", on: false), "bo is no longer blocked."),
    (
      "/report so loud", .report(room: Harness.room, seq: 2, reason: "so loud"),
      "The message was reported to the operators of the relay."
    ),
    (
      "/report 1 spam", .report(room: Harness.room, seq: 1, reason: "spam"),
      "The message was reported to the operators of the relay."
    ),
  ])
  func `commands ask the relay, and say what has become of it`(
    text: String, message: ClientMessage, sentence: String
  ) throws {
    var harness = Harness.talking()
    for seq: Int64 in 1...2 { harness.entry(seq, "watches") }
    harness.entry(3, from: "ada", "no")
    harness.take(.client(.entry(hidden(4))))
    say(text, in: &harness)
    let ask = try #require(asked(harness).first)
    #expect(ask.message == message && harness.chat.composer.isEmpty && harness.sent.isEmpty)
    #expect(harness.chat.notice == nil)
    harness.take(.client(.answered(ref: ask.ref)))
    #expect(harness.chat.notice?.text == sentence && harness.chat.notice?.isError == false)
  }

  @Test func `a refusal says what was refused, and so does a lost connection`() throws {
    var harness = Harness.talking()
    say("/block cy", in: &harness)
    var error = WireError(.limitReached, "You block 1000 users.", re: .block)
    error.ref = try #require(asked(harness).first?.ref)
    harness.see(.error(error))
    #expect(harness.chat.notice?.text == "Blocking cy was refused: You block 1000 users.")
    say("/block cy", in: &harness)
    harness.lose()
    #expect(harness.chat.notice?.text.hasPrefix("Blocking cy was not answered.") == true)
    say("/block cy", in: &harness)
    #expect(harness.chat.notice?.text == "/block needs a connection.")
    #expect(harness.chat.composer.text == "/block cy")
  }

  @Test(arguments: [
    ("/block bo cy", "Write one name"), ("/unblock no/body", "no/body is no user's name"),
    ("/accept", "This conversation is no request."), ("/report", "A reason is missing"),
    ("/report 4", "A reason is missing"), ("/report spam", "There is no message of another person"),
  ])
  func `say what is wrong, and stay where they were written`(text: String, sentence: String) {
    var harness = Harness.talking()
    say(text, in: &harness)
    #expect(asked(harness).isEmpty && harness.chat.composer.text == text)
    #expect(harness.chat.notice?.text.hasPrefix(sentence) == true, "\(harness.chat.notice as Any)")
  }

  @Test func `a report in a reply is about the message that the reply is to`() {
    var harness = Harness.talking()
    for seq: Int64 in 1...2 { harness.entry(seq, "watches") }
    harness.press(Key(.up, .shift), Key(.up), Key(.character("r")))
    say("/report spam", in: &harness)
    #expect(asked(harness).map(\.message) == [.report(room: Harness.room, seq: 1, reason: "spam")])
  }

  @Test func `in rooms a message of a blocked person is folded until it is selected`() {
    var harness = Harness.talking()
    harness.see(.blocks(["bo"]))
    harness.take(.input(.focus(false)))
    harness.open("tea")
    harness.joined("tea")
    harness.entry(1, "cheap watches", in: "tea")
    #expect(!harness.effects.contains { if case .notify = $0 { true } else { false } })
    #expect(drawn(&harness).contains("a message of a blocked person"))
    #expect(!drawn(&harness).contains("watches"))
    harness.press(Key(.up, .shift))
    #expect(drawn(&harness).contains("cheap watches"))
    harness.see(.blocks([]))
    harness.press(Key(.escape))
    #expect(drawn(&harness).contains("cheap watches"))
  }

  /// A stranger has written to ada, who looks elsewhere.
  private func request() -> Harness {
    var harness = Harness()
    harness.welcome()
    harness.take(.input(.focus(false)))
    var activity = ServerMessage.Activity(
      room: Harness.room, head: 1, unread: 1,
      last: Harness.entry(1, "bo", .init(room: Harness.room, id: "1", text: "psst"), at: 1))
    activity.isRequest = true
    harness.see(.activity(activity))
    harness.joined(head: 1, after: 1)
    harness.entry(2, "are you there?")
    return harness
  }

  @Test func `a request is a section of the list, and notifies of nothing`() {
    var harness = request()
    #expect(!harness.effects.contains { if case .notify = $0 { true } else { $0 == .bell } })
    harness.chat.prepareToDraw()
    #expect(harness.chat.headings == [0: .requests])
    harness.open(Harness.room)
    #expect(drawn(&harness).contains("bo is new to you: /accept, answer, or /block"))
  }

  @Test(arguments: [true, false])
  func `a request becomes a conversation once it is accepted or answered`(accepts: Bool) throws {
    var harness = request()
    harness.open(Harness.room)
    if accepts {
      say("/accept", in: &harness)
      let ask = try #require(asked(harness).first)
      #expect(ask.message == .accept(room: Harness.room))
      harness.take(.client(.answered(ref: ask.ref)))
      #expect(harness.chat.notice?.text == "bo's request is accepted.")
    } else {
      harness.entry(3, from: "ada", "hello")
    }
    #expect(!drawn(&harness).contains("is new to you"))
    #expect(harness.chat.headings == [:])
    harness.entry(4, "good")
    #expect(harness.effects.contains { if case .notify = $0 { true } else { false } })
  }
}
