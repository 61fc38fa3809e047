import Testing

@testable import Terminal

@Suite struct `A QR code on the terminal` {
  /// A square of modules that looks like noise.
  private static func rows(_ side: Int) -> [String] {
    (0..<side).map { row in
      String(
        (0..<side).map { column -> Character in
          (row * row + 3 * row * column + column * column) % 7 < 3 ? "1" : "0"
        })
    }
  }

  /// Reads the modules from cells: the upper half has the foreground, the lower one the background.
  private func modules(_ grid: Grid) -> [[Bool]] {
    let dark = Color.rgb(0, 0, 0)
    var modules: [[Bool]] = []
    for row in 0..<grid.size.rows {
      let cells = grid[row: row]
      let lower = cells.map { $0.style.background == dark }
      let upper = cells.map { cell in
        dark == (cell.character == " " ? cell.style.background : cell.style.foreground)
      }
      modules += [upper, lower]
    }
    return modules
  }

  @Test(arguments: [21, 33, 57], QRCode.quietZones)
  func `has every module, within its quiet zone`(side: Int, zone: Int) throws {
    let rows = Self.rows(side)
    let code = try #require(QRCode(rows))
    let size = code.size(quietZone: zone)
    #expect(size.columns == side + 2 * zone)
    var grid = Grid(size, style: Style(.standard, on: .palette(4)))
    code.draw(at: Position(column: 0, row: 0), quietZone: zone, into: &grid)
    let shown = modules(grid)
    for row in shown.indices {
      for column in 0..<size.columns {
        let (y, x) = (row - zone, column - zone)
        let isIn = rows.indices.contains(y) && rows.indices.contains(x)
        let isDark = isIn && Array(rows[y])[x] == "1"
        if shown[row][column] != isDark { Issue.record("row \(row), column \(column)") }
      }
    }
    // By its own colours: neither the terminal's background nor its foreground is seen.
    for row in 0..<size.rows {
      #expect(
        grid[row: row].allSatisfy {
          [Color.rgb(0, 0, 0), .rgb(255, 255, 255)].contains($0.style.background)
        })
    }
  }

  @Test(arguments: [ColorDepth.colors16, .colors256, .trueColor])
  func `is the same as lines, in the colours that the terminal has`(depth: ColorDepth) throws {
    let code = try #require(QRCode(Self.rows(25)))
    let size = code.size(quietZone: 4)
    var screen = Screen(Size(columns: size.columns, rows: size.rows))
    // Where a terminal would begin a line, the cursor is moved.
    for (row, line) in code.lines(quietZone: 4, depth: depth).split(separator: 0x0A).enumerated() {
      screen.show(Array("\u{1B}[\(row + 1)H".utf8) + line)
    }
    #expect(screen.complaints == [])
    var grid = Grid(size)
    code.draw(at: Position(column: 0, row: 0), quietZone: 4, into: &grid)
    #expect(screen.difference(from: grid, depth: depth) == nil)
  }

  @Test func `has the widest quiet zone that fits, or is not shown`() throws {
    let code = try #require(QRCode(Self.rows(33)))
    #expect(code.quietZone(within: Size(columns: 41, rows: 21)) == 4)
    #expect(code.quietZone(within: Size(columns: 40, rows: 21)) == 2)
    #expect(code.quietZone(within: Size(columns: 37, rows: 19)) == 2)
    #expect(code.quietZone(within: Size(columns: 36, rows: 40)) == nil)
    #expect(code.quietZone(within: Size(columns: 80, rows: 18)) == nil)
  }

  @Test func `is a square of a known side, and of zeros and ones`() {
    #expect(QRCode([]) == nil)
    #expect(QRCode(Self.rows(22)) == nil)
    #expect(QRCode(Self.rows(181)) == nil)
    #expect(QRCode(Self.rows(177)) != nil)
    #expect(QRCode(Array(Self.rows(21).dropLast())) == nil)
    var rows = Self.rows(21)
    rows[3] = "\u{1B}" + rows[3].dropFirst()
    #expect(QRCode(rows) == nil)
    rows[3] = "1"
    #expect(QRCode(rows) == nil)
  }

  @Test(arguments: [
    ([:], false), (["LANG": "C"], false), (["LANG": "de_DE.UTF-8"], true),
    (["LANG": "C.utf8"], true), (["LC_ALL": "POSIX", "LANG": "C.UTF-8"], false),
    (["LC_ALL": "", "LC_CTYPE": "C.UTF-8"], true),
  ])
  func `needs UTF-8, which the locale has`(environment: [String: String], has: Bool) {
    #expect(Capabilities(environment: environment).hasUTF8 == has)
  }
}
