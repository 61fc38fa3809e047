import Client
import Testing
import Wire

@testable import Messenger

@Suite struct `A file in a conversation` {
  private typealias Send = ClientMessage.Send

  private func file(_ caption: String? = nil, size: Int64 = 34_567) -> Send {
    Send(
      room: Harness.room, id: "f",
      file: FileContent(
        id: String(repeating: "f", count: 22), name: "a.png", caption: caption,
        description: FileDescription(size: size, mediaType: "image/webp")))
  }

  @Test func `is shown by its name and size, and its caption below`() throws {
    var harness = Harness.talking()
    harness.entry(1, file())
    harness.entry(2, Send(room: Harness.room, id: "e", edit: 1, text: "look"))
    var message = try #require(harness.chat.timeline?.messages.first)
    #expect(message.text == "a.png (35 kB)\nlook")
    // The relay forwards texts only, and what is edited is the caption alone.
    #expect(
      harness.chat.actions(for: message) == [
        .reply, .react, .copy, .openFile, .saveFile, .copyLink,
      ])
    harness.entry(3, Send(room: Harness.room, id: "d", delete: 1))
    message = try #require(harness.chat.timeline?.messages.first)
    #expect(message.isDeleted)
  }

  @Test(
    arguments: [
      (0, "a.png (0 bytes)"), (999, "a.png (999 bytes)"), (1000, "a.png (1 kB)"),
      (25_000_000, "a.png (25 MB)"),
    ] as [(Int64, String)])
  func `has a size that is easy to read`(size: Int64, label: String) {
    #expect(file(size: size).asEntry.file?.label == label)
  }
}
