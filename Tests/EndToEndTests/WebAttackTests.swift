import TestSupport
import Testing

extension `End to end` {
  /// What others could send to stop or mislead another user's web page: `web_attacks.py` plays the cases.
  @Suite struct `The web page under attack` {
    private func play(_ name: String) throws {
      try `The web page`().play(name, of: "web_attacks.py")
    }

    @Test func `shows texts that are made to be slow`() throws { try play("heavy_texts") }

    @Test func `shows neither turned nor piled up letters, nor links that look like others`() throws
    {
      try play("disguises")
    }

    @Test func `shows all reactions that an entry may have`() throws { try play("reactions") }

    @Test func `goes on while thousands of strangers write`() throws { try play("crowd") }

    @Test func `leaves out pictures that are huge, broken or never come`() throws {
      try play("pictures")
    }

    @Test func `asks before an address changes who one is`() throws { try play("foreign_token") }
  }
}
