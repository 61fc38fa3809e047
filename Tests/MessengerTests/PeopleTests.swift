import Client
import Messenger
import Terminal
import Testing
import Wire

@Suite struct `The list of people` {
  private func person(_ name: String) -> ServerMessage.PersonRow {
    .init(
      user: name, name: name, avatar: nil, presence: .offline, lastSeen: nil, isBot: false,
      room: "dm:ada:\(name)")
  }

  private func page(_ names: [String], next: String? = nil) -> ServerMessage {
    .people(.init(people: names.map(person), next: next, source: "file", asOf: 1))
  }

  private func asked(_ harness: Harness) -> [ClientMessage.PeopleRequest] {
    harness.requests.compactMap { if case .people(let request) = $0 { request } else { nil } }
  }

  @Test func `that is limited is not requested again and again`() {
    var harness = Harness()
    harness.welcome()
    var limited = WireError(.directoryLimited, "Too many.", re: .people)
    limited.resetAt = harness.now - 1000
    harness.see(.error(limited))
    for _ in 0..<20 {
      harness.now += 50
      harness.take(.tick)
      harness.see(.error(limited))
    }
    #expect(asked(harness).count == 1)
    harness.now += 10_000
    harness.take(.tick)
    #expect(asked(harness).count == 2)
  }

  @Test func `and rooms are found by their prefix characters as well`() {
    var harness = Harness()
    harness.welcome()
    harness.see(page(["general-lee", "bo"]))
    harness.open("general")
    harness.press(Key(.character("k"), .control))
    func matches() -> [String] {
      if case .switcher(let switcher) = harness.chat.overlay { switcher.matches } else { [] }
    }
    harness.type("#gen")
    #expect(matches() == ["general", "gen"])
    harness.press(Key(.escape), Key(.character("k"), .control))
    harness.type("@general-lee")
    #expect(matches() == ["dm:ada:general-lee"])
    harness.press(Key(.enter))
    #expect(harness.chat.timeline?.room == "dm:ada:general-lee")
  }

  /// What Ctrl+K offers for a text, as it is shown.
  private func offers(_ text: String, in harness: inout Harness) -> [String] {
    harness.press(Key(.escape), Key(.character("k"), .control))
    harness.type(text)
    let drawing = harness.chat.draw(.plain)
    return drawing.targets.compactMap { target in
      guard case .choice = target.target else { return nil }
      let row = drawing.grid[row: target.rect.row].dropFirst(target.rect.column + 1)
        .prefix(target.rect.columns - 1)
      var text = String(row.filter { $0.width > 0 }.map(\.character))
      while text.last == " " { text.removeLast() }
      return text
    }
  }

  @Test func `offers a person who is not in it, and never a room that nobody asked for`() {
    var harness = Harness()
    harness.welcome()
    #expect(offers("cleo", in: &harness) == ["  Write to @cleo"])
    harness.press(Key(.enter))
    #expect(harness.chat.timeline?.room == "dm:ada:cleo")
    #expect(offers("#tea", in: &harness) == ["# Open the new room #tea"])
    harness.press(Key(.enter))
    #expect(harness.chat.timeline?.room == "tea")
    #expect(offers("ada", in: &harness) == [])
    #expect(picture(harness.chat.draw(.plain)).contains("this is you"))
    harness.press(Key(.enter))
    #expect(harness.chat.timeline?.room == "tea")
  }

  @Test func `comes before rooms, whose names only have the letters of one that was typed`() {
    var harness = Harness()
    harness.welcome()
    harness.see(page(["ciel-ego"]))
    for room in ["cleo", "cleo-fans", "calendar-stereo"] { harness.open(room) }
    #expect(
      offers("cleo", in: &harness) == [
        "# cleo", "# cleo-fans", "○ ciel-ego", "# calendar-stereo", "  Write to @cleo",
      ])
    harness.see(page(["cleo-may"]))
    #expect(
      offers("cleo", in: &harness).prefix(4) == [
        "# cleo", "○ cleo-may", "# cleo-fans", "○ ciel-ego",
      ])
    #expect(offers("@cleo", in: &harness) == ["○ cleo-may", "○ ciel-ego", "  Write to @cleo"])
    harness.see(page(["cleo"]))
    #expect(offers("cleo", in: &harness).prefix(2) == ["○ cleo", "# cleo"])
  }

  @Test func `that fails is reported once, with the id for support`() {
    var harness = Harness()
    harness.welcome()
    var failed = WireError(.directoryFailed, "GitHub does not answer.", re: .people)
    failed.support = "k3x9"
    harness.see(page(["bo"]))
    harness.see(.error(failed))
    #expect(harness.chat.notice?.text == "GitHub does not answer. [k3x9]")
    #expect(harness.chat.directory == .failed("GitHub does not answer. [k3x9]"))
    harness.now += 30_000
    harness.take(.tick)
    harness.see(page(["bo"]))
    harness.see(.error(failed))
    #expect(harness.chat.notice == nil)
  }

  @Test(arguments: [80, 60, 40])
  func `that failed is explained in full by F1, with its code and the next attempt`(columns: Int) {
    var harness = Harness(size: Size(columns: columns, rows: 24))
    harness.welcome()
    var failed = WireError(
      .directoryFailed,
      "GitHub does not answer: the token of the relay has expired on 2026-11-20; ask its operator.",
      re: .people)
    failed.support = "k3x9"
    harness.see(.error(failed))
    harness.press(.init(.function(1)))
    harness.now += 8_000
    harness.take(.tick)
    let words = picture(harness.chat.draw(.dark())).split(whereSeparator: \.isWhitespace)
      .filter { $0 != "│" }.joined(separator: " ")
    let end = "ask its operator. [k3x9] (directory_failed) It is tried again in 0:22."
    #expect(words.contains(end))
  }

  @Test func `is not taken for complete by the answer to a filter`() {
    var harness = Harness()
    harness.welcome()
    // Too many for more to be loaded automatically.
    for number in 0..<10 {
      harness.see(page((0..<200).map { "p\(number)-\($0)" }, next: "c\(number)"))
      harness.now += 200
      harness.take(.tick)
    }
    #expect(harness.chat.directory == .partial)
    let before = asked(harness).count
    harness.press(Key(.character("k"), .control))
    harness.type("zo")
    harness.now += 300
    harness.take(.tick)
    #expect(asked(harness).dropFirst(before).map(\.query) == ["zo"])
    harness.see(page(["zoe"]))
    guard case .switcher(let switcher) = harness.chat.overlay else {
      Issue.record("the switcher is gone")
      return
    }
    #expect(switcher.matches == ["dm:ada:zoe"])
    #expect(harness.chat.directory == .partial)
    harness.now += 300
    harness.take(.tick)
    #expect(asked(harness).count == before + 1)
  }
}
