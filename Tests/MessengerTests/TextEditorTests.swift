import TestSupport
import Testing

@testable import Messenger

@Suite struct `A text editor` {
  /// An editor with the cursor at `|`.
  private func editor(_ marked: String) -> TextEditor {
    // By scalars: a mark after it would form one character with it.
    let parts = marked.unicodeScalars.split(separator: "|", omittingEmptySubsequences: false)
      .map { String($0) }
    var editor = TextEditor(parts[0] + parts[1])
    editor.move(to: editor.place(at: parts[0].count))
    return editor
  }

  /// The text, with `|` for the cursor.
  private func marked(_ editor: TextEditor) -> String {
    editor.text(from: .init(line: 0, offset: 0), to: editor.place) + "|"
      + editor.text(from: editor.place, to: editor.end)
  }

  /// Needed because the macro accepts no mutating call in its argument.
  private func expect(_ holds: Bool, location: SourceLocation = #_sourceLocation) {
    #expect(holds, sourceLocation: location)
  }

  @Test func `typed text is before the cursor`() throws {
    var editor = editor("he|o")
    try editor.insert("l")
    try editor.insert("l")
    #expect(marked(editor) == "hell|o")
    try editor.newLine()
    #expect(marked(editor) == "hell\n|o")
    #expect(editor.line == 1)
    #expect(editor.column == 0)
    #expect(editor.cursor == 5)
    #expect(editor.lines == [Array("hell"), ["o"]])
    #expect(editor.byteCount == 6)
  }

  @Test(arguments: [
    ("e|x", "\u{301}", "é|x"),
    ("👩|", "\u{200D}👩\u{200D}👧", "👩‍👩‍👧|"),
    ("|\u{1F1EA}\u{1F1EB}\u{1F1F7}", "\u{1F1E9}", "🇩🇪|🇫🇷"),
    ("👩\u{200D}|x", "🚀", "👩‍🚀|x"),
  ])
  func `a mark joins the character before it`(start: String, typed: String, end: String) throws {
    var editor = editor(start)
    try editor.insert(typed)
    #expect(marked(editor) == end)
    #expect(editor.lines == [Array(editor.text)])
    #expect(editor.byteCount == editor.text.utf8.count)
  }

  @Test func `a character is deleted whole`() {
    var editor = TextEditor("a👨‍👩‍👧‍👦é")
    editor.deleteBackward()
    #expect(editor.text == "a👨‍👩‍👧‍👦")
    editor.deleteBackward()
    #expect(editor.text == "a")
    editor.deleteBackward()
    editor.deleteBackward()
    #expect(editor.isEmpty)
    #expect(editor.byteCount == 0)
  }

  @Test func `characters that a deletion joins are one character`() {
    var editor = editor("e\n|\u{301}x")
    editor.deleteBackward()
    #expect(marked(editor) == "é|x")
    #expect(editor.lines == [["é", "x"]])
  }

  @Test func `line breaks of all kinds are line breaks, other controls are left out`() throws {
    var editor = TextEditor()
    try editor.insert("a\r\nb\rc\u{2028}d\u{1B}[31m\te\0")
    #expect(editor.text == "a\nb\nc\nd[31m\te")
    #expect(editor.lines.count == 4)
  }

  @Test func `a paste of several lines is inserted at the cursor`() throws {
    var editor = editor("a|z")
    try editor.insert("1\n2\n3")
    #expect(marked(editor) == "a1\n2\n3|z")
  }

  @Test(arguments: [
    ("one two|", "one |", "two"), ("one two  |x", "one |x", "two  "), ("a.b-c|", "a.b-|", "c"),
    ("one\n  |two", "|two", "one\n  "), ("日本 語|", "日本 |", "語"), ("|x", "|x", ""),
  ])
  func `a word is deleted with the space after it, and yanked back`(
    start: String, end: String, killed: String
  ) throws {
    var editor = editor(start)
    editor.deleteWord()
    #expect(marked(editor) == end)
    #expect(editor.killed == killed)
    try editor.yank()
    #expect(marked(editor) == start)
  }

  @Test func `consecutive deletions are yanked together`() throws {
    var editor = editor("one two three| four")
    editor.deleteWord()
    editor.deleteWord()
    editor.deleteToLineEnd()
    #expect(marked(editor) == "one |")
    try editor.yank()
    #expect(marked(editor) == "one two three four|")
    editor.moveLeft()
    editor.deleteToLineStart()
    #expect(editor.killed == "one two three fou")
    #expect(marked(editor) == "|r")
  }

  @Test func `at the end of a line the line break is killed`() {
    var editor = editor("one|\ntwo")
    editor.deleteToLineEnd()
    #expect(marked(editor) == "one|two")
    editor = self.editor("one\n|two")
    editor.deleteToLineStart()
    #expect(marked(editor) == "one|two")
  }

  @Test func `the cursor goes by characters, words, lines`() {
    var editor = editor("one, two|\nx")
    editor.moveWordLeft()
    #expect(marked(editor) == "one, |two\nx")
    editor.moveWordLeft()
    editor.moveLeft()
    #expect(marked(editor) == "|one, two\nx")
    editor.moveWordRight()
    #expect(marked(editor) == "one|, two\nx")
    editor.moveToLineEnd()
    editor.moveRight()
    #expect(marked(editor) == "one, two\n|x")
    editor.moveLeft()
    editor.moveToLineStart()
    #expect(marked(editor) == "|one, two\nx")
  }

  @Test func `moves up and down keep to their column`() {
    var editor = editor("long line|\nx\nlonger line")
    expect(editor.moveDown())
    #expect(marked(editor) == "long line\nx|\nlonger line")
    expect(editor.moveDown())
    #expect(marked(editor) == "long line\nx\nlonger li|ne")
    expect(!editor.moveDown())
    expect(editor.moveUp())
    expect(editor.moveUp())
    #expect(marked(editor) == "long line|\nx\nlonger line")
    expect(!editor.moveUp())
  }

  @Test func `a wrapped line has rows, and moves go by them`() {
    var editor = editor("the quick brown| fox")
    let rows = editor.rows(wrappedAt: 10)
    #expect(rows.map { String(editor.lines[0][$0.characters]) } == ["the quick ", "brown fox"])
    #expect(editor.cursor(in: rows) == (row: 1, column: 5))
    expect(editor.moveUp(wrappedAt: 10))
    #expect(marked(editor) == "the q|uick brown fox")
    expect(!editor.moveUp(wrappedAt: 10))
    #expect(TextEditor("abcdef").rows(wrappedAt: 4).map(\.characters) == [0..<4, 4..<6])
    #expect(TextEditor("").rows(wrappedAt: 4) == [.init(line: 0, characters: 0..<0)])
    #expect(TextEditor("a\n").rows(wrappedAt: 4).count == 2)
  }

  @Test func `ranges are replaced`() throws {
    var editor = editor("hi @ad| there")
    try editor.replace(last: 3, with: "@ada ")
    #expect(marked(editor) == "hi @ada | there")
    try editor.replace(0..<2, with: "hello")
    #expect(marked(editor) == "hello| @ada  there")
    try editor.replaceAll(with: "x\ny")
    #expect(marked(editor) == "x\ny|")
    editor.clear()
    #expect(editor.isEmpty)
  }

  @Test func `a text that is too long to send is kept, with an error`() throws {
    var editor = TextEditor("äb")
    editor.textLimitBytes = 3
    #expect(editor.excessBytes == 0)
    try editor.insert("cd")
    #expect(editor.excessBytes == 2)
    #expect(editor.text == "äbcd")
  }

  @Test func `a paste that is far too long is refused as a whole`() throws {
    var editor = TextEditor("a")
    let text = String(repeating: "x", count: 65_536)
    #expect(throws: TextEditor.Full(bytes: 65_537, capacityBytes: 65_536)) {
      try editor.insert(text)
    }
    #expect(editor.text == "a")
  }

  @Test(arguments: [("", true), (" \n\t\u{3000}", true), (" .", false)])
  func `blanks are nothing to send`(text: String, isBlank: Bool) {
    #expect(TextEditor(text).isBlank == isBlank)
  }

  @Test func `a line editor has one line`() throws {
    var line = LineEditor()
    try line.insert("a\r\nb\tc")
    #expect(line.text == "a b c")
    expect(!line.perform(.newLine))
    expect(!line.perform(.lineUp))
    expect(line.perform(.deleteWord))
    #expect(line.text == "a b ")
    #expect(line.cursor == 4)
  }

  /// Random edits, each compared with a plain string.
  @Test func `edits are those of a string`() throws {
    var random = SystemRandomNumberGenerator()
    let pieces = [
      "a", "é", "e", "\u{301}", "👩", "\u{200D}", "🚀", "\u{1F1E9}", "\u{1F1EA}", "\n", "क",
      "\u{94D}", "ष", "한", "ᄒ", "ᅡ", " ", "日", "x\ny", "\u{FE0F}", "\u{1F3FD}",
    ]
    var editor = TextEditor()
    for _ in 0..<3000 {
      let text = editor.text
      let bytes = editor.text(from: .init(line: 0, offset: 0), to: editor.place).utf8.count
      let edit = Int.random(in: 0..<10, using: &random)
      if edit < 6, let piece = pieces.randomElement(using: &random) {
        try editor.insert(piece)
        let head = String(decoding: text.utf8.prefix(bytes), as: UTF8.self)
        let tail = String(decoding: text.utf8.dropFirst(bytes), as: UTF8.self)
        #expect(Array(editor.text.utf8) == Array((head + piece + tail).utf8))
      } else if edit < 8 {
        editor.deleteBackward()
      } else {
        editor.move(to: editor.place(at: Int.random(in: 0...40, using: &random)))
      }
      let now = editor.text
      #expect(
        editor.lines == now.split(separator: "\n", omittingEmptySubsequences: false).map(Array.init)
      )
      #expect(editor.byteCount == now.utf8.count)
      if editor.byteCount > 400 { editor.clear() }
    }
  }
}

@Suite struct `Measured: a long text in an editor` {
  @Test func `a keystroke in a long text costs no more than moving it`() throws {
    var editor = TextEditor(String(repeating: "wörd ", count: 10_000))
    editor.moveToLineStart()
    let spent = try Growth.processorTime {
      for _ in 0..<200 {
        try editor.insert("x")
        editor.moveRight()
        editor.deleteBackward()
      }
    }
    // 400 changes, without optimisation: processing the whole text each time takes far longer.
    #expect(spent < .milliseconds(200))
  }
}
