import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Clearing what is written, and writing again what was sent` {
  private let clear = Key(.character("z"), .alt)
  private let older = Key(.character("p"), .control)
  private let newer = Key(.character("n"), .control)

  private func said(_ texts: String...) -> Harness {
    var harness = Harness.talking()
    for text in texts {
      harness.type(text)
      harness.press(Key(.enter))
    }
    return harness
  }

  // MARK: Clearing

  @Test func `one key clears the text and brings it back, with its cursor and what yank has`() {
    var harness = Harness.talking()
    harness.type("one two")
    harness.press(Key(.character("w"), .control), Key(.character("a"), .control))
    harness.press(clear)
    #expect(harness.chat.composer.isEmpty)
    harness.press(Key(.character("y"), .control))
    #expect(harness.chat.composer.text == "two")
    harness.press(clear)
    harness.press(clear, clear, clear)
    #expect(harness.chat.composer.text == "two")
    harness.press(Key(.character("u"), .control), clear)
    #expect(harness.chat.composer.text == "one ")
    #expect(harness.chat.composer.cursor == 0)
    harness.press(Key(.character("y"), .control))
    #expect(harness.chat.composer.text == "twoone ")
  }

  @Test func `the draft that is stored is cleared, and comes back, as well`() {
    var harness = Harness.talking()
    harness.type("a thought")
    harness.now += 2000
    harness.take(.tick)
    #expect(harness.chat.open?.draft == "a thought")
    harness.press(clear)
    harness.now += 2000
    harness.take(.tick)
    #expect(harness.chat.open?.draft == "")
    harness.press(clear)
    harness.now += 2000
    harness.take(.tick)
    #expect(harness.chat.open?.draft == "a thought")
  }

  @Test func `a text is brought back in its own conversation only`() {
    var harness = Harness.talking()
    harness.type("for bo")
    harness.press(clear)
    harness.open("general")
    harness.press(clear)
    #expect(harness.chat.composer.isEmpty)
    #expect(harness.chat.notice?.text == "Nothing was cleared in this conversation.")
    harness.open(Harness.room)
    harness.press(clear)
    #expect(harness.chat.composer.text == "for bo")
  }

  @Test func `clearing neither ends a reply nor an edit`() {
    var harness = said("mine")
    harness.acknowledge(harness.sent[0], seq: 1)
    harness.press(Key(.up), clear)
    #expect(harness.chat.composer.isEmpty)
    #expect(harness.chat.composition == .edit(harness.chat.timeline!.messages[0].key))
    harness.press(clear)
    harness.type("!")
    harness.press(Key(.enter))
    #expect(harness.sent.last?.asEntry.text == "mine!")
    #expect(harness.sent.last?.kind == .edit)
  }

  @Test func `the last sixteen cleared texts are kept`() {
    var texts = WrittenTexts()
    for number in 1...20 { texts.recordCleared(TextEditor("\(number)"), in: "general") }
    var back: [String] = []
    while let text = texts.takeCleared(in: "general") { back.append(text.text) }
    #expect(back == (5...20).reversed().map { "\($0)" })
  }

  // MARK: What was sent

  @Test func `what was sent comes back, the newest first, and then the draft`() {
    var harness = said("one", "two", "three")
    harness.type("a draft")
    harness.press(Key(.left), older)
    #expect(harness.chat.composer.text == "three")
    harness.press(older, older, older, older)
    #expect(harness.chat.composer.text == "one")
    harness.press(newer)
    #expect(harness.chat.composer.text == "two")
    harness.press(newer, newer)
    #expect(harness.chat.composer.text == "a draft")
    #expect(harness.chat.composer.cursor == 6)
    harness.press(newer)
    #expect(harness.chat.composer.text == "a draft")
  }

  @Test func `sending one leaves the draft to be written on`() {
    var harness = said("one", "two")
    harness.type("a draft")
    harness.press(older, older)
    harness.press(Key(.enter))
    #expect(harness.sent.map { $0.asEntry.text } == ["one", "two", "one"])
    #expect(harness.chat.composer.text == "a draft")
    #expect(harness.chat.open?.draft == "a draft")
    harness.press(older)
    #expect(harness.chat.composer.text == "one")
  }

  @Test func `changes stay while one goes through the texts, and can be brought back later`() {
    var harness = said("one", "two")
    harness.press(older)
    harness.type("!")
    harness.press(older, newer)
    #expect(harness.chat.composer.text == "two!")
    harness.press(newer)
    #expect(harness.chat.composer.isEmpty)
    harness.press(clear)
    #expect(harness.chat.composer.text == "two!")
  }

  @Test func `clearing a sent text shows the draft again, which is not cleared`() {
    var harness = said("one")
    harness.type("a draft")
    harness.press(older, clear)
    #expect(harness.chat.composer.text == "a draft")
  }

  @Test func `the draft is what is stored meanwhile, and in the next conversation`() {
    var harness = said("one")
    harness.type("a draft")
    harness.press(older)
    harness.now += 2000
    harness.take(.tick)
    #expect(harness.chat.open?.draft == "a draft")
    harness.open("general")
    harness.press(older)
    #expect(harness.chat.composer.isEmpty)
    #expect(harness.chat.notice?.text == "You have sent nothing in this conversation yet.")
    harness.open(Harness.room)
    #expect(harness.chat.composer.text == "a draft")
  }

  @Test func `a changed text is the draft where there was none`() {
    var harness = said("one")
    harness.press(older)
    harness.now += 2000
    harness.take(.tick)
    #expect(harness.chat.open?.draft == "")
    harness.type(" more")
    harness.now += 2000
    harness.take(.tick)
    #expect(harness.chat.open?.draft == "one more")
  }

  @Test func `messages of an earlier run come back as well, without what was deleted`() {
    var harness = Harness.talking()
    harness.entry(1, from: "ada", id: "earlier-1", "before")
    harness.entry(2, "not mine")
    harness.entry(3, from: "ada", id: "earlier-2", "gone")
    harness.entry(4, from: "ada", .init(room: Harness.room, id: "earlier-3", delete: 3))
    harness.type("now")
    harness.press(Key(.enter))
    harness.acknowledge(harness.sent[0], seq: 5)
    harness.press(older)
    #expect(harness.chat.composer.text == "now")
    harness.press(older, older)
    #expect(harness.chat.composer.text == "before")
  }

  @Test func `commands come back as they were written, and refused ones stay`() {
    var harness = Harness.talking()
    harness.type("/me waves")
    harness.press(Key(.enter))
    harness.type("/nonsense")
    harness.press(Key(.enter))
    #expect(harness.chat.composer.text == "/nonsense")
    harness.press(older)
    #expect(harness.chat.composer.text == "/me waves")
    harness.press(newer)
    #expect(harness.chat.composer.text == "/nonsense")
  }

  @Test func `↑ where nothing is written edits the last message, as before`() {
    var harness = said("one", "two")
    harness.acknowledge(harness.sent[0], seq: 1)
    harness.acknowledge(harness.sent[1], seq: 2)
    harness.press(older, newer, Key(.up))
    #expect(harness.chat.composer.text == "two")
    #expect(harness.chat.composition != .new)
  }

  @Test func `texts are kept up to a number and a size`() {
    var texts = WrittenTexts()
    for number in 1...300 { texts.recordSent("\(number)", in: "general") }
    #expect(texts.sent.map(\.text) == (101...300).map { "\($0)" })
    let long = String(repeating: "a", count: WrittenTexts.sentLimitBytes / 2)
    for _ in 1...3 { texts.recordSent(long, in: "general") }
    #expect(texts.sent.map(\.text) == [long, long])
    texts.recordSent(long + long + "a", in: "general")
    #expect(texts.sent.count == 2)
  }
}
