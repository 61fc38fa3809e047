import Client
import Terminal
import Testing
import Wire

@testable import Messenger

/// Pictures of files in the conversation.
@Suite struct `Pictures in a conversation` {
  private static let id = String(repeating: "f", count: 22)

  private func file(_ width: Int64 = 320, _ height: Int64 = 240) -> FileContent {
    FileContent(
      id: Self.id, name: "a.webp", caption: "look",
      description: FileDescription(
        size: 34, mediaType: "image/webp",
        thumbnail: .init(width: width, height: height, placeholder: "")))
  }

  private func chat(_ file: FileContent, _ form: PictureForm? = .graphics) -> Chat {
    var harness = Harness.talking()
    harness.chat.pictureForm = form
    harness.entry(1, .init(room: Harness.room, id: "f", file: file))
    return harness.chat
  }

  @Test(
    arguments: [
      (320, 240, 32, 12), (640, 640, 24, 12), (640, 64, 40, 2), (64, 640, 2, 12), (1, 1, 1, 1),
      (1024, 1, 40, 1), (1, 1024, 1, 12),
    ] as [(Int64, Int64, Int, Int)])
  func `have a box that follows from the entry`(
    width: Int64, height: Int64, columns: Int, rows: Int
  ) throws {
    let box = try #require(PictureBox(file(width, height), columnsLimit: 80))
    #expect((box.columns, box.rows) == (columns, rows))
  }

  @Test(
    arguments: [(0, 1), (1, 0), (-1, 5), (1025, 1), (.max, .max), (.min, 1)] as [(Int64, Int64)])
  func `have none of a size that no thumbnail has`(width: Int64, height: Int64) {
    #expect(PictureBox(file(width, height), columnsLimit: 80) == nil)
    let chat = chat(file(width, height))
    #expect(picture(chat.draw(.plain)).contains("a.webp"))
  }

  @Test func `fit into a narrow pane, and none has no columns`() throws {
    for limit in -1...40 {
      let box = try #require(PictureBox(file(), columnsLimit: limit))
      #expect(1...max(1, limit) ~= box.columns && 1...PictureBox.rowsLimit ~= box.rows)
    }
  }

  @Test func `are asked for where they are seen, and nothing moves when they come`() throws {
    var chat = chat(file())
    let before = chat.draw(.plain)
    let wanted = try #require(before.wantedThumbnails.first)
    #expect(Set(before.wantedThumbnails) == [wanted])
    #expect(wanted.file == Self.id)
    #expect(before.grid.pictures.isEmpty)
    chat.thumbnails[wanted] = .sent(7)
    let after = chat.draw(.plain)
    #expect(picture(after) == picture(before))
    #expect(after.wantedThumbnails.isEmpty && after.thumbnails == [wanted])
    // A strip for each row, so that a picture that is scrolled out of the pane in part is shown in part.
    #expect(after.grid.pictures.map(\.id) == Array(repeating: 7, count: 12))
    #expect(after.grid.pictures.allSatisfy { $0.rect.columns == 32 && $0.rect.rows == 1 })
    let parts = after.grid.pictures.sorted { $0.rect.row < $1.rect.row }.map(\.part)
    #expect(parts == (0..<12).map { $0 * 20..<$0 * 20 + 20 })
    chat.overlay = .help(line: 0)
    #expect(chat.draw(.plain).grid.pictures.count < 12)
  }

  @Test func `are half blocks where the terminal has no pictures`() throws {
    var chat = chat(file(20, 40), .blocks)
    let wanted = try #require(chat.draw(.plain).wantedThumbnails.first)
    #expect((wanted.box.columns, wanted.box.rows) == (2, 2))
    let colors = (0..<4).map { row in
      (0..<2).map { Color.rgb(UInt8(row), UInt8($0), 9) }
    }
    chat.thumbnails[wanted] = .colors(colors)
    let drawing = chat.draw(.plain)
    var bytes: [UInt8] = []
    var differ = Differ(depth: .trueColor)
    differ.frame(drawing.grid, into: &bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    for (top, bottom) in [(0, 1), (2, 3)] {
      #expect(text.contains("38;2;\(top);0;9;48;2;\(bottom);0;9m▀"))
      #expect(text.contains("38;2;\(top);1;9;48;2;\(bottom);1;9m▀"))
    }
    // Fewer colours than the box has rows, whatever went wrong.
    chat.thumbnails[wanted] = .colors([])
    #expect(!picture(chat.draw(.plain)).contains("▀"))
  }

  @Test func `are not where none are wanted, and gone with the message`() {
    #expect(chat(file(), nil).draw(.plain).wantedThumbnails.isEmpty)
    var harness = Harness.talking()
    harness.chat.pictureForm = .graphics
    harness.entry(1, .init(room: Harness.room, id: "f", file: file()))
    harness.entry(2, .init(room: Harness.room, id: "d", delete: 1))
    #expect(harness.chat.draw(.plain).wantedThumbnails.isEmpty)
  }

  @Test func `are beside the time in lines as in IRC`() throws {
    var chat = chat(file())
    chat.settings.messages = .irc
    let wanted = try #require(chat.draw(.plain).wantedThumbnails.first)
    chat.thumbnails[wanted] = .sent(7)
    #expect(chat.draw(.plain).grid.pictures.count == wanted.box.rows)
  }
}
