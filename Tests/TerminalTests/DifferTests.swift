import Mixing
import Testing

@testable import Terminal

@Suite struct `The differ` {
  static let size = Size(columns: 37, rows: 9)

  /// The content of a screen: letters, wide ones, marks, every kind of emoji, zero-width ones.
  static let pieces = [
    "hello", "Ünïcödé", "世界", "e\u{301}tude", "👍", "👍🏽", "👨‍👩‍👧‍👦", "🇦🇹", "❤️", "1️⃣", "한국", "กำ",
    "क्षि", "שלום", "مرحبا", "\u{200B}", "\u{1B}[31m", "─│┌", "…", "\u{1FAE9}", "⌚\u{FE0E}",
  ]

  static let styles = [
    Style(), Style(.palette(3)), Style(.rgb(200, 30, 90), on: .rgb(20, 20, 40)),
    Style(.standard, on: .palette(236), [.bold]), Style(.palette(12), [.dim, .italic]),
    Style(.standard, [.underline]), Style(.standard, on: .standard, [.inverse, .strikethrough]),
  ]

  /// A few changes of a grid, from a seed.
  static func change(_ grid: inout Grid, with random: inout SplitMix64) {
    for _ in 0..<Int.random(in: 0...6, using: &random) {
      let place = Position(
        column: .random(in: -3..<size.columns, using: &random),
        row: .random(in: 0..<size.rows, using: &random))
      let style = styles.randomElement(using: &random) ?? Style()
      switch Int.random(in: 0..<8, using: &random) {
      case 0:
        grid.fill(
          Rect(column: place.column, row: place.row, columns: 12, rows: 3), with: style)
      case 1:
        grid.restyle(Rect(column: place.column, row: place.row, columns: 9, rows: 2)) {
          $0 = style
        }
      default:
        let text = (0..<3).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
        grid.write(text, at: place, style, columns: .random(in: 0...20, using: &random))
      }
    }
    grid.cursor =
      Bool.random(using: &random)
      ? Position(
        column: .random(in: 0..<size.columns, using: &random),
        row: .random(in: 0..<size.rows, using: &random)) : nil
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func `the output makes a terminal show the grid`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var grid = Grid(Self.size)
    var differ = Differ(isSynchronized: seed % 2 == 0)
    var screen = Screen(Self.size)
    for _ in 0..<40 {
      Self.change(&grid, with: &random)
      if Int.random(in: 0..<20, using: &random) == 0 { differ.forget() }
      var bytes: [UInt8] = []
      differ.frame(grid, into: &bytes)
      screen.show(bytes)
      #expect(screen.complaints == [])
      #expect(screen.difference(from: grid) == nil)
      #expect(!screen.isSynchronized)
    }
  }

  @Test(arguments: [Screen.Widths.scalars, .narrow], 0..<20 as Range<UInt64>)
  func `columns stay straight on a terminal with other widths`(
    widths: Screen.Widths, seed: UInt64
  ) {
    var random = SplitMix64(seed: seed)
    var grid = Grid(Self.size)
    var differ = Differ()
    var screen = Screen(Self.size, widths: widths)
    for _ in 0..<40 {
      Self.change(&grid, with: &random)
      // At the right edge there is no room for an error.
      grid.fill(Rect(column: Self.size.columns - 10, row: 0, columns: 10, rows: 9), with: Style())
      var bytes: [UInt8] = []
      differ.frame(grid, into: &bytes)
      screen.show(bytes)
      #expect(screen.difference(from: grid, certainOnly: true) == nil)
    }
  }

  @Test(arguments: [ColorDepth.none, .colors16, .colors256])
  func `colours are lowered to what the terminal shows`(depth: ColorDepth) {
    var random = SplitMix64(seed: 7)
    var grid = Grid(Self.size)
    var differ = Differ(depth: depth)
    var screen = Screen(Self.size)
    for _ in 0..<40 {
      Self.change(&grid, with: &random)
      var bytes: [UInt8] = []
      differ.frame(grid, into: &bytes)
      screen.show(bytes)
      #expect(screen.deepest <= depth)
      #expect(screen.difference(from: grid, depth: depth) == nil)
    }
  }

  @Test func `without a change nothing is written`() {
    var grid = Grid(Self.size)
    grid.write("hello 世界 👨‍👩‍👧‍👦", at: Position(column: 0, row: 0), Style(.palette(2)))
    grid.cursor = Position(column: 3, row: 3)
    var differ = Differ(isSynchronized: true)
    var bytes: [UInt8] = []
    differ.frame(grid, into: &bytes)
    let count = bytes.count
    differ.frame(grid, into: &bytes)
    #expect(count > 0)
    #expect(bytes.count == count)
  }

  @Test func `one letter costs a few bytes, and a cursor movement does too`() {
    var grid = Grid(Size(columns: 80, rows: 24))
    grid.cursor = Position(column: 10, row: 20)
    var differ = Differ()
    var bytes: [UInt8] = []
    differ.frame(grid, into: &bytes)
    grid.write("x", at: Position(column: 10, row: 20), Style())
    grid.cursor = Position(column: 11, row: 20)
    bytes = []
    differ.frame(grid, into: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "\u{1B}[?25lx\u{1B}[?25h")
    grid.cursor = Position(column: 9, row: 20)
    bytes = []
    differ.frame(grid, into: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == "\u{1B}[10G")
  }

  @Test func `a frame is enclosed in synchronized output if the terminal supports it`() {
    var differ = Differ(isSynchronized: true)
    var bytes: [UInt8] = []
    differ.frame(Grid(Size(columns: 2, rows: 1)), into: &bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.hasPrefix("\u{1B}[?2026h"))
    #expect(text.hasSuffix("\u{1B}[?2026l"))
  }

  @Test func `after a new size or a forgotten screen everything is written`() {
    var differ = Differ()
    var grid = Grid(Size(columns: 5, rows: 2))
    grid.write("ab", at: Position(column: 0, row: 0), Style())
    var bytes: [UInt8] = []
    differ.frame(grid, into: &bytes)
    differ.forget()
    for size in [grid.size, Size(columns: 9, rows: 1)] {
      grid = Grid(size)
      grid.write("ab", at: Position(column: 1, row: 0), Style())
      bytes = []
      differ.frame(grid, into: &bytes)
      var screen = Screen(size)
      screen.show(bytes)
      #expect(screen.difference(from: grid) == nil)
    }
  }

  @Test func `a cursor outside the screen is hidden`() {
    var differ = Differ()
    var grid = Grid(Size(columns: 5, rows: 2))
    grid.cursor = Position(column: 5, row: 0)
    var bytes: [UInt8] = []
    differ.frame(grid, into: &bytes)
    #expect(!String(decoding: bytes, as: UTF8.self).contains("?25h"))
  }
}
