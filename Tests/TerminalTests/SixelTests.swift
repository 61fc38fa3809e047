import Testing

@testable import Terminal

@Suite struct `Pictures as sixels` {
  private func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).replacing("\u{1B}", with: "␛")
  }

  private let red: [UInt8] = [255, 0, 0, 255]
  private let blue: [UInt8] = [0, 0, 255, 255]
  private let clear: [UInt8] = [9, 9, 9, 0]

  @Test func `have a band for six rows, and each colour of it once`() {
    // Two columns, the left one red; seven rows, the last one blue in the right column only.
    let pixels = (0..<6).flatMap { _ in red + clear } + clear + blue
    #expect(
      text(Sixel.encode(width: 2, height: 7, pixels[...]))
        == "␛P0;1q\"1;1;2;7#5;2;0;0;100#180;2;100;0;0#180~?$-#5?@$-␛\\")
  }

  @Test func `count columns that are equal`() {
    let pixels = Array(repeating: red, count: 100).flatMap(\.self)
    #expect(text(Sixel.encode(width: 100, height: 1, pixels[...])).contains("#180!100@$-"))
  }

  @Test func `of noise are bounded`() {
    var state: UInt32 = 1
    let pixels = (0..<4 * 400 * 20).map { index -> UInt8 in
      state = state &* 1_664_525 &+ 1_013_904_223
      return index % 4 == 3 ? 255 : UInt8(state >> 24)
    }
    #expect(Sixel.encode(width: 400, height: 20, pixels[...]).count < 400 * 20 * 12)
  }

  private func grid(row: Int?, _ change: (inout Grid) -> Void = { _ in }) -> Grid {
    var grid = Grid(Size(columns: 20, rows: 6))
    grid.write("name", at: Position(column: 0, row: 0), Style())
    if let row {
      grid.place(
        sixels: Sixel.encode(width: 1, height: 1, red[...]),
        in: Rect(column: 2, row: row, columns: 4, rows: 1), Style())
    }
    change(&grid)
    return grid
  }

  private func frame(_ differ: inout Differ, _ grid: Grid) -> String {
    var bytes: [UInt8] = []
    differ.frame(grid, into: &bytes)
    return text(bytes)
  }

  @Test func `are written once, and again with what is written beside them`() {
    var differ = Differ()
    #expect(frame(&differ, grid(row: 1)).contains("␛[2;3H␛P0;1q"))
    #expect(frame(&differ, grid(row: 1)) == "")
    let elsewhere = frame(
      &differ, grid(row: 1) { $0.write("x", at: Position(column: 9, row: 4), Style()) })
    #expect(!elsewhere.contains("␛P"))
    let beside = frame(
      &differ, grid(row: 1) { $0.write("x", at: Position(column: 9, row: 1), Style()) })
    #expect(beside.contains("␛P0;1q"))
  }

  @Test func `that go or move leave blanks, which are written over them`() {
    var differ = Differ()
    _ = frame(&differ, grid(row: 1))
    let moved = frame(&differ, grid(row: 2))
    #expect(moved.contains("␛[2;3H␛[K"), "\(moved)")
    #expect(moved.contains("␛[3;3H␛P0;1q"), "\(moved)")
    let gone = frame(&differ, grid(row: nil))
    #expect(gone.contains("␛[3;3H␛[K") && !gone.contains("␛P"), "\(gone)")
    #expect(!gone.contains("␛_G") && !moved.contains("␛_G"))
  }

  @Test func `are never on the last row, where they would scroll the screen`() {
    #expect(grid(row: 4).pictures.count == 1)
    #expect(grid(row: 5).pictures.isEmpty)
  }
}
