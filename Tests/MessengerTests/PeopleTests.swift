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

  private func asked(_ desk: Desk) -> [ClientMessage.PeopleRequest] {
    desk.requests.compactMap { if case .people(let request) = $0 { request } else { nil } }
  }

  @Test func `that is limited is not asked for again and again`() {
    var desk = Desk()
    desk.welcome()
    var limited = WireError(.directoryLimited, "Too many.", re: "people")
    limited.resetAt = desk.now - 1000
    desk.see(.error(limited))
    for _ in 0..<20 {
      desk.now += 50
      desk.take(.tick)
      desk.see(.error(limited))
    }
    #expect(asked(desk).count == 1)
    desk.now += 10_000
    desk.take(.tick)
    #expect(asked(desk).count == 2)
  }

  @Test func `and rooms are found by their signs as well`() {
    var desk = Desk()
    desk.welcome()
    desk.see(page(["general-lee", "bo"]))
    desk.open("general")
    desk.press(Key(.character("k"), .control))
    func matches() -> [String] {
      if case .switcher(let switcher) = desk.chat.overlay { switcher.matches } else { [] }
    }
    desk.type("#gen")
    #expect(matches() == ["general", "gen"])
    desk.press(Key(.escape), Key(.character("k"), .control))
    desk.type("@general-lee")
    #expect(matches() == ["dm:ada:general-lee"])
    desk.press(Key(.enter))
    #expect(desk.chat.timeline?.room == "dm:ada:general-lee")
  }

  @Test func `that fails is told once, with the id to ask for help with`() {
    var desk = Desk()
    desk.welcome()
    var failed = WireError(.directoryFailed, "GitHub does not answer.", re: "people")
    failed.support = "k3x9"
    desk.see(page(["bo"]))
    desk.see(.error(failed))
    #expect(desk.chat.notice?.text == "GitHub does not answer. [k3x9]")
    #expect(desk.chat.directory == .failed("GitHub does not answer. [k3x9]"))
    desk.now += 30_000
    desk.take(.tick)
    desk.see(page(["bo"]))
    desk.see(.error(failed))
    #expect(desk.chat.notice == nil)
  }

  @Test func `is not taken for complete by the answer to a filter`() {
    var desk = Desk()
    desk.welcome()
    // So many that no more are loaded by themselves.
    for number in 0..<10 {
      desk.see(page((0..<200).map { "p\(number)-\($0)" }, next: "c\(number)"))
      desk.now += 200
      desk.take(.tick)
    }
    #expect(desk.chat.directory == .partial)
    let before = asked(desk).count
    desk.press(Key(.character("k"), .control))
    desk.type("zo")
    desk.now += 300
    desk.take(.tick)
    #expect(asked(desk).dropFirst(before).map(\.query) == ["zo"])
    desk.see(page(["zoe"]))
    guard case .switcher(let switcher) = desk.chat.overlay else {
      Issue.record("the switcher is gone")
      return
    }
    #expect(switcher.matches == ["dm:ada:zoe"])
    #expect(desk.chat.directory == .partial)
    desk.now += 300
    desk.take(.tick)
    #expect(asked(desk).count == before + 1)
  }
}
