import Terminal
import Testing

@testable import Messenger

/// Overlays and composed text, as pictures.
@Suite struct `Over the screen` {
  private func expect(
    _ chat: Chat, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let drawn = picture(chat.draw(.plain))
    #expect(drawn == expected, "drawn:\n\(drawn)", sourceLocation: sourceLocation)
  }

  private var selecting: Chat {
    var chat = Sample.busy(80, 16)
    chat.settings.messages = .plain
    chat.pane = .messages
    chat.timeline?.selected = Message.Key(from: "grace", id: "m4")
    return chat
  }

  private var writing: Chat {
    var chat = Sample.room(80, 18)
    chat.composition = .reply(Message.Key(from: "grace", id: "m2"))
    chat.composer = TextEditor(
      "one line\nand another, that is much longer than what fits into one")
    return chat
  }

  @Test func `there is a menu of what can be done with the selected message, with its keys`() {
    var chat = selecting
    chat.overlay = .actions(selected: 1)
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ ● Grace Hopper  online                        ● 12 ms
      ▎● GH Grace Hopp… 12:38 │                           ⋯
      ▎     ✓✓ It is a moth!  │ ───────────────────── Yesterday ─────────────────────
         #  General     12:10 │  Good morning! Is the machine running again?
            Bo: lunch?     3  ╭─ Message ────────────────────╮         11:40
       ◐ B  Bo   🔕 Yesterday │ Reply                      r │Since seven.  11:50 ✓✓
            typing…       12  │ React                      + │───────────────────────
       ○ E  Echo bot      Mon │ Copy                       c │anel F.  12:20
            deleted           │ Forward                    f │───────────────────────
                              │ Open link                  o │or the page.  12:21
                              ╰──────────────────────────────╯mething is in relay 70
                              │              It is a moth!                  12:38 ✓✓
                              │                                           👍 1  🎉 2
                              │───────────────────────────────────────────────────────
                              │› Message Grace Hopper
       Enter choose  ↑ up  ↓ down  Esc close
      """)
  }

  @Test func `a deletion must be confirmed`() {
    var chat = selecting
    chat.overlay = .confirmDeletion(Message.Key(from: "ada", id: "m5"))
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ ● Grace Hopper  online                        ● 12 ms
      ▎● GH Grace Hopp… 12:38 │                           ⋯
      ▎     ✓✓ It is a moth!  │ ───────────────────── Yesterday ─────────────────────
         #  General     12:10 │  Good morning! Is the machine running again?
            Bo: lunch?     3  │                                        11:40
       ◐ B  Bo   🔕 Yes╭─ Delete this message for everyone? ────────╮even.  11:50 ✓✓
            typing…    │ It is a moth!                              │────────────────
       ○ E  Echo bot   │                                            │  12:20
            deleted    │ Enter, y delete  Esc, n keep               │────────────────
                       ╰────────────────────────────────────────────╯page.  12:21
                              │              ┃ Grace Hopper Something is in relay 70
                              │              It is a moth!                  12:38 ✓✓
                              │                                           👍 1  🎉 2
                              │───────────────────────────────────────────────────────
                              │› Message Grace Hopper
       Enter delete  Esc keep
      """)
  }

  @Test func `there are emoji to react with`() {
    var chat = selecting
    chat.overlay = .reactions(selected: 1)
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ ● Grace Hopper  online                        ● 12 ms
      ▎● GH Grace Hopp… 12:38 │                           ⋯
      ▎     ✓✓ It is a moth!  │ ───────────────────── Yesterday ─────────────────────
         #  General     12:10 │  Good morning! Is the machine running again?
            Bo: lunch?     3  │                                        11:40
       ◐ B  Bo   🔕 Yesterday │                               Since seven.  11:50 ✓✓
            typing…      ╭─ React ────────────────────────────────╮──────────────────
       ○ E  Echo bot     │› name of an emoji                      │F.  12:20
            deleted      │ 👍  ❤️  😂  🎉  😮  😢  🙏  🔥  👀  👎 │──────────────────
                         ╰────────────────────────────────────────╯e page.  12:21
                              │              ┃ Grace Hopper Something is in relay 70
                              │              It is a moth!                  12:38 ✓✓
                              │                                           👍 1  🎉 2
                              │───────────────────────────────────────────────────────
                              │› Message Grace Hopper
       Enter react  ← left  → right  Esc close
      """)
  }

  @Test func `conversations are found by name`() {
    var chat = selecting
    var switcher = Chat.Switcher()
    switcher.matches = ["dm:ada:bo", "general"]
    chat.overlay = .switcher(switcher)
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ ● Grace Hopper  online                        ● 12 ms
      ▎● GH Grace Hopp… 12:38 │                           ⋯
      ▎     ✓✓ It is a moth!  │ ───────────────────── Yesterday ─────────────────────
         #  General     12:10 │  Good morning! Is the machine running again?
            Bo: lunch?     3  │                                        11:40
       ◐ B  Bo   🔕 ╭─ Go to ──────────────────────────────────────────╮n.  11:50 ✓✓
            typing… │› name of a user or room                          │─────────────
       ○ E  Echo bot│                                                  │2:20
            deleted │ ◐ Bo                                          12 │─────────────
                    │ # General                                      3 │e.  12:21
                    ╰──────────────────────────────────────────────────╯ in relay 70
                              │              It is a moth!                  12:38 ✓✓
                              │                                           👍 1  🎉 2
                              │───────────────────────────────────────────────────────
                              │› Message Grace Hopper
       Enter open  ↑ up  ↓ down  Esc close
      """)
  }

  @Test func `a composer of several lines is below the quoted message, and completes`() {
    var chat = writing
    chat.completion = Completion(before: TextEditor("hello :smi"), users: [])
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ # General  3 members                          ● 12 ms
       ● GH Grace Hopp… 12:38 │ │   second, set in │
            ✓✓ It is a moth!  │ │ third      11:50 │
      ▎  #  General     12:10 │ │ And the same person again.  edited 11:51 │
      ▎     Bo: lunch?     3  │                 │ 東京の天気は晴れです 👩‍👩‍👧‍👦  12:00 ✓✓ │
       ◐ B  Bo   🔕 Yesterday │ │ Bo             │
            typing…       12  │ │ d 😄 :smile:
       ○ E  Echo bot      Mon │ │ ↪│😃 :smiley:                  │             │
            deleted           │ │ s│🥰 :smiling_face_with_hearts:│?b=c.  12:11 │
                              │    │😏 :smirk:                   │
                              │    │😈 :smiling_imp:             │it seems  12:37 ! │
                              │    │😺 :smiley_cat:              │retry · x discard
                              │    │🥲 :smiling_face_with_tear:  │ its way  12:40 … │
                              │↩ Gr│😼 :smirk_cat:               │in⏎thi… Esc cancels
                              │› one line
                              │  and another, that is much longer than what fits into
                              │  one
       Enter insert  Tab next  Esc close  Ctrl+K switch  F1 help  Ctrl+C quit
      """)
  }

  @Test func `a search is below the searched messages, and newer messages are counted`() {
    var chat = writing
    chat.search = Chat.Search()
    chat.search?.query = LineEditor("first")
    chat.search?.matches = [Message.Key(from: "grace", id: "m2")]
    chat.timeline?.scroll = .at(Message.Key(from: "grace", id: "m3"), line: 0)
    chat.timeline?.newBelow = 3
    expect(
      chat,
      """
       Ada Lovelace  3 unread │ # General  3 members         Mon 17 Nov 2025  ● 12 ms
       ● GH Grace Hopp… 12:38 │             the conversation begins here
            ✓✓ It is a moth!  │ ────────────────── Mon 17 Nov 2025 ──────────────────
      ▎  #  General     12:10 │ │ Bo                    │
      ▎     Bo: lunch?     3  │ │ Who was first?  12:40 │
       ◐ B  Bo   🔕 Yesterday │ ─────────────────────── Today ───────────────────────
            typing…       12  │ │ Grace Hopper     │
       ○ E  Echo bot      Mon │ │ first            │
            deleted           │ │   second, set in │
                              │ │ third      11:50 │
                              │ │ And the same person again.  edited 11:51 │
                              │ 3 new ↓         │ 東京の天気は晴れです 👩‍👩‍👧‍👦  12:00 ✓✓ │
                              │⌕ first                                         1 of 1
                              │↩ Grace Hopper first⏎  second, set in⏎thi… Esc cancels
                              │› one line
                              │  and another, that is much longer than what fits into
                              │  one
       Enter older match  ↓ newer match  Esc close
      """)
  }

  @Test func `the help gives back what it has covered`() {
    var harness = Harness.talking()
    harness.press(Key(.character("x"), .alt), Key(.function(1)))
    #expect(harness.chat.overlay == .help(line: 0))
    harness.press(Key(.escape))
    #expect(harness.chat.overlay == .confirmLeaving(Harness.room))
    harness.press(Key(.escape))
    #expect(harness.chat.overlay == nil)
  }

  @Test func `the help has all of a description, also at 80 columns`() {
    var chat = Sample.busy(80, 24)
    let texts = chat.settings.keymap.help.flatMap(\.rows).map(\.text)
    var shown = ""
    for line in 0..<chat.helpLineCount {
      chat.overlay = .help(line: line)
      shown += picture(chat.draw(.plain))
    }
    for word in texts.flatMap({ $0.split(separator: " ") }) {
      #expect(shown.contains(word), "\(word)")
    }
  }

  @Test func `the help is the table of the keys, and scrolls to its end`() {
    var chat = Sample.busy(80, 24)
    chat.overlay = .help(line: 0)
    let start = picture(chat.draw(.plain))
    #expect(start.contains("Ctrl+K"))
    #expect(start.contains("↓ more"))
    chat.overlay = .help(line: .max)
    let end = picture(chat.draw(.plain))
    #expect(!end.contains("↓ more"))
    let last = chat.settings.keymap.help.last?.rows.last
    #expect(end.contains(last?.text ?? "?"))
  }

  @Test func `the cursor is in the focused place`() {
    var chat = writing
    #expect(chat.draw(.plain).grid.cursor == Position(column: 30, row: 16))
    chat.search = Chat.Search()
    #expect(chat.draw(.plain).grid.cursor == Position(column: 27, row: 12))
    chat.overlay = .switcher(Chat.Switcher())
    let cursor = chat.draw(.plain).grid.cursor
    #expect(cursor?.row == 7)
    chat.overlay = .help(line: 0)
    #expect(chat.draw(.plain).grid.cursor == nil)
  }

  @Test func `the cursor is after wide characters`() {
    var chat = Sample.busy(60, 20)
    chat.composer = TextEditor("東京👩‍👩‍👧‍👦é")
    #expect(chat.draw(.plain).grid.cursor == Position(column: 9, row: 18))
  }

  @Test func `the chosen row is highlighted from edge to edge`() {
    var chat = selecting
    chat.overlay = .actions(selected: 1)
    let theme = Theme.dark()
    let drawing = chat.draw(theme)
    guard let row = drawing.targets.first(where: { $0.target == .choice(1) })?.rect else {
      Issue.record("there is no such row")
      return
    }
    for column in row.column..<row.column + row.columns {
      let cell = drawing.grid[Position(column: column, row: row.row)]
      #expect(cell.style.background == theme.selection.background)
    }
  }

  @Test func `the mouse hits the visible elements`() {
    var chat = Sample.busy(80, 24)
    chat.timeline?.scroll = .at(Message.Key(from: "ada", id: "m2"), line: 0)
    let drawing = chat.draw(.plain)
    #expect(drawing.target(at: Position(column: 5, row: 4)) == .conversation("general"))
    #expect(drawing.target(at: Position(column: 40, row: 22)) == .composer)
    chat.overlay = .reactions(selected: 0)
    #expect(chat.draw(.plain).target(at: Position(column: 24, row: 12)) == .choice(1))
    #expect(chat.draw(.plain).target(at: Position(column: 5, row: 4)) == nil)
  }
}
