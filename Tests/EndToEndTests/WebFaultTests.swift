import TestSupport
import Testing

extension `End to end` {
  /// The web page where a browser, another tab or a person does what it cannot prevent:
  /// `web_faults.py` plays the cases.
  @Suite struct `The web page, where something fails` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_faults.py")
    }

    @Test func `sends a text with control characters without them, and drops no text`() throws {
      try play("control_characters")
    }

    @Test func `edits the last message, also when its acknowledgement comes before it`() throws {
      try play("stored_before_arrived")
    }

    @Test func `keeps the text of an edit that is refused, or not finished`() throws {
      try play("refused_edits")
    }

    @Test func `says an error that no part of it tells`() throws { try play("told") }

    @Test func `goes on without a database, locks, a worker or an answer that never comes`() throws
    {
      try play("never")
    }

    @Test func `connects by itself where the tab with the connection is silent`() throws {
      try play("silent_tab")
    }

    @Test func `says which part never comes, and opens while the relay stands still`() throws {
      try play("stalled")
    }

    @Test func `understands an address as wschat takes names, and says what is no name`() throws {
      try play("misnamed")
    }

    @Test func `is used with all site data blocked`() throws { try play("blocked") }

    @Test func `says that the relay has another version of it`() throws { try play("outdated") }

    @Test func `gives no other field what one writes while a dialog or menu is loaded`() throws {
      try play("late")
    }

    @Test func `ends all tabs by a sign-out, and removes what is that user's alone`() throws {
      try play("signed_out")
    }

    @Test func `ends all tabs by a sign-out over plain HTTP too`() throws {
      try play("signed_out_over_http")
    }
  }
}
