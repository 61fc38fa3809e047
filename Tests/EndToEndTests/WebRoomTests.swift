import TestSupport
import Testing

extension `End to end` {
  /// The web page with rooms that have settings and members: `web_rooms.py` plays the cases.
  @Suite struct `The web page with members of rooms` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_rooms.py")
    }

    @Test func `tells of changes by quiet lines, and shows title and topic`() throws {
      try play("told")
    }

    @Test func `shows a removed member why, and what was read`() throws { try play("removed") }

    @Test func `makes a room and invites, by the keyboard`() throws { try play("making") }

    @Test func `offers what one's role allows, and nothing else`() throws { try play("managing") }

    @Test func `changes settings, of which moderators have some`() throws { try play("settings") }

    @Test func `asks the last owner who follows before one leaves`() throws { try play("leaving") }

    @Test func `deletes messages of lower roles, and names the moderator`() throws {
      try play("deleting")
    }

    @Test func `has no findings of axe-core on any screen of rooms`() throws {
      try play("accessible")
    }
  }
}
