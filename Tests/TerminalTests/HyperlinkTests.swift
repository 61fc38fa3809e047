import Mixing
import Testing

@testable import Terminal

@Suite struct `Links of a grid` {
  private static let size = Size(columns: 12, rows: 4)

  private func link(_ url: String, id: UInt32 = 7) throws -> Grid.Link {
    try #require(Grid.Link(url, id: id))
  }

  private func write(
    _ text: String, _ link: Grid.Link, at column: Int, _ row: Int, in grid: inout Grid
  ) {
    var style = Style()
    style.link = grid.number(of: link)
    grid.write(text, at: Position(column: column, row: row), style)
  }

  private func frame(_ grid: Grid, _ differ: inout Differ) -> String {
    var bytes: [UInt8] = []
    differ.frame(grid, into: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let start = "\u{1B}[?25l\u{1B}[m\u{1B}[H\u{1B}[2J"
  private static let close = "\u{1B}]8;;\u{1B}\\"

  @Test func `a wrapped link has one id, and is closed before the cursor moves`() throws {
    var grid = Grid(Self.size)
    let link = try link("https://a.example/b")
    write("https:", link, at: 2, 0, in: &grid)
    write("//a.e", link, at: 0, 1, in: &grid)
    grid.write(" x", at: Position(column: 5, row: 1), Style())
    grid.cursor = Position(column: 0, row: 3)
    var differ = Differ(showsLinks: true)
    let open = "\u{1B}]8;id=7;https://a.example/b\u{1B}\\"
    #expect(
      frame(grid, &differ)
        == Self.close + Self.start + "\u{1B}[1;3H\(open)https:\(Self.close)\u{1B}[2H"
        + "\(open)//a.e\(Self.close)\u{1B}[Cx\u{1B}[4H\u{1B}[?25h")
    #expect(frame(grid, &differ) == "")
  }

  @Test func `one link follows another, and the last is closed at the end of the frame`() throws {
    var grid = Grid(Self.size)
    write("ab", try link("http://a/", id: 1), at: 0, 0, in: &grid)
    write("cd", try link("http://c/", id: 2), at: 2, 0, in: &grid)
    var differ = Differ(showsLinks: true)
    #expect(
      frame(grid, &differ)
        == Self.close + Self.start + "\u{1B}[H\u{1B}]8;id=1;http://a/\u{1B}\\ab"
        + "\u{1B}]8;id=2;http://c/\u{1B}\\cd" + Self.close)
  }

  @Test func `a frame that changes only the link writes its cells again, and no others`() throws {
    var grid = Grid(Self.size)
    write("ab", try link("http://a/"), at: 1, 0, in: &grid)
    grid.write("same", at: Position(column: 0, row: 2), Style())
    var differ = Differ(showsLinks: true)
    _ = frame(grid, &differ)
    var next = Grid(Self.size)
    write("ab", try link("http://b/"), at: 1, 0, in: &next)
    next.write("same", at: Position(column: 0, row: 2), Style())
    #expect(
      frame(next, &differ)
        == "\u{1B}[1;2H\u{1B}]8;id=7;http://b/\u{1B}\\ab" + Self.close)
    next.write("ab", at: Position(column: 1, row: 0), Style())
    #expect(frame(next, &differ) == "\u{1B}[2Gab")
  }

  @Test func `another number in the next frame is no change`() throws {
    let (one, two) = (try link("http://a/", id: 1), try link("http://b/", id: 2))
    var grid = Grid(Self.size)
    write("one", one, at: 0, 0, in: &grid)
    write("two", two, at: 0, 1, in: &grid)
    var differ = Differ(showsLinks: true)
    _ = frame(grid, &differ)
    var next = Grid(Self.size)
    write("two", two, at: 0, 1, in: &next)
    write("one", one, at: 0, 0, in: &next)
    #expect(frame(next, &differ) == "")
    next.fill(Rect(column: 0, row: 0, columns: 3, rows: 1), with: Style())
    #expect(!frame(next, &differ).contains("]8;id"))
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `the terminal has the links of the grid, in all frames`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let all = try (0..<8).map { try link("https://example.org/\($0)", id: UInt32($0 % 3)) }
    var differ = Differ(isSynchronized: seed % 2 == 0, showsLinks: true)
    var screen = Screen(`The differ`.size)
    for _ in 0..<40 {
      var grid = Grid(`The differ`.size)
      for _ in 0..<12 {
        let place = Position(
          column: .random(in: -3..<37, using: &random), row: .random(in: 0..<9, using: &random))
        var style = `The differ`.styles.randomElement(using: &random) ?? Style()
        if Bool.random(using: &random), let link = all.randomElement(using: &random) {
          style.link = grid.number(of: link)
        }
        let text = (0..<3).map { _ in
          `The differ`.pieces.randomElement(using: &random) ?? ""
        }.joined()
        grid.write(text, at: place, style)
      }
      if Int.random(in: 0..<10, using: &random) == 0 { differ.forget() }
      var bytes: [UInt8] = []
      differ.frame(grid, into: &bytes)
      screen.show(bytes)
      #expect(screen.complaints == [])
      #expect(screen.difference(from: grid) == nil)
      #expect(screen.link == "")
      for row in 0..<grid.size.rows {
        let meant = grid[row: row].map { cell in
          cell.style.link == 0
            ? ""
            : "id=\(grid.links[Int(cell.style.link) - 1].id);"
              + grid.links[Int(cell.style.link) - 1].url
        }
        #expect(screen.links[row] == meant)
      }
    }
  }

  @Test func `nothing is written where they are turned off`() throws {
    var grid = Grid(Self.size)
    write("ab", try link("http://a/"), at: 1, 0, in: &grid)
    var plain = Grid(Self.size)
    plain.write("ab", at: Position(column: 1, row: 0), Style())
    var (differ, other) = (Differ(), Differ())
    #expect(frame(grid, &differ) == frame(plain, &other))
  }

  @Test(arguments: [
    "http://a/\u{1B}]0;owned\u{7}", "http://a/\u{1B}\\x", "http://a/\u{7}", "http://a/\u{9C}x",
    "http://a/\u{9B}2J", "http://a/\n", "http://a/\r\nb", "http://a/\u{7F}", "http://a/\0",
    "javascript:alert(1)", "file:///etc/passwd", "ftp://a/", "https:/a", "//a", "",
  ]) func `a text that could harm is no link`(url: String) {
    #expect(Grid.Link(url, id: 1) == nil)
  }

  @Test(arguments: [
    ("HTTPS://a/?b=c;d&e#f", "HTTPS://a/?b=c;d&e#f"),
    ("https://a/ä 世%20", "https://a/%C3%A4%20%E4%B8%96%20"),
    ("https://a/\u{202E}x", "https://a/%E2%80%AEx"), ("http://ü.example", "http://%C3%BC.example"),
  ]) func `only printable ASCII is written`(url: String, written: String) throws {
    #expect(try link(url).url == written)
  }

  @Test func `a longer URL than terminals take is no link, also one that grew`() {
    let start = "https://a/"
    let most = Grid.Link.urlLimitBytes - start.count
    #expect(Grid.Link(start + String(repeating: "x", count: most), id: 1) != nil)
    #expect(Grid.Link(start + String(repeating: "x", count: most + 1), id: 1) == nil)
    #expect(Grid.Link(start + String(repeating: "ä", count: most / 4), id: 1) == nil)
  }

  @Test func `more links than a frame may have are text`() throws {
    var grid = Grid(Self.size)
    for index in 0..<Grid.linkLimit {
      #expect(grid.number(of: try link("http://a/\(index)")) == UInt8(index + 1))
    }
    #expect(grid.number(of: try link("http://b/")) == 0)
    #expect(grid.number(of: try link("http://a/0")) == 1)
  }

  @Test(arguments: [
    (["TERM": "xterm-kitty"], true), (["TERM": "xterm-256color"], false),
    (["TERM": "xterm-256color", "VTE_VERSION": "7402"], true),
    (["TERM": "xterm-256color", "VTE_VERSION": "5000"], false),
    (["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"], true),
    (["TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"], false),
    (["TERM": "xterm-256color", "WT_SESSION": "x"], true),
    (["TERM": "xterm-256color", "KONSOLE_VERSION": "230804"], true), (["TERM": "linux"], false),
    (["TERM": "foot"], true), (["TERM": "dumb", "VTE_VERSION": "7402"], false),
    (["TERM": "screen", "KITTY_WINDOW_ID": "1"], false),
    (["TERM": "tmux-256color", "TMUX": "/x", "KITTY_WINDOW_ID": "1"], false),
    (["TERM": "tmux-256color"], false),
    (
      ["TERM": "screen", "TMUX": "/x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"], true
    ),
    (
      ["TMUX": "/x", "TERM": "tmux", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"], false
    ),
    (["TMUX": "/x", "TERM": "tmux", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.10"], true),
    (
      ["TMUX": "/x", "TERM": "tmux", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "next-3.6"],
      true
    ),
    (
      ["TMUX": "/x", "TERM": "tmux", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "master"],
      false
    ),
    (
      ["TMUX": "/x", "TERM": "tmux", "TERM_PROGRAM": "WezTerm", "TERM_PROGRAM_VERSION": "9.9"],
      false
    ),
    ([:], false),
  ])
  func `are written to terminals that have them`(environment: [String: String], hasLinks: Bool) {
    #expect(Capabilities(environment: environment).hasLinks == hasLinks)
  }
}
