import TestSupport
import Testing

extension `End to end` {
  /// The web page with rooms that have settings and members, blocked users, requests and reports: `web_rooms.py`
  /// and `web_blocks.py` play the cases.
  @Suite struct `The web page with members of rooms` {
    private func play(_ name: String, of script: String = "web_rooms.py") throws {
      try `The web page`().play(name, of: script)
    }

    @Test func `tells of changes by quiet lines, and shows title and topic`() throws {
      try play("told")
    }

    @Test func `shows a removed member why, and what was read`() throws { try play("removed") }

    @Test func `makes a room and invites, by the keyboard`() throws { try play("making") }

    @Test func `offers what one's role allows, and nothing else`() throws { try play("managing") }

    @Test func `does the same by commands, and offers those that one's role allows`() throws {
      try play("commanded")
    }

    @Test func `changes settings, of which moderators have some`() throws { try play("settings") }

    @Test func `asks the last owner who follows before one leaves`() throws { try play("leaving") }

    @Test func `deletes messages of lower roles, and names the moderator`() throws {
      try play("deleting")
    }

    @Test func `shows what is known of the members of a large room, and acts on others by name`()
      throws
    {
      try play("large")
    }

    @Test func `offers operators with an account what owners may, and invites by a link`() throws {
      try play("operators")
    }

    @Test(arguments: ["blocked", "closed", "requests", "reports"])
    func `hides and closes messages of blocked users, and has requests and reports`(
      name: String
    ) throws { try play(name, of: "web_blocks.py") }

    @Test func `has no findings of axe-core on any screen of rooms`() throws {
      try play("accessible")
    }
  }
}
