import Testing

@testable import Terminal

@Suite struct `A grid` {
  @Test func `text is cut at its edge`() {
    var grid = Grid(Size(columns: 4, rows: 1))
    #expect(grid.write("hello", at: Position(column: 1, row: 0), Style()) == 3)
    #expect(grid[row: 0].map(\.character) == [" ", "h", "e", "l"])
  }

  @Test func `a wide cluster that would be cut in half is left out`() {
    var grid = Grid(Size(columns: 4, rows: 1))
    #expect(grid.write("世界人", at: Position(column: 1, row: 0), Style()) == 2)
    #expect(grid.text(row: 0) == " 世")
    #expect(grid.write("世界", at: Position(column: -1, row: 0), Style(.palette(1))) == 4)
    #expect(grid[row: 0].map(\.width) == [1, 2, 0, 1])
    #expect(grid.text(row: 0) == " 界")
  }

  @Test func `text that begins left of it shows its remainder`() {
    var grid = Grid(Size(columns: 4, rows: 1))
    #expect(grid.write("hello", at: Position(column: -2, row: 0), Style()) == 5)
    #expect(grid.text(row: 0) == "llo")
    #expect(grid.write("hello", at: Position(column: -9, row: 0), Style(), columns: 3) == 3)
  }

  @Test func `places outside it are left alone`() {
    var grid = Grid(Size(columns: 4, rows: 2))
    let before = grid
    for place in [(0, -1), (0, 2), (4, 0), (.max, 0), (.min / 2, 0)] {
      grid.write("x", at: Position(column: place.0, row: place.1), Style())
    }
    grid.fill(Rect(column: 4, row: 0, columns: .max, rows: .max), with: Style(.palette(1)))
    grid.fill(Rect(column: -5, row: -5, columns: 5, rows: 5), with: Style(.palette(1)))
    grid.fill(Rect(column: 1, row: 1, columns: -1, rows: 1), with: Style(.palette(1)))
    #expect(grid == before)
    #expect(Grid(Size(columns: -1, rows: 5)).size == Size(columns: 0, rows: 5))
  }

  @Test func `half of a wide cluster that is overwritten becomes a blank`() {
    for column in [1, 2] {
      var grid = Grid(Size(columns: 4, rows: 1))
      grid.write("世", at: Position(column: 1, row: 0), Style())
      grid.write("x", at: Position(column: column, row: 0), Style())
      #expect(grid[row: 0].map(\.width) == [1, 1, 1, 1])
      #expect(grid.text(row: 0) == (column == 1 ? " x" : "  x"))
    }
    var grid = Grid(Size(columns: 6, rows: 1))
    grid.write("世界", at: Position(column: 1, row: 0), Style())
    grid.write("人", at: Position(column: 2, row: 0), Style())
    #expect(grid[row: 0].map(\.width) == [1, 1, 2, 0, 1, 1])
  }

  @Test func `characters without width are not written`() {
    var grid = Grid(Size(columns: 8, rows: 1))
    grid.write(
      "a\u{1B}[2Jb\u{9B}\r\n\u{7F}\u{202E}c\u{200B}\t", at: .init(column: 0, row: 0), Style())
    #expect(grid.text(row: 0) == "a[2Jbc")
    grid.write("\u{301}x", at: .init(column: 0, row: 0), Style())
    #expect(grid.text(row: 0) == "x[2Jbc")
  }

  @Test func `a mark stays with the letter before it`() {
    var grid = Grid(Size(columns: 8, rows: 1))
    #expect(grid.write("abe\u{301}d", at: .init(column: 0, row: 0), Style()) == 4)
    #expect(grid[row: 0].prefix(4).map(\.character) == ["a", "b", "e\u{301}", "d"])
  }

  @Test func `a letter with a thousand marks keeps some of them`() {
    var grid = Grid(Size(columns: 8, rows: 1))
    let marks = String(repeating: "\u{301}", count: 1000)
    grid.write("a\(marks)b", at: .init(column: 0, row: 0), Style())
    #expect(grid[row: 0].map(\.width).allSatisfy { $0 == 1 })
    #expect((32...64).contains(grid[row: 0][0].character.utf8.count))
    #expect(grid[row: 0][1].character == "b")
  }

  @Test func `a default background keeps the existing one`() {
    var grid = Grid(Size(columns: 3, rows: 1), style: Style(on: .palette(4)))
    grid.write("é世", at: .init(column: 0, row: 0), Style(.palette(1)))
    #expect(
      grid[row: 0].map(\.style) == Array(repeating: Style(.palette(1), on: .palette(4)), count: 3))
  }

  @Test func `both halves of a wide cluster always look the same`() {
    var grid = Grid(Size(columns: 4, rows: 1))
    grid.write("世", at: .init(column: 1, row: 0), Style())
    grid.restyle(Rect(column: 2, row: 0, columns: 2, rows: 1)) { $0.attributes = .bold }
    #expect(grid[row: 0].map(\.style.attributes) == [[], [], [], .bold])
    grid.restyle(Rect(column: 0, row: 0, columns: 2, rows: 1)) { $0.attributes = .dim }
    #expect(grid[row: 0].map(\.style.attributes) == [.dim, .dim, .dim, .bold])
  }
}
