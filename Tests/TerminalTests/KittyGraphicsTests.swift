import Testing

@testable import Terminal

@Suite struct `Pictures by kitty's protocol` {
  private func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).replacing("\u{1B}", with: "␛")
  }

  private func grid(_ places: [(id: UInt32, row: Int)], _ change: (inout Grid) -> Void = { _ in })
    -> Grid
  {
    var grid = Grid(Size(columns: 20, rows: 6))
    grid.write("name", at: Position(column: 6, row: 0), Style())
    for (id, row) in places {
      grid.place(picture: id, in: Rect(column: 2, row: row, columns: 4, rows: 2), Style())
    }
    change(&grid)
    return grid
  }

  private func frame(_ differ: inout Differ, _ grid: Grid) -> String {
    var bytes: [UInt8] = []
    differ.frame(grid, into: &bytes)
    return text(bytes)
  }

  @Test func `a small one is sent at once, a larger one in parts`() {
    #expect(
      text(KittyGraphics.send(7, width: 1, height: 1, [1, 2, 3, 4]))
        == "␛_Ga=t,q=2,f=32,s=1,v=1,i=7,m=0;AQIDBA==␛\\")
    let sent = text(
      KittyGraphics.send(7, width: 64, height: 64, [UInt8](repeating: 0, count: 16_384)))
    let parts = sent.split(separator: "␛\\")
    #expect(parts.count == 6)
    #expect(parts.allSatisfy { ($0.split(separator: ";").last?.count ?? 0) <= 4096 })
    #expect(parts.dropLast().allSatisfy { $0.contains("m=1;") })
    #expect(parts.last?.hasPrefix("␛_Gm=0;") == true)
  }

  @Test func `one is placed once, and costs nothing where it stays`() {
    var differ = Differ()
    let first = frame(&differ, grid([(7, 0)]))
    #expect(first.contains("␛_Ga=p,q=2,i=7,p=3,c=4,r=2,C=1␛\\"))
    #expect(frame(&differ, grid([(7, 0)])) == "")
    // Text elsewhere does not touch it.
    let text = frame(
      &differ, grid([(7, 0)]) { $0.write("x", at: Position(column: 9, row: 4), Style()) })
    #expect(!text.contains("␛_G"))
  }

  @Test func `a part of one is some of its rows of pixels`() {
    var grid = Grid(Size(columns: 20, rows: 6))
    grid.place(
      picture: 7, part: 20..<40, in: Rect(column: 2, row: 1, columns: 4, rows: 1), Style())
    var differ = Differ()
    #expect(frame(&differ, grid).contains("␛_Ga=p,q=2,i=7,p=10003,c=4,r=1,y=20,h=20,C=1␛\\"))
  }

  @Test func `one that moves is removed and placed anew, one that goes is removed`() {
    var differ = Differ()
    _ = frame(&differ, grid([(7, 0), (8, 2)]))
    let moved = frame(&differ, grid([(7, 2), (8, 2)]))
    #expect(moved.contains("␛_Ga=d,q=2,d=i,i=7,p=3␛\\"))
    #expect(moved.contains("␛_Ga=p,q=2,i=7,p=20003,c=4,r=2,C=1␛\\"))
    #expect(!moved.contains("i=8"))
    let gone = frame(&differ, grid([]))
    #expect(gone.contains("i=7,p=20003") && gone.contains("i=8,p=20003"))
    #expect(!gone.contains("a=p"))
  }

  @Test func `the cursor is where the picture is placed, and back at its own place after it`() {
    var differ = Differ()
    _ = frame(&differ, grid([]))
    let placed = frame(
      &differ, grid([(7, 3)]) { $0.cursor = Position(column: 10, row: 5) })
    #expect(placed.contains("␛[4;3H␛_Ga=p"))
    let end = placed.split(separator: "␛\\").last.map(String.init) ?? ""
    #expect(end.contains("H") && !end.contains("␛_G"))
  }

  @Test(arguments: [true, false]) func `all are placed anew after a resize or a redraw`(
    isResize: Bool
  ) {
    var differ = Differ()
    _ = frame(&differ, grid([(7, 0)]))
    if !isResize { differ.forget() }
    var next = Grid(Size(columns: 20, rows: isResize ? 8 : 6))
    next.place(picture: 7, in: Rect(column: 2, row: 0, columns: 4, rows: 2), Style())
    let anew = frame(&differ, next)
    let removed = anew.firstRange(of: "a=d,q=2,d=i,i=7,p=3")
    let placed = anew.firstRange(of: "a=p,q=2,i=7,p=3")
    #expect(removed != nil && placed != nil)
    if let removed, let placed { #expect(removed.lowerBound < placed.lowerBound) }
  }

  @Test func `one that something is drawn over is left out`() {
    let place = Position(column: 4, row: 1)
    #expect(grid([(7, 0)]) { $0.dropCoveredPictures() }.pictures.count == 1)
    let text = grid([(7, 0)]) {
      $0.write("x", at: place, Style())
      $0.dropCoveredPictures()
    }
    #expect(text.pictures.isEmpty)
    let panel = grid([(7, 0), (8, 2)]) {
      $0.fill(
        Rect(column: 0, row: 0, columns: 20, rows: 2), with: Style(.standard, on: .palette(4)))
      $0.dropCoveredPictures()
    }
    #expect(panel.pictures.map(\.id) == [8])
  }

  @Test(arguments: [(-1, 0), (0, -1), (17, 0), (0, 5)])
  func `one that is not within the grid is left out`(column: Int, row: Int) {
    var grid = Grid(Size(columns: 20, rows: 6))
    grid.place(picture: 7, in: Rect(column: column, row: row, columns: 4, rows: 2), Style())
    #expect(grid.pictures.isEmpty)
  }

  // MARK: The question

  @Test(arguments: [
    ("\u{1B}_Gi=31;OK\u{1B}\\", true), ("\u{1B}_Gi=31;EINVAL:no\u{1B}\\", false),
  ]) func `the answer is read, however it is split`(answer: String, isKnown: Bool) {
    let bytes = Array(answer.utf8)
    for split in 0...bytes.count {
      var parser = InputParser()
      let events = parser.parse(bytes[..<split]) + parser.parse(bytes[split...])
      #expect(events == [.reply(.graphics(isKnown: isKnown))])
    }
  }

  @Test(arguments: ["\u{1B}_Gi=30;OK\u{1B}\\", "\u{1B}_hello\u{1B}\\", "\u{1B}]Gi=31;OK\u{1B}\\"])
  func `another string is no answer, and no text`(bytes: String) {
    var parser = InputParser()
    #expect(parser.parse(Array(bytes.utf8)) == [])
  }

  @Test func `tmux, screen and the Linux console are not asked`() {
    for environment in [
      ["TERM": "tmux-256color"], ["TERM": "screen"], ["TERM": "linux"], ["TERM": "dumb"],
      ["TERM": "xterm-kitty", "TMUX": "/tmp/x"],
    ] {
      #expect(!Capabilities(environment: environment).mayHaveGraphics)
    }
    var kitty = Capabilities(environment: ["TERM": "xterm-kitty"])
    #expect(kitty.mayHaveGraphics)
    #expect(!kitty.hasKittyGraphics)
    kitty.refine(with: .graphics(isKnown: true))
    #expect(kitty.hasKittyGraphics)
  }
}
