import TestSupport
import Testing
import Wire

extension `End to end` {
  /// What the screen shows, and the keys and settings that change it.
  @Suite struct `wschat's views` {
    static let echo = "bots: [{ user: echo, name: Echo, behaviour: [] }]"

    @Test func `a newcomer sees the room above the people, and the list can be compact or hidden`()
      throws
    {
      let relay = try RelayProcess(Self.echo)
      let terminal = try TerminalSession.wschat(relay)
      let screen = try terminal.wait(for: "rooms above people") { screen in
        guard let rooms = screen.list.firstIndex(where: { $0.contains("Rooms") }),
          let general = screen.list.firstIndex(where: { $0.contains("General") }),
          let people = screen.list.firstIndex(where: { $0.contains("People") }),
          let echo = screen.list.firstIndex(where: { $0.contains("Echo") })
        else { return false }
        return rooms < general && general < people && people < echo
      }
      #expect(screen.list.contains { $0.contains("People") && $0.contains("Ctrl+K finds") })
      let place = try #require(screen.row(of: "Echo"))
      try terminal.press("M-c")
      try terminal.wait(for: "one row for each") { $0.row(of: "Echo") == place - 1 }

      try terminal.go(to: "Echo")
      try terminal.waitForConversation("Echo")
      try terminal.press("M-s")
      try terminal.wait(for: "no list") { !$0.contains("General") && !$0.contains("│") }
      let bo = try RawClient(relay, user: "bo")
      try bo.say("are you there?", in: "dm:ada:bo", id: "1")
      try terminal.wait(for: "the count in the title") { $0.lines[0].contains("1 unread") }
      try terminal.press("M-s")
      try terminal.wait(for: "the list") { $0.list.contains { $0.contains("General") } }
    }
  }
}
