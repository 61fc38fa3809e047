import TestSupport
import Testing

extension `End to end` {
  /// The web page where people sign in with accounts: `web_accounts.py` plays the cases.
  @Suite struct `The web page with accounts` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_accounts.py")
    }

    @Test func `leads from a link to the conversations, and keeps no credential`() throws {
      try play("joining")
    }

    @Test func `invites by a link, and tells its maker by which account it was used`() throws {
      try play("inviting")
    }

    @Test func `asks for a user name where the name gives none, and changes the name`() throws {
      try play("names")
    }

    @Test func `ends other devices, which keep nothing that was read`() throws {
      try play("devices")
    }

    @Test func `lets another device in by its code, after a question`() throws {
      try play("another_device")
    }

    @Test func `asks at the link of a code, and allows nothing by itself`() throws {
      try play("device_links")
    }

    @Test func `signs in by a provider, by no other address, and explains each failure`() throws {
      try play("providers")
    }

    @Test func `asks before it drops what is not sent, and signs out only with the relay`() throws {
      try play("signing_out")
    }

    @Test func `shows and sends nothing of one account to another`() throws {
      try play("other_account")
    }

    @Test func `opens without a connection, but takes no invitation`() throws { try play("away") }

    @Test func `is without findings of axe-core, by keys, and on a phone`() throws {
      try play("screens")
    }

    @Test func `leads from nothing to four devices that chat, of which one is lost`() throws {
      try `The web page`().play("evening", of: "evening.py")
    }

    @Test func `is as ever where a relay has no accounts any more`() throws {
      try play("left_over")
    }
  }

  /// A person at each device needs most of two minutes: the machine has the rest.
  @Suite struct `Measured: an evening with accounts` {
    @Test func `has four devices that chat after 30 s`() throws {
      try `The web page`().play("in_time", of: "evening.py")
    }
  }
}
