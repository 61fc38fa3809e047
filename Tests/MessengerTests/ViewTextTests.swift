import Terminal
import Testing

@testable import Messenger

@Suite struct `Text that is shown` {
  private func wrap(_ text: String, _ columns: Int) -> [String] {
    Wrapping.lines(of: ShownText.lines(text), columns: columns).map(String.init)
  }

  @Test func `lines end between words, and the blanks between them are dropped`() {
    #expect(wrap("one two three", 7) == ["one two", "three"])
    #expect(wrap("one two   three", 7) == ["one two", "three"])
    #expect(wrap("one two ", 7) == ["one two"])
    #expect(wrap("one two \nthree", 7) == ["one two", "three"])
  }

  @Test func `line breaks, empty lines and indentations are kept`() {
    #expect(wrap("a\n\n  b\n", 10) == ["a", "", "  b", ""])
    #expect(wrap("\tif\r\nx", 10) == ["    if", "x"])
    #expect(wrap("    indented", 8) == ["    inde", "nted"])
  }

  @Test func `a word that is longer than a line is cut`() {
    #expect(wrap("abcdefgh", 3) == ["abc", "def", "gh"])
    #expect(wrap("x abcdefgh", 4) == ["x", "abcd", "efgh"])
  }

  @Test func `wide characters can be separated, and closing ones do not begin a line`() {
    #expect(wrap("東京の天気", 5) == ["東京", "の天", "気"])
    #expect(wrap("東京、天気", 4) == ["東", "京、", "天気"])
    #expect(wrap("a東", 1) == ["a", "東"])
  }

  @Test func `no line is wider than it may be, and only blanks and breaks are lost`() {
    let text = "The 👩‍👩‍👧‍👦 of ẑ̶́algo went to 東京タワー, naïvely\n  and   backבית again ✓✓ 🇩🇪🇫🇷"
    for columns in 2...60 {
      let lines = wrap(text, columns)
      for line in lines { #expect(TextWidth.columns(of: line) <= columns) }
      #expect(lines.joined().filter { !$0.isWhitespace } == text.filter { !$0.isWhitespace })
    }
  }

  @Test func `control characters and direction overrides are removed`() {
    #expect(ShownText.line("a\u{1B}[2Jb\u{202E}c\u{9B}d\ne") == "a[2Jbcd⏎e")
    #expect(ShownText.lines("a\u{1B}[2Jb\r\nc\u{2028}d\u{7}") == "a[2Jb\nc\nd")
    #expect(ShownText.lines("\u{2066}x\u{2069}") == "x")
  }

  @Test func `piles of marks are cut, and letters of any language are not`() {
    let pile = "e" + String(repeating: "\u{301}", count: 1000)
    #expect(ShownText.line(pile).unicodeScalars.count == 9)
    for text in ["naïve ẑ́", "हिन्दी", "ภาษาไทย", "👩🏽‍❤️‍💋‍👨🏿", "שָׁלוֹם"] {
      #expect(ShownText.lines(text) == text)
    }
  }

  @Test func `text that does not fit ends with an ellipsis`() {
    #expect(ShownText.fit("hello", columns: 5) == "hello")
    #expect(ShownText.fit("hello", columns: 4) == "hel…")
    #expect(ShownText.fit("東京の", columns: 5) == "東京…")
    #expect(ShownText.fit("東京の", columns: 6) == "東京の")
    #expect(ShownText.fit("東京", columns: 1) == "…")
    #expect(ShownText.fit("x", columns: 0) == "")
  }

  @Test func `initials are those of the first and the last word`() {
    #expect(ShownText.initials(of: "Ada King Lovelace") == "AL")
    // Wide ones need one more column each than there is.
    #expect(ShownText.initials(of: "山田 花子") == "山")
    #expect(ShownText.initials(of: "bo") == "B")
    #expect(ShownText.initials(of: "jean-luc") == "JL")
    #expect(ShownText.initials(of: "\u{202E}!?") == "?")
  }

  @Test func `a search ignores case`() {
    let text = "Relay, relay; RELAY"
    #expect(
      ShownText.occurrences(of: "rElay", in: text).map { String(text[$0]) } == [
        "Relay", "relay", "RELAY",
      ])
    #expect(ShownText.occurrences(of: "", in: text).isEmpty)
  }

  @Test func `times are as short as possible and unambiguous`() {
    let now = Sample.time(Sample.now)
    func moment(_ ago: Int64) -> Moment { Moment(time: Sample.time(Sample.now - ago), now: now) }
    let day = Sample.day
    #expect([0, day, 4 * day].map { moment($0).day } == ["Today", "Yesterday", "Mon 17 Nov 2025"])
    #expect(
      [0, day, 4 * day, 8 * day, 400 * day].map { moment($0).brief }
        == ["12:40", "Yesterday", "Mon", "13 Nov", "17 Oct 24"])
    #expect([0, day].map { moment($0).seen } == ["12:40", "yesterday 12:40"])
    #expect(
      [-1, 1, -day].map { moment($0 == 1 ? day : $0).until } == [
        "12:40", "yesterday 12:40", "Sat 22 Nov 2025 12:40",
      ])
    #expect(Moment.left(until: 42_000, now: 0) == "0:42")
    #expect(Moment.left(until: 3_661_000, now: 0) == "1:01:01")
    #expect(Moment.seconds(until: 1, now: 0) == 1)
    #expect(Moment.seconds(until: 0, now: 5) == 0)
  }

  @Test func `links are underlined, also across lines, and matches are highlighted`() {
    var chat = Sample.busy(60, 20)
    chat.search = Chat.Search()
    chat.search?.query = LineEditor("PAGE")
    let key = Message.Key(from: "grace", id: "m4")
    chat.search?.matches = [key]
    chat.timeline?.found = [key]
    let theme = Theme.dark()
    let cells = (0..<20).flatMap { chat.draw(theme).grid[row: $0] }
    let underlined = cells.filter { $0.style.attributes.contains(.underline) }
    #expect(String(underlined.map(\.character)) == "https://example.org/log")
    let found = cells.filter { $0.style.background == theme.currentMatch.background }
    #expect(String(found.map(\.character)) == "page")
  }
}

@Suite struct `A theme` {
  /// WCAG 2.2: the contrast between two colours.
  private func contrast(_ a: Color, _ b: Color) -> Double {
    let (a, b) = (luminance(a), luminance(b))
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)
  }

  private func luminance(_ color: Color) -> Double {
    guard case .rgb(let red, let green, let blue) = color else { return 0 }
    // The curve approximated by a square, which is close enough and needs no power.
    let parts = [red, green, blue].map { (Double($0) / 255) * (Double($0) / 255) }
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
  }

  @Test func `names and texts are readable on their background`() {
    let dark = Theme.dark()
    let light = Theme.light()
    for (theme, screen) in [(dark, Color.rgb(18, 18, 18)), (light, .rgb(255, 255, 255))] {
      for color in theme.people {
        for back in [screen, theme.own.fill.background, theme.other.fill.background] {
          #expect(contrast(color, back) >= 3.5, "\(color) on \(back)")
        }
      }
      for bubble in [theme.own, theme.other, theme.selected] {
        #expect(contrast(bubble.text.foreground, bubble.fill.background) >= 7)
        #expect(contrast(bubble.faint.foreground, bubble.fill.background) >= 4.5)
        #expect(contrast(theme.readMark.foreground, bubble.fill.background) >= 4.5)
      }
      for style in [
        theme.bar, theme.barFaint, theme.selection, theme.current, theme.panel, theme.badge,
        theme.mutedBadge, theme.match, theme.currentMatch,
      ] { #expect(contrast(style.foreground, style.background) >= 4.5, "\(style)") }
      for style in [
        theme.faint, theme.error, theme.accent, theme.good, theme.idle, theme.unreadLine,
      ] {
        #expect(contrast(style.foreground, screen) >= 4.5, "\(style)")
      }
    }
  }

  @Test func `a person has one colour, and persons have many`() {
    let theme = Theme.dark()
    #expect(theme.color(of: "ada") == theme.color(of: "ada"))
    let colors = Set((0..<200).map { theme.color(of: "user\($0)") })
    #expect(colors.count == theme.people.count)
  }

  @Test func `without colors the screen has none, and important text is still marked`() {
    var chat = Sample.room(80, 24)
    chat.pane = .list
    chat.listSelection = "general"
    let cells = (0..<24).flatMap { chat.draw(.plain).grid[row: $0] }
    let isColorless = cells.allSatisfy {
      $0.style.foreground == .standard && $0.style.background == .standard
    }
    #expect(isColorless)
    let selected = chat.draw(.plain).grid[row: 3].prefix(24)
    #expect(selected.allSatisfy { $0.style.attributes.contains(.inverse) })
    let read = Theme.plain.mark(of: .read, faint: Theme.plain.faint).style
    #expect(read != Theme.plain.mark(of: .delivered, faint: Theme.plain.faint).style)
  }

  @Test func `with sixteen colours no other is used`() {
    for theme in [Theme.dark(.sixteen), .light(.sixteen)] {
      let grid = Sample.room(100, 40).draw(theme).grid
      let colors = Set((0..<40).flatMap { grid[row: $0] }.map(\.style.foreground))
      #expect(colors.count > 3)
      for color in colors {
        if case .palette(let index) = color {
          #expect(index < 16)
        } else {
          #expect(color == .standard)
        }
      }
    }
  }
}
