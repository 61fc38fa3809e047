import Client
import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Commands about a room and its members` {
  /// Ada is in a private room with bo, an owner, and cy, a member.
  private func den(as role: Role? = .owner, access: RoomSettings.Access = .private) -> Harness {
    var harness = Harness.talking()
    harness.open("den")
    var joined = ServerMessage.Joined(
      room: "den", epoch: "e", head: 3, first: 1, after: 3, resume: .ok, read: 3, received: 3,
      members: [])
    joined.about = .init(title: "Den", topic: "Tea at four", access: access, role: role)
    for (user, role) in [("ada", role), ("bo", .owner), ("cy", .member), ("dee", .muted)] {
      var marks = ServerMessage.Marks(user: user, read: 3, received: 3)
      marks.role = role
      joined.members?.append(marks)
    }
    harness.take(.client(.joined(joined)))
    harness.effects = []
    return harness
  }

  private func say(_ text: String, in harness: inout Harness) {
    harness.type(text)
    harness.press(Key(.enter))
  }

  private func changes(_ harness: Harness) -> [ClientMessage.Send] {
    harness.effects.compactMap { if case .change(let send) = $0 { send } else { nil } }
  }

  private static let now: Int64 = 1_763_650_000_000

  @Test(arguments: [
    ("/invite eve", MemberChange(user: "eve", role: .member)),
    ("/add @Eve", MemberChange(user: "eve", role: .member)),
    ("/kick cy", MemberChange(user: "cy", role: .none)),
    ("/remove cy  too  loud ", MemberChange(user: "cy", role: .none, reason: "too  loud")),
    ("/ban cy", MemberChange(user: "cy", role: .banned)),
    (
      "/ban cy 10 spam",
      MemberChange(user: "cy", role: .banned, until: now + 600_000, reason: "spam")
    ),
    ("/ban eve 2h", MemberChange(user: "eve", role: .banned, until: now + 7_200_000)),
    ("/ban cy 7d", MemberChange(user: "cy", role: .banned, until: now + 604_800_000)),
    ("/ban cy 0 sense", MemberChange(user: "cy", role: .banned, reason: "0 sense")),
    ("/unban eve", MemberChange(user: "eve", role: .none)),
    ("/mute cy", MemberChange(user: "cy", role: .muted, until: now + 3_600_000)),
    (
      "/mute cy 90s so loud",
      MemberChange(user: "cy", role: .muted, until: now + 90_000, reason: "so loud")
    ),
    (
      "/mute cy so loud",
      MemberChange(user: "cy", role: .muted, until: now + 3_600_000, reason: "so loud")
    ),
    ("/unmute dee", MemberChange(user: "dee", role: .member)),
    ("/op @cy", MemberChange(user: "cy", role: .moderator)),
    ("/role cy owner", MemberChange(user: "cy", role: .owner)),
    ("/role bo member", MemberChange(user: "bo", role: .member)),
  ])
  func `send an entry of the room`(text: String, change: MemberChange) {
    var harness = den()
    say(text, in: &harness)
    #expect(changes(harness).map(\.reference) == [.member(change)])
    #expect(changes(harness).map(\.room) == ["den"])
    #expect(harness.chat.composer.isEmpty && harness.sent.isEmpty)
  }

  @Test func `set the title and the topic, and show the topic`() {
    var harness = den()
    say("/title The den", in: &harness)
    say("/topic Cake", in: &harness)
    say("/topic -delete", in: &harness)
    let settings = changes(harness).compactMap { send -> RoomSettings.Change? in
      if case .settings(let change) = send.reference { change } else { nil }
    }
    #expect(settings.map(\.title) == ["The den", nil, nil])
    #expect(settings.map(\.topic) == [nil, "Cake", ""])
    say("/topic", in: &harness)
    #expect(harness.chat.notice?.text == "Den (#den): Tea at four")
  }

  @Test func `make a private room, which opens under the name that the relay has chosen`() throws {
    var harness = den(as: nil)
    say("/create Tea room", in: &harness)
    let send = try #require(changes(harness).first)
    #expect(send.room == "")
    harness.take(
      .client(.acknowledged(.init(room: "chosen", id: send.id, seq: 1, at: 0, duplicate: false))))
    #expect(harness.chat.timeline?.room == "chosen")
    #expect(harness.chat.open?.title == "Tea room")
    #expect(harness.effects.contains(.join("chosen", head: nil)))
  }

  @Test(arguments: [
    ("/invite cy", "cy is a member."), ("/invite bo", "bo is an owner."),
    ("/unban cy", "cy is not banned."), ("/kick eve", "eve is no member"),
    ("/mute eve", "eve is no member"), ("/unmute cy", "cy is not muted."),
    ("/op bo", "bo is an owner."), ("/deop cy", "cy is no moderator."),
    ("/kick", "A user's name is missing"), ("/kick no/body", "no/body is no user's name"),
    ("/role cy", "Write /role bo owner"), ("/role cy muted", "Write /role bo owner"),
    ("/title", "A title is missing"), ("/create", "A title is missing"),
  ])
  func `say what is wrong, and stay where they were written`(text: String, sentence: String) {
    var harness = den()
    say(text, in: &harness)
    #expect(changes(harness).isEmpty)
    #expect(harness.chat.composer.text == text)
    #expect(harness.chat.notice?.text.hasPrefix(sentence) == true, "\(harness.chat.notice as Any)")
  }

  @Test func `are refused in a direct conversation, and without a connection`() {
    var harness = Harness.talking()
    say("/kick bo", in: &harness)
    #expect(harness.chat.notice?.text.hasPrefix("Only rooms have members") == true)
    harness = den()
    harness.lose()
    say("/kick cy", in: &harness)
    #expect(harness.chat.notice?.text == "/kick needs a connection.")
    #expect(changes(harness).isEmpty)
  }

  @Test func `say what the relay refuses, and why`() throws {
    var harness = den(as: .moderator)
    say("/kick bo", in: &harness)
    let send = try #require(changes(harness).first)
    let error = WireError(
      .forbidden, "You may act on users with a lower role than yours.", re: .send, room: "den",
      id: send.id)
    harness.take(.client(.refused(send, error)))
    #expect(
      harness.chat.notice?.text
        == "Removing bo was refused: You may act on users with a lower role than yours.")
  }

  @Test(arguments: [
    (Role?.none, ["/create "]),
    (.member, ["/create "]),
    (.moderator, ["/create ", "/title ", "/invite ", "/kick ", "/ban ", "/unban "]),
    (
      .owner,
      ["/create ", "/title ", "/invite ", "/kick ", "/ban ", "/unban ", "/op ", "/deop ", "/role "]
    ),
  ])
  func `are offered if the user's role allows them`(role: Role?, names: [String]) {
    var harness = den(as: role)
    harness.type("/")
    harness.press(Key(.tab))
    let offered = Set(harness.chat.completion?.candidates.map(\.replacement) ?? [])
    let all: Set = [
      "/create ", "/title ", "/invite ", "/kick ", "/ban ", "/unban ", "/op ", "/deop ", "/role ",
    ]
    #expect(offered.intersection(all) == Set(names))
    #expect(offered.contains("/mute ") && offered.contains("/topic "))
  }

  @Test func `complete the name of a user`() {
    var harness = den()
    harness.type("/kick c")
    harness.press(Key(.tab))
    #expect(harness.chat.composer.text == "/kick cy ")
    // A word that follows is no name.
    harness.type("b")
    harness.press(Key(.tab))
    #expect(harness.chat.composer.text == "/kick cy b")
    harness.press(Key(.character("u"), .control))
    harness.type("/ban @d")
    harness.press(Key(.tab))
    #expect(harness.chat.composer.text == "/ban @dee ")
  }

  @Test func `leaving ends the membership by an entry, and then forgets the room`() throws {
    var harness = den()
    harness.press(Key(.character("x"), .alt), Key(.character("y")))
    let send = try #require(changes(harness).first)
    #expect(send.reference == .member(MemberChange(user: "ada", role: .none)))
    #expect(harness.chat.conversations["den"] != nil)
    var error = WireError(.forbidden, "Make another member an owner first.", re: .send)
    error.field = "role"
    harness.take(.client(.refused(send, error)))
    #expect(
      harness.chat.notice?.text
        == "Leaving the room was refused: Make another member an owner first.")
    #expect(harness.chat.timeline?.room == "den")

    harness.press(Key(.character("x"), .alt), Key(.character("y")))
    let again = try #require(changes(harness).last)
    harness.take(
      .client(.acknowledged(.init(room: "den", id: again.id, seq: 4, at: 0, duplicate: false))))
    #expect(harness.effects.contains(.leave("den")))
    #expect(harness.chat.conversations["den"] == nil)
  }

  @Test func `the list of members is by rank, and its keys are those that the role allows`() throws
  {
    var harness = den(as: .moderator)
    harness.press(Key(.character("n"), .alt))
    #expect(harness.chat.members.map(\.user) == ["bo", "ada", "cy", "dee"])
    #expect(harness.chat.hints.map(\.what) == ["write", "close"])
    harness.press(Key(.down))
    #expect(harness.chat.hints.map(\.what) == ["close"])
    harness.press(Key(.character("j")))
    #expect(harness.chat.hints.map(\.what) == ["write", "mute", "remove", "ban", "close"])
    harness.press(Key(.character("m")), Key(.character("b")))
    #expect(harness.chat.overlay == .confirmChange(MemberChange(user: "cy", role: .banned)))
    harness.press(Key(.character("y")))
    #expect(harness.chat.overlay == .members(selected: nil))
    #expect(
      changes(harness).map(\.reference) == [
        .member(MemberChange(user: "cy", role: .muted, until: Self.now + 3_600_000)),
        .member(MemberChange(user: "cy", role: .banned)),
      ])
    // What the role does not allow is said.
    harness.press(Key(.character("+")))
    #expect(harness.chat.notice?.text == "Your role in this room does not allow it.")
    harness.press(Key(.enter))
    #expect(harness.chat.timeline?.room == Harness.room)
  }

  @Test func `a moderator may delete what those below have written`() throws {
    var harness = den(as: .moderator)
    harness.entry(4, from: "bo", "from an owner", in: "den")
    harness.entry(5, from: "cy", "from a member", in: "den")
    let may = try #require(harness.chat.timeline?.messages).map {
      harness.chat.actions(for: $0).contains(.delete)
    }
    #expect(may == [false, true])
    harness.press(Key(.up, .shift), Key(.character("d")), Key(.character("y")))
    #expect(harness.sent.map(\.reference) == [.target(5)])
    harness.chat.prepareToDraw()
    #expect(picture(harness.chat.draw(.plain)).contains("deleted by ada"))
  }

  @Test func `an owner gives and takes roles in the list`() throws {
    var harness = den(as: .owner)
    harness.press(Key(.character("n"), .alt))
    harness.chat.prepareToDraw()
    let text = picture(harness.chat.draw(.plain))
    #expect(text.contains("Members of Den") && text.contains("ada  you"))
    harness.press(Key(.down), Key(.character("-")), Key(.down), Key(.character("+")))
    #expect(
      changes(harness).map(\.reference) == [
        .member(MemberChange(user: "bo", role: .moderator)),
        .member(MemberChange(user: "cy", role: .moderator)),
      ])
    harness.press(Key(.escape))
    #expect(harness.chat.overlay == nil)
    harness.open(Harness.room)
    harness.press(Key(.character("n"), .alt))
    #expect(harness.chat.overlay == nil)
  }

  @Test func `the bar has the topic, and the members without those that were removed`() {
    var harness = den()
    harness.chat.prepareToDraw()
    #expect(picture(harness.chat.draw(.plain)).contains("4 members · Tea at four"))
    var entry = Entry(
      room: "den", seq: 4, id: "x", from: "bo", at: 0, kind: .member,
      body: MemberChange(user: "cy", role: .none).body)
    harness.take(.client(.entry(entry)))
    var change = RoomSettings.Change()
    change.topic = "Cake"
    (entry.seq, entry.kind, entry.body) = (5, .settings, change.body)
    harness.take(.client(.entry(entry)))
    harness.chat.prepareToDraw()
    #expect(picture(harness.chat.draw(.plain)).contains("3 members · Cake"))
  }
}
