import TestSupport
import Testing

extension `End to end` {
  /// What one reads and writes in the web page: `web_conversations.py` plays the cases.
  @Suite struct `Conversations in the web page` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_conversations.py")
    }

    @Test func `sends neither a composition nor a paste by itself, and cuts off no text`() throws {
      try play("composing")
    }

    @Test func `completes names and emoji, and finds reactions by their names`() throws {
      try play("completion")
    }

    @Test func `shows own changes at once, and takes back what is refused`() throws {
      try play("changes")
    }

    @Test func `cuts long messages until they are wanted as a whole`() throws {
      try play("clipping")
    }

    @Test func `tells people of the same name apart, and leads to them`() throws {
      try play("people")
    }

    @Test func `shows users each other without a directory`() throws { try play("meeting") }

    @Test func `lists rooms above people without messages`() throws { try play("order") }

    @Test func `leaves a room after a question`() throws { try play("leaving") }

    @Test func `notifies once for all tabs, and not where it is muted`() throws {
      try play("notifications")
    }

    @Test func `goes to a date`() throws { try play("dates") }

    @Test func `forwards a message by keys`() throws { try play("forwarding") }

    @Test func `searches all conversations`() throws { try play("search_all") }

    @Test func `opens at the first unread message`() throws { try play("unread") }

    @Test func `has at most 200 rows of 5,000 messages, and finds each`() throws {
      try play("long_room")
    }

    @Test func `does not move what one reads, whatever changes around it`() throws {
      try play("drift")
    }
  }
}
