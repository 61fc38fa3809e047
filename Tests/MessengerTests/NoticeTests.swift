import Client
import Testing
import Wire

@testable import Messenger

@Suite struct `Rooms with members, on the screen` {
  private func notice(_ kind: EntryKind, _ body: [UInt8], from user: String = "ada") -> Entry {
    Entry(room: "general", seq: 2, id: "n", from: user, at: 0, kind: kind, body: body)
  }

  @Test(arguments: [
    (MemberChange(user: "bo", role: .none, reason: "spam"), "bo was removed by ada: spam"),
    (MemberChange(user: "ada", role: .none), "ada left"),
    (MemberChange(user: "ada", role: .member), "ada joined"),
    (MemberChange(user: "bo", role: .owner), "ada made bo an owner"),
    (MemberChange(user: "bo", role: .muted, until: 7), "bo was muted by ada until 7"),
    (MemberChange(user: "bo", role: .banned), "bo was banned by ada"),
  ])
  func `a change of a member is one line`(change: MemberChange, line: String) {
    let text = NoticeText(name: { $0 }, time: { "\($0)" })
    #expect(text.line(for: notice(.member, change.body)) == line)
  }

  @Test func `a change of the settings names each of them`() {
    let text = NoticeText(name: { $0 }, time: { "\($0)" })
    var change = RoomSettings.Change()
    change.title = "Den"
    change.access = .private
    change.slowSeconds = 30
    #expect(
      text.line(for: notice(.settings, change.body))
        == "ada named the room “Den”, made the room private, allows one message in 30 s")
    #expect(text.line(for: notice(.settings, [])) == "ada changed the room")
  }

  private func general() -> Harness {
    var harness = Harness.talking()
    harness.see(
      .rooms(
        [
          .init(
            room: "general", title: "General", head: 0, read: 0, unread: 0, listed: false,
            peer: nil, last: nil)
        ], next: nil))
    harness.joined("general")
    return harness
  }

  @Test func `a notice is a quiet line that is neither unread nor a message to act on`() throws {
    var harness = general()
    harness.open("general")
    harness.entry(1, "hello", in: "general")
    var entry = notice(.member, MemberChange(user: "cy", role: .none, reason: "spam").body)
    entry.from = "bo"
    harness.take(.client(.entry(entry)))
    harness.chat.prepareToDraw()
    let lines = picture(harness.chat.draw(.dark())).split(separator: "\n")
    #expect(lines.contains { $0.contains("cy was removed by bo: spam") })
    let message = try #require(harness.chat.timeline?.messages.last)
    #expect(message.isNotice && harness.chat.actions(for: message).isEmpty)
    #expect(harness.chat.conversations["general"]?.last?.text == "hello")
  }

  @Test func `an invitation is a row of the list without a last message`() {
    var harness = Harness.talking()
    let invitation = notice(.member, MemberChange(user: "ada", role: .member).body, from: "bo")
    harness.see(.activity(.init(room: "general", head: 2, unread: 0, last: invitation)))
    #expect(harness.chat.conversations["general"]?.isMember == true)
    #expect(harness.chat.conversations["general"]?.last == nil)
  }

  @Test func `who was removed is told why, and keeps what was read`() {
    var harness = general()
    harness.open("general")
    harness.entry(1, "hello", in: "general")
    harness.take(
      .client(.left(room: "general", .init(seq: 2, by: "bo", role: Role.none, reason: "spam"))))
    #expect(harness.chat.notice?.text == "You were removed from General by bo: spam.")
    #expect(harness.chat.timeline?.messages.map(\.text) == ["hello"])
    #expect(harness.chat.conversations["general"]?.isMember == false)
  }
}
