import Terminal
import Testing

@testable import Messenger

@Suite struct `Links on the screen` {
  private static let url = "https://example.org/a/rather/long/path?with=a&query=too#and-a-fragment"

  private func chat(_ text: String, columns: Int = 50, _ layout: Settings.Messages = .bubbles)
    -> Chat
  {
    var chat = Sample.busy(columns, 24)
    chat.showsLinks = true
    chat.settings.messages = layout
    chat.timeline?.messages = [Sample.message(1, from: "grace", text)]
    chat.prepareToDraw()
    return chat
  }

  /// The text of each link number, in order of the screen.
  private func linked(_ grid: Grid) -> [UInt8: String] {
    var texts: [UInt8: String] = [:]
    for row in 0..<grid.size.rows {
      for cell in grid[row: row] where cell.style.link > 0 && cell.width > 0 {
        texts[cell.style.link, default: ""].append(cell.character)
      }
    }
    return texts
  }

  /// What a terminal with links is sent.
  private func written(_ grid: Grid) -> String {
    var bytes: [UInt8] = []
    var differ = Differ(showsLinks: true)
    differ.frame(grid, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: Settings.Messages.allCases)
  func `all cells of a wrapped link have its number, and no others`(layout: Settings.Messages) {
    let grid = chat("see (\(Self.url)), and more", layout).draw(.dark()).grid
    #expect(linked(grid) == [1: Self.url])
    let rows = (0..<24).filter { row in grid[row: row].contains { $0.style.link == 1 } }
    #expect(rows.count > 1)
    #expect(written(grid).contains(";\(Self.url)\u{1B}\\"))
  }

  @Test func `two links have two numbers, also where they lead to the same page`() {
    let grid = chat("http://a.example http://a.example", columns: 100).draw(.dark()).grid
    #expect(linked(grid) == [1: "http://a.example", 2: "http://a.example"])
  }

  @Test func `a match of a search within a link stays part of it`() {
    var chat = chat("go to https://example.org/page now", columns: 100)
    chat.search = Chat.Search(query: LineEditor("to https"))
    chat.timeline?.found = [.init(from: "grace", id: "m1")]
    let grid = chat.draw(.dark()).grid
    #expect(linked(grid) == [1: "https://example.org/page"])
  }

  @Test func `a link that is cut in a quote is whole for a click`() {
    var chat = chat("yes", columns: 40)
    chat.timeline?.messages[0].quote = .init(seq: 1, from: "bo", text: Self.url)
    let grid = chat.draw(.dark()).grid
    let text = linked(grid)[1] ?? ""
    #expect(text.hasSuffix("…") && Self.url.hasPrefix(text.dropLast()))
    #expect(written(grid).contains(";\(Self.url)\u{1B}\\"))
    // What follows a line break is not part of it.
    chat.timeline?.messages[0].quote = .init(seq: 1, from: "bo", text: "http://a.b\nnext")
    #expect(linked(chat.draw(.dark()).grid).isEmpty)
  }

  @Test func `nothing is a link where they are turned off, or covered`() {
    var chat = chat(Self.url)
    chat.overlay = .help(line: 0)
    let text = linked(chat.draw(.dark()).grid)[1] ?? ""
    #expect(text.count < Self.url.count)
    chat.overlay = nil
    chat.showsLinks = false
    #expect(linked(chat.draw(.dark()).grid).isEmpty)
  }
}
