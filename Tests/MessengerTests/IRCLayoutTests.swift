import Terminal
import Testing

@testable import Messenger

@Suite struct `Messages in lines` {
  private func drawn(_ chat: Chat) -> [String] {
    picture(chat.draw(.dark())).split(separator: "\n", omittingEmptySubsequences: false)
      .map { String($0.drop { $0 != "│" }.dropFirst()) }
  }

  private func room(_ columns: Int = 100) -> Chat {
    var chat = Sample.room(columns, 40)
    chat.settings.messages = .irc
    return chat
  }

  @Test func `have time, state, name and text in columns, and one line each where it fits`() {
    let lines = drawn(room())
    let expected = """
      12:40             Bo  Who was first?
      ─
      11:50    Grace Hopp…  first
                              second, set in
                            third
      11:51    Grace Hopp…  And the same person again. (edited)
      12:00 ✓✓ Ada Lovela…  東京の天気は晴れです 👩‍👩‍👧‍👦
      12:10             Bo  deleted
      12:11             Bo  ↪ forwarded from Echo
                            see you at https://example.org/a?b=c.
                            👀 2
      12:37 !  Ada Lovela…  too long, it seems
                            ! refused: too long · R retry · x discard
      12:40 …  Ada Lovela…  still on its way
      """
    let start = lines.firstIndex { $0.contains("Who was first?") } ?? 0
    let shown = lines[start...].prefix(14).map { $0.contains("Today") ? " ─" : $0 }
    let text = shown.map { $0.isEmpty ? $0 : String($0.dropFirst()) }.joined(separator: "\n")
    #expect(text == expected, "drawn:\n\(text)")
  }

  @Test(arguments: 20...120) func `stay within the pane at every width`(columns: Int) {
    let chat = room(columns)
    let layout = MessageLayout(
      chat, chat.timeline!, .dark(), columns: columns)
    for index in chat.timeline!.messages.indices {
      for line in layout.block(index).lines {
        for piece in line.pieces {
          #expect(piece.column >= 0)
          #expect(piece.column + TextWidth.columns(of: piece.text) <= columns)
        }
      }
    }
  }

  @Test func `a selected one is highlighted from edge to edge`() {
    var chat = room()
    let key = chat.timeline?.messages[3].key
    chat.timeline?.selected = key
    let layout = MessageLayout(chat, chat.timeline!, .dark(), columns: 60)
    let line = layout.block(3).lines.last
    #expect(line?.fill?.columns == 58)
    #expect(line?.pieces.contains { $0.text == "▌" && $0.column == 0 } == true)
  }
}

@Suite struct `The clock` {
  @Test(arguments: [
    (0, 5, "12:05 am"), (9, 30, "9:30 am"), (12, 0, "12:00 pm"), (14, 2, "2:02 pm"),
    (23, 59, "11:59 pm"),
  ])
  func `of twelve hours`(hour: Int, minute: Int, text: String) {
    let time = LocalTime(year: 2025, month: 11, day: 21, hour: hour, minute: minute, weekday: 5)
    #expect(Moment(time: time, now: time, clockForm: .h12).clock == text)
  }

  @Test func `is a setting, also for the list`() throws {
    var chat = Sample.busy(100, 30)
    chat.settings = try .read(Array("clock: 12h".utf8), file: "config.yaml")
    let text = picture(chat.draw(.dark()))
    #expect(text.contains("12:38 pm ✓✓"))
    #expect(text.split(separator: "\n")[1].contains("12:38 pm │"))
  }
}

@Suite struct `The date in the title` {
  @Test func `is that of the first visible message, while the user has scrolled up`() {
    var chat = Sample.room(100, 10)
    func title() -> Substring { picture(chat.draw(.dark())).prefix { $0 != "\n" } }
    let keys = chat.timeline?.messages.map(\.key) ?? []
    #expect(!title().contains("Today") && !title().contains("Mon 17"))
    chat.timeline?.scroll = .at(keys[7], line: 0)
    #expect(title().contains("Today"))
    chat.timeline?.scroll = .at(keys[0], line: 0)
    #expect(title().contains("Mon 17 Nov 2025"))
  }
}
