import TestSupport
import Testing
import Wire

extension `End to end` {
  /// Rooms with members, made and moderated on the screen.
  @Suite struct `Rooms with members in wschat` {
    private func command(_ text: String, on terminal: TerminalSession) throws {
      try terminal.type(text)
      try terminal.wait(for: "the text in the composer") { $0.composer.contains(text) }
      try terminal.press("Enter")
      try terminal.wait(for: "an empty composer") { !$0.composer.contains(text) }
    }

    @Test func `the list of members tells who is there, and acts where one's role allows it`()
      throws
    {
      let relay = try RelayProcess()
      let ada = try RawClient(relay, user: "ada")
      var settings = RoomSettings.Change()
      settings.title = "Tea room"
      settings.access = .private
      try ada.send(.send(.init(room: "tea", id: "1", settings: settings)))
      for (user, role) in [("bo", Role.moderator), ("cy", .member)] {
        let change = MemberChange(user: user, role: role)
        try ada.send(.send(.init(room: "tea", id: user, member: change)))
      }
      let bo = try TerminalSession.wschat(relay, user: "bo", ["--room", "tea"])
      try bo.waitForConversation("Tea room")
      try command("/members", on: bo)
      for row in [["ada ", "owner"], ["bo  you", "moderator"], ["cy "]] {
        try bo.wait(for: "\(row)") { screen in
          screen.lines.contains { line in row.allSatisfy { line.contains($0) } }
        }
      }
      // Neither the owner nor oneself is offered.
      try bo.type("d")
      try bo.wait(for: "Your role in this room does not allow it.")
      try bo.type("jj")
      try bo.wait(for: "b ban")
      try bo.type("m")
      try bo.wait(for: "a muted member") { screen in
        screen.lines.contains { $0.contains("cy ") && $0.contains(" muted ") }
      }
      try bo.type("d")
      try bo.wait(for: "Remove cy?")
      try bo.press("y")
      try bo.wait(for: "the line about it") { $0.contains("cy was removed by bo") }
      try bo.press("Escape")
      try bo.wait(forNo: "Members of")
    }

    @Test func `lines that are typed take the same commands, and say what is refused`() throws {
      let relay = try RelayProcess()
      var settings = RoomSettings.Change()
      settings.access = .private
      let ada = try RawClient(relay, user: "ada")
      try ada.send(.send(.init(room: "tea", id: "1", settings: settings)))
      let member = MemberChange(user: "bo", role: .moderator)
      try ada.send(.send(.init(room: "tea", id: "2", member: member)))
      let bo = try TerminalSession.wschat(
        relay, user: "bo", ["--room", "tea", "--plain", "--follow"], columns: 100, rows: 40)
      func say(_ line: String) throws {
        try bo.type("\(line)\r")
        try bo.wait(for: "the line") { $0.contains(line) }
      }
      try say("/topic Cake at four")
      try bo.wait(for: "(bo set the topic “Cake at four”)")
      try say("/topic")
      try bo.wait(for: "topic: Cake at four")
      try say("/invite @cy")
      try bo.wait(for: "(bo made cy a member)")
      try say("/members")
      for line in ["ada, owner", "bo, moderator"] { try bo.wait(for: line) }
      try say("/kick ada spam")
      try bo.wait(for: "was refused: You may act on users with a lower role than yours")
      try say("/op cy cz")
      try bo.wait(for: "line 6 was refused: You may act on users")
      try say("/search cake")
      try bo.wait(for: "/search is a command of the full screen")
      try say("/create Other")
      try bo.wait(for: "the room is made: wschat --room")
      try ada.send(
        .send(
          .init(room: "tea", id: "3", member: MemberChange(user: "bo", role: .none, reason: "spam"))
        ))
      try bo.wait(for: "no longer in room tea: removed by ada: spam")
    }

    @Test func `one makes a room, invites, mutes and removes, and the others see it`() throws {
      let relay = try RelayProcess()
      let bo = try TerminalSession.wschat(relay, user: "bo", ["--room", "general"])
      try bo.waitForConversation("General")
      let ada = try TerminalSession.wschat(relay, ["--room", "general"])
      try ada.waitForConversation("General")
      try command("/create Tea room", on: ada)
      try ada.waitForConversation("Tea room")
      try ada.wait(for: "the first line") {
        !$0.messages(with: "ada named the room “Tea room”").isEmpty
      }
      try command("/topic Cake at four", on: ada)
      try ada.wait(for: "the topic") { $0.lines[0].contains("Cake at") }
      try ada.type("/invite b")
      try ada.press("Tab")
      try ada.wait(for: "the name") { $0.composer.contains("/invite bo") }
      try ada.press("Enter")
      try ada.wait(for: "2 members")
      try bo.wait(for: "the room in the list") { $0.list.contains { $0.contains("Tea room") } }
      try bo.go(to: "Tea room")
      try bo.waitForConversation("Tea room")
      try bo.wait(for: "what was before") { !$0.messages(with: "ada set the topic").isEmpty }
      // A member is neither offered nor allowed what moderators do.
      try bo.type("/k")
      try bo.press("Tab")
      try bo.wait(for: "what was written") { $0.composer.contains("/k") }
      try bo.press("C-u")
      try command("/kick ada", on: bo)
      try bo.wait(for: "Removing ada was refused: Only owners and moderators of Tea room")

      try command("/mute bo 2h too loud", on: ada)
      try bo.wait(for: "the mute") {
        !$0.messages(with: "bo was muted by ada until").isEmpty
      }
      try command("/unmute bo", on: ada)
      try bo.wait(for: "the end of the mute") { screen in
        screen.conversation.last { !$0.isEmpty && !$0.contains("──") }?
          .contains("ada made bo a member") == true
      }
      try bo.say("a mistake")
      try ada.wait(for: "the message") { !$0.messages(with: "a mistake").isEmpty }
      try ada.press("S-Up")
      try ada.type("d")
      try ada.wait(for: "Delete this message for everyone?")
      try ada.press("y")
      try bo.wait(for: "deleted by ada")
      try ada.wait(for: "the composer") { $0.composer.contains("Message Tea room") }
      try command("/kick bo spam", on: ada)
      try bo.wait(for: "You were removed from Tea room by ada: spam.")
      // The last owner stays until there is another.
      try command("/leave", on: ada)
      try ada.wait(for: "Leave Tea room?")
      try ada.press("y")
      try ada.wait(for: "Leaving the room was refused: Room Tea room needs an owner")
    }
  }
}
