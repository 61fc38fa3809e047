import Client
import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Pictures in the list` {
  /// Grace and bo have pictures, the others have none.
  private func chat(columns: Int = 100, rows: Int = 24) -> Chat {
    var chat = Sample.busy(columns, rows)
    chat.showsPictures = true
    for room in ["dm:ada:grace", "dm:ada:bo"] { chat.conversations[room]?.hasPicture = true }
    chat.prepareToDraw()
    return chat
  }

  @Test func `are asked for where they would be seen, and placed once they are there`() {
    var chat = chat()
    #expect(Set(chat.draw(.dark()).wantedPictures) == ["grace", "bo"])
    #expect(chat.draw(.dark()).grid.pictures.isEmpty)
    chat.pictures["grace"] = 7
    let drawing = chat.draw(.dark())
    #expect(drawing.wantedPictures == ["bo"])
    #expect(drawing.pictures == ["grace"])
    #expect(drawing.grid.pictures.map(\.id) == [7])
    let rect = drawing.grid.pictures[0].rect
    #expect((rect.columns, rect.rows) == (4, 2))
    #expect(picture(drawing).contains("Grace Hopper"))
    // Nobody is asked for who is not on the screen.
    chat.conversations["dm:ada:grace"]?.title = "Grace"
    chat.settings.hasSidebar = false
    #expect(chat.draw(.dark()).wantedPictures.isEmpty)
  }

  @Test func `are as high as a row of the list`() {
    var chat = chat()
    chat.settings.list = .compact
    chat.pictures["grace"] = 7
    chat.prepareToDraw()
    let rect = chat.draw(.dark()).grid.pictures.first?.rect
    #expect(rect?.columns == 2)
    #expect(rect?.rows == 1)
  }

  @Test func `are not over what covers the list`() {
    var chat = chat(columns: 80)
    chat.pictures["grace"] = 7
    #expect(chat.draw(.dark()).grid.pictures.count == 1)
    chat.overlay = .help(line: 0)
    #expect(chat.draw(.dark()).grid.pictures.isEmpty)
  }

  @Test func `are initials in a cell of the person's colour for all others`() {
    let chat = chat()
    let drawing = chat.draw(.dark())
    let row = (1..<24).first { drawing.grid.text(row: $0).contains("Grace Hopper") } ?? 0
    #expect(drawing.grid.text(row: row).contains(" GH "))
    for line in row...row + 1 {
      for column in 3..<7 {
        let style = drawing.grid[Position(column: column, row: line)].style
        #expect(style.attributes.contains(.inverse))
        #expect(style.foreground == Theme.dark().color(of: "grace"))
      }
    }
  }

  @Test func `change nothing where they are not shown`() {
    var chat = chat()
    let without = Sample.busy(100, 24)
    chat.showsPictures = false
    chat.pictures["grace"] = 7
    let drawing = chat.draw(.dark())
    #expect(drawing.grid.pictures.isEmpty && drawing.wantedPictures.isEmpty)
    var other = without
    other.prepareToDraw()
    #expect(picture(drawing) == picture(other.draw(.dark())))
  }

  @Test func `are known from the directory`() {
    var harness = Harness.talking()
    func see(avatar: String?) {
      harness.see(
        .people(
          .init(
            people: [
              .init(
                user: "bo", name: "Bo", avatar: avatar, presence: .online, lastSeen: nil,
                isBot: false, room: Harness.room)
            ], next: nil, source: "local", asOf: 1)))
    }
    see(avatar: "/v1/avatars/bo")
    #expect(harness.chat.conversations[Harness.room]?.hasPicture == true)
    see(avatar: nil)
    #expect(harness.chat.conversations[Harness.room]?.hasPicture == false)
  }
}
