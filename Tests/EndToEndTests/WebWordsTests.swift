import TestSupport
import Testing

extension `End to end` {
  /// What the web page says and offers: `web_words.py` plays the cases.
  @Suite struct `The words of the web page` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_words.py")
    }

    @Test func `carries out commands, or explains them, and never sends one as text`() throws {
      try play("commands")
    }

    @Test func `offers a person before a room, and a new room only after #`() throws {
      try play("offers")
    }

    @Test func `follow the relay as those of a page that is opened now`() throws {
      try play("fresh")
    }

    @Test func `are of today, over midnight and in another zone`() throws { try play("days") }

    @Test func `say what is wrong with a long text, a file, and notifications, and what to do`()
      throws
    {
      try play("refusals")
    }

    @Test func `stand for as long as the store fails, and leaving asks`() throws {
      try play("conditions")
    }

    @Test func `tell how long a frozen relay has not answered, in each direction`() throws {
      try play("frozen")
    }
  }
}
