import Mixing
import Terminal
import Testing
import Wire

@testable import Messenger

@Suite struct `Scrolling` {
  private static let pieces = [
    "word", "a", "東京", "👩‍👩‍👧‍👦", "e\u{301}", "שלום", "\n", " ", "   ", "https://example.org/a",
    "\u{1B}[31m", "\u{202E}", "\t", "averyveryverylongwordthatdoesnotfitintoanyline", "🇩🇪", "\r\n",
  ]

  private func randomChat(_ dice: inout SplitMix64, columns: Int, rows: Int, count: Int) -> Chat {
    var chat = Sample.room(columns, rows)
    chat.settings.messages = Settings.Messages.allCases.randomElement(using: &dice) ?? .irc
    chat.timeline?.unreadAfter = Int64.random(in: 0...50, using: &dice)
    chat.timeline?.messages = (0..<count).map { randomMessage($0, &dice) }
    return chat
  }

  private func randomMessage(_ id: Int, _ dice: inout SplitMix64) -> Message {
    let from = ["ada", "bo", "grace"].randomElement(using: &dice) ?? "bo"
    let text = (0..<Int.random(in: 0...20, using: &dice)).map { _ in
      Self.pieces.randomElement(using: &dice) ?? ""
    }.joined(separator: Bool.random(using: &dice) ? " " : "")
    let states: [SendState] = [.waiting, .sent, .delivered, .read, .failed("no\nway\u{7}")]
    var message = Sample.message(
      id, from: from, text, minutesAgo: Int64(2000 - id * 9),
      state: states.randomElement(using: &dice))
    message.isDeleted = Int.random(in: 0..<9, using: &dice) == 0
    message.isEdited = Int.random(in: 0..<5, using: &dice) == 0
    if Int.random(in: 0..<5, using: &dice) == 0 {
      message.quote = .init(seq: 1, from: "bo", text: text)
    }
    if Int.random(in: 0..<5, using: &dice) == 0 {
      message.reactions = Self.pieces.map { .init(emoji: $0, users: ["ada", "bo"]) }
    }
    return message
  }

  /// What the rows of the messages show.
  private func messages(_ chat: Chat) -> [String] {
    let grid = chat.draw(.plain).grid
    let pane = chat.layout.messages
    return (pane.row..<pane.row + pane.rows).map { row in
      grid[row: row][...].dropFirst(pane.column).filter { $0.width > 0 }
        .map { String($0.character) }.joined()
    }
  }

  @Test(arguments: 0..<24)
  func `no size or content traps, and every row is as wide as the screen`(seed: Int) {
    var dice = SplitMix64(seed: UInt64(seed))
    let sizes = [(0, 0), (1, 1), (2, 3), (5, 2), (20, 6), (69, 9), (70, 9), (80, 24), (200, 60)]
    for (columns, rows) in sizes + [
      (Int.random(in: 0...120, using: &dice), Int.random(in: 0...50, using: &dice))
    ] {
      var chat = randomChat(&dice, columns: columns, rows: rows, count: seed % 30)
      chat.pane = [.list, .messages, .composer].randomElement(using: &dice) ?? .list
      chat.composer = TextEditor(Self.pieces.shuffled(using: &dice).joined())
      chat.isFiltering = seed % 3 == 0
      chat.search = seed % 4 == 0 ? Chat.Search() : nil
      let someone = chat.timeline?.messages.randomElement(using: &dice)
      chat.timeline?.selected = someone?.key
      chat.directory = seed % 2 == 0 ? .failed("down\n") : .loading
      if let key = chat.timeline?.selected {
        chat.composition = seed % 2 == 0 ? .reply(key) : .edit(key)
      }
      var switcher = Chat.Switcher()
      switcher.matches = chat.listed
      let overlays: [Chat.Overlay?] = [
        nil, nil, .help(line: 3), .switcher(switcher), .actions(selected: 2),
        .reactions(selected: 9),
        .confirmDeletion(Message.Key(from: "x", id: "y")),
      ]
      chat.overlay = overlays.randomElement(using: &dice) ?? nil
      for theme in [Theme.plain, .dark(), .light(.sixteen)] {
        let grid = chat.draw(theme).grid
        let widths = (0..<rows).map { row in grid[row: row].reduce(0) { $0 + Int($1.width) } }
        #expect(widths.allSatisfy { $0 == columns })
        let isHarmless = (0..<rows).allSatisfy { row in
          grid[row: row].allSatisfy { cell in
            cell.character.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" }
          }
        }
        #expect(isHarmless)
        if let cursor = grid.cursor {
          #expect(cursor.column < columns)
          #expect(cursor.row < rows)
          #expect(cursor.column >= 0)
          #expect(cursor.row >= 0)
        }
      }
      chat.keepListSelectionVisible()
      _ = chat.scroll(byLines: -7)
      _ = chat.scroll(byLines: 3)
      if let key = chat.timeline?.messages.first?.key { chat.reveal(key) }
      _ = chat.isAtNewest
      _ = chat.draw(.plain)
    }
  }

  @Test(arguments: 0..<8)
  func `scrolling up and down by the same lines returns to the same place`(seed: Int) {
    var dice = SplitMix64(seed: UInt64(seed))
    var chat = randomChat(&dice, columns: 80, rows: 24, count: 80)
    _ = chat.scroll(byLines: -20)
    let before = messages(chat)
    for lines in [1, 5, 17] {
      if chat.scroll(byLines: -lines) { continue }
      _ = chat.scroll(byLines: lines)
      #expect(messages(chat) == before)
    }
  }

  @Test(arguments: 0..<4)
  func `a line up shows the line that was above, and the others a line lower`(seed: Int) {
    var dice = SplitMix64(seed: UInt64(seed))
    var chat = randomChat(&dice, columns: 90, rows: 20, count: 20)
    _ = chat.scroll(byLines: -3)
    while true {
      let before = messages(chat)
      let isAtStart = chat.scroll(byLines: -1)
      let after = messages(chat)
      // The last row has the hint that there is more below.
      if isAtStart, after.dropLast() == before.dropLast() { break }
      #expect(Array(after.dropFirst().dropLast()) == Array(before.dropLast(2)))
    }
    #expect(messages(chat)[0].contains("begins here"))
  }

  @Test(arguments: 0..<8)
  func `the visible messages stay in place when others arrive above and below`(seed: Int) {
    var dice = SplitMix64(seed: UInt64(seed))
    var chat = randomChat(&dice, columns: 80, rows: 24, count: 60)
    let all = chat.timeline?.messages ?? []
    chat.timeline?.messages = Array(all[20..<50])
    let reachedStart = chat.scroll(byLines: -30)
    #expect(!reachedStart)
    let before = messages(chat)
    chat.timeline?.messages = Array(all[20...])
    #expect(messages(chat) == before)
    chat.timeline?.messages = all
    #expect(messages(chat) == before)
    chat.timeline?.messages = Array(all[25...])
    #expect(messages(chat) == before)
  }

  @Test func `at the end it follows the newest, and no longer once it is scrolled up`() {
    var chat = Sample.busy(80, 14)
    #expect(chat.isAtNewest)
    chat.timeline?.messages.append(Sample.message(6, from: "grace", "the newest"))
    #expect(messages(chat).contains { $0.contains("the newest") })
    _ = chat.scroll(byLines: -4)
    #expect(!chat.isAtNewest)
    chat.timeline?.messages.append(Sample.message(7, from: "grace", "even newer"))
    chat.timeline?.newBelow = 1
    #expect(!messages(chat).contains { $0.contains("even newer") })
    #expect(picture(chat.draw(.plain)).contains("1 new ↓"))
    _ = chat.scroll(byLines: 100)
    #expect(chat.timeline?.scroll == .newest)
    #expect(chat.timeline?.newBelow == 0)
  }

  /// The hint that there are newer messages covers no text where there is room beside it.
  @Test(arguments: Settings.Messages.allCases, [10, 14, 24])
  func `the way to the newest covers no text`(look: Settings.Messages, rows: Int) throws {
    for composition in [Chat.Composition.new, .reply(.init(from: "grace", id: "m1"))] {
      var chat = Sample.busy(80, rows)
      chat.settings.messages = look
      chat.timeline?.messages = (0..<40).map {
        Sample.message($0, from: $0 % 3 == 0 ? "ada" : "grace", "text number \($0)")
      }
      chat.composition = composition
      for _ in 0..<30 {
        _ = chat.scroll(byLines: -1)
        let drawing = chat.draw(.plain)
        let shown = messages(chat)
        let hint = try #require(drawing.targets.last { $0.target == .newest })
        #expect(drawing.grid.text(row: hint.rect.row).contains("↓ Ctrl+End"))
        // Each message whose row is visible has all of its text.
        for case (let row, .message(let key)) in drawing.targets.map({ ($0.rect.row, $0.target) }) {
          let text = try #require(chat.timeline?.message(key)?.text)
          let line = shown[row - chat.layout.messages.row]
          #expect(!line.contains("text") || line.contains(text), "\(line)")
        }
      }
    }
  }

  @Test func `the first visible line is reported, to load earlier messages`() {
    var chat = Sample.busy(80, 11)
    let near = chat.scroll(byLines: -1)
    let far = chat.scroll(byLines: -100)
    #expect(!near)
    #expect(far)
    chat.timeline?.isLoading = true
    #expect(messages(chat).first?.contains("loading older messages") == true)
  }

  @Test func `a message that is gone leaves the view near where it was`() {
    var dice = SplitMix64(seed: 1)
    var chat = randomChat(&dice, columns: 80, rows: 24, count: 60)
    _ = chat.scroll(byLines: -60)
    guard case .at(let key, line: _) = chat.timeline?.scroll,
      let index = chat.timeline?.messages.firstIndex(where: { $0.key == key })
    else {
      Issue.record("it was not scrolled")
      return
    }
    let next = chat.timeline?.messages[index + 1].key
    chat.timeline?.messages.remove(at: index)
    let seen = chat.draw(.plain).targets.compactMap { entry -> Message.Key? in
      if case .message(let key) = entry.target { key } else { nil }
    }
    #expect(seen.first == next)
  }

  @Test func `a message is scrolled into view, and visible messages do not move`() {
    var dice = SplitMix64(seed: 2)
    var chat = randomChat(&dice, columns: 80, rows: 24, count: 100)
    for index in [50, 49, 3, 0, 97, 99] {
      guard let key = chat.timeline?.messages[index].key else { continue }
      chat.reveal(key)
      #expect(chat.draw(.plain).targets.contains { $0.target == .message(key) })
      let before = chat.timeline?.scroll
      chat.reveal(key)
      #expect(chat.timeline?.scroll == before)
    }
    #expect(chat.isAtNewest)
  }

  @Test func `the list keeps its selection in sight`() {
    var chat = Sample.chat(80, 24)
    for index in 0..<100 {
      Sample.add(Conversation(room: "r\(index)", title: "Room \(index)"), to: &chat)
    }
    chat.pane = .list
    for (selected, top) in [(0, 0), (10, 0), (11, 1), (99, 89), (90, 89), (50, 50)] {
      chat.listSelection = "r\(selected)"
      chat.keepListSelectionVisible()
      #expect(chat.listTop == top)
      #expect(chat.draw(.plain).targets.contains { $0.target == .conversation("r\(selected)") })
    }
  }
}
