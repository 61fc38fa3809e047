import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Mentions of the user` {
  private func found(_ text: String, words: [String] = []) -> [String] {
    Mentions(user: "ada", words: words).find(in: text) { $0 == "bo" }.map { String(text[$0.range]) }
  }

  @Test func `are the names of users after @`() {
    #expect(found("@ada and @Bo, see @ada.") == ["@ada", "@Bo", "@ada"])
    #expect(found("(@ada) @bo-") == ["@ada", "@bo"])
    #expect(found("ada@example.org @ada-lovelace @adam @cy @ @@ada é@ada") == [])
  }

  @Test func `are own words, in any case, but not parts of other words`() {
    #expect(
      found("Deploy: deployed, redeploy, DEPLOY!", words: ["deploy"]) == ["Deploy", "DEPLOY"])
    #expect(found("@ada", words: ["ada"]) == ["@ada"])
    #expect(found("über Zoë", words: ["zoë"]) == ["Zoë"])
  }

  private func general(unread: Int64 = 0) -> Harness {
    var harness = Harness.talking()
    harness.see(
      .rooms(
        [
          .init(
            room: "general", title: "General", head: 10, read: 10 - unread, unread: unread,
            listed: false, peer: nil, last: nil)
        ], next: nil))
    return harness
  }

  private func list(_ harness: inout Harness) -> [Substring] {
    harness.chat.prepareToDraw()
    return picture(harness.chat.draw(.dark())).split(separator: "\n")
  }

  @Test func `have a badge until they are read`() {
    var harness = general()
    harness.joined("general", head: 10, read: 10)
    harness.entry(11, "hello all", in: "general")
    #expect(!list(&harness).contains { $0.contains("@1") })
    harness.entry(12, "and @ada", in: "general")
    harness.entry(12, "and @ada", in: "general")
    #expect(list(&harness).contains { $0.contains(" @1  2 ") })
    harness.receipt("ada", received: 12, read: 12, in: "general")
    #expect(harness.chat.conversations["general"]?.unreadMentions == 0)
    #expect(!list(&harness).contains { $0.contains("@1") })
  }

  @Test func `are found among the entries that the relay has counted before they arrive`() {
    var harness = general(unread: 3)
    harness.joined("general", head: 10, after: 7, read: 7)
    harness.entry(8, "@ada", in: "general")
    #expect(harness.chat.conversations["general"]?.unreadMentions == 1)
    #expect(harness.chat.conversations["general"]?.unread == 3)
    harness.entry(11, .init(room: "general", id: "x", delete: 8))
    #expect(harness.chat.conversations["general"]?.unreadMentions == 0)
  }

  @Test func `are counted up to a limit`() {
    var harness = general()
    harness.joined("general", head: 10, read: 10)
    for seq in 11..<250 { harness.entry(Int64(seq), "@ada", in: "general") }
    #expect(harness.chat.conversations["general"]?.unreadMentions == Conversation.mentionLimit)
    #expect(harness.chat.conversations["general"]?.mentions.count == Conversation.mentionLimit)
  }

  @Test func `alone notify in a room of that level, and none in a muted one`() {
    var harness = general()
    harness.open("general")
    harness.joined("general", head: 10, read: 10)
    harness.take(.input(.focus(false)))
    func notifications() -> Int {
      harness.effects.count { if case .notify = $0 { true } else { false } }
    }
    let mute = Key(.character("m"), .alt)
    harness.press(mute, mute)
    #expect(harness.chat.notice?.text == "General notifies of mentions only.")
    harness.entry(11, "hello", in: "general")
    #expect(notifications() == 0)
    #expect(harness.chat.unreadCount == 0)
    harness.entry(12, "hello @ada", in: "general")
    #expect(notifications() == 1)
    #expect(harness.chat.unreadCount == 1)
    harness.now += 5000
    harness.press(mute, mute)
    #expect(harness.chat.open?.isMuted == true)
    harness.entry(13, "hello @ada", in: "general")
    #expect(notifications() == 1)
    harness.press(mute, mute)
    #expect(harness.chat.open?.notifications == .all)
    // A direct conversation has no mentions.
    harness.open(Harness.room)
    harness.press(mute, mute)
    #expect(harness.chat.open?.notifications == .all)
  }

  @Test func `are highlighted in the text`() {
    var chat = Sample.room(100, 40)
    chat.timeline?.messages = [Sample.message(1, from: "bo", "ask @ada or @grace today")]
    func styles() -> [String: Style] {
      guard let timeline = chat.timeline else { return [:] }
      let pieces = MessageLayout(chat, timeline, .dark(), columns: 70).block(0).lines
        .flatMap(\.pieces)
      return Dictionary(pieces.map { (String($0.text), $0.style) }) { $1 }
    }
    #expect(styles()["@ada"] == Theme.dark().mention)
    #expect(styles()["@grace"]?.attributes.contains(.bold) == true)
    chat.settings.highlight = ["today"]
    #expect(styles()["today"] == Theme.dark().mention)
  }

  @Test func `take words from the configuration, within limits`() throws {
    let settings = try Settings.read(Array("highlight: [Deploy, café]".utf8), file: "c")
    #expect(settings.highlight == ["deploy", "café"])
    func problem(_ text: String) -> String {
      do throws(SettingsError) {
        _ = try Settings.read(Array(text.utf8), file: "c")
        return ""
      } catch { return "\(error)" }
    }
    #expect(problem("highlight: ['!!']").contains("is not a word"))
    #expect(
      problem("highlight: [\(String(repeating: "x", count: 65))]").contains("is not a word"))
    let many = Array(repeating: "word", count: 33).joined(separator: ", ")
    #expect(problem("highlight: [\(many)]").contains("at most 32"))
  }
}
