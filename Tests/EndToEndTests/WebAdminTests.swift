import TestSupport
import Testing

extension `End to end` {
  /// The page for operators: `web_admin.py` plays the cases.
  @Suite struct `The page for operators` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_admin.py")
    }

    @Test func `is for operators, and keeps no token`() throws { try play("refused") }

    @Test func `plots the last hour`() throws { try play("now") }

    @Test func `makes rooms read-only and writable, and deletes one after a question`() throws {
      try play("rooms")
    }

    @Test func `ends a connection`() throws { try play("connections") }

    @Test func `changes accounts, ends devices, and makes and withdraws invitations`() throws {
      try play("people")
    }

    @Test func `shows reports and what operators have done`() throws { try play("reports") }

    @Test func `is without findings of axe-core, by keys, and on a phone`() throws {
      try play("screens")
    }
  }
}
