import Testing

@testable import Swarm

@Suite struct `The live view on a terminal` {
  private func lines(_ name: String, _ count: Int = 3) -> [String] {
    (0..<count).map { "\(name) \($0)" }
  }

  @Test func `is drawn in place, and lines scroll above it`() {
    var (block, screen) = (LiveBlock(), Screen(columns: 20, rows: 8))
    screen.take(block.log("first", columns: 20))
    screen.take(block.draw(lines("a"), columns: 20))
    #expect(screen.lines == ["first", "a 0", "a 1", "a 2"])
    screen.take(block.draw(lines("b", 2), columns: 20))
    #expect(screen.lines == ["first", "b 0", "b 1"])
    screen.take(block.log("second", columns: 20))
    #expect(screen.lines == ["first", "second", "b 0", "b 1"])
    for number in 0..<9 { screen.take(block.log("line \(number)", columns: 20)) }
    #expect(screen.lines.suffix(3) == ["line 8", "b 0", "b 1"])
    #expect(screen.history.prefix(3) == ["first", "second", "line 0"])
    screen.take(block.clear(columns: 20))
    #expect(screen.lines.last == "line 8")
  }

  @Test func `is whole after a line that is wider than the terminal`() {
    var (block, screen) = (LiveBlock(), Screen(columns: 10, rows: 12))
    screen.take(block.draw(lines("a"), columns: 10))
    screen.take(block.log("a line of 22 letters..\nand one", columns: 10))
    #expect(screen.lines == ["a line of ", "22 letters", "..", "and one", "a 0", "a 1", "a 2"])
    screen.take(block.draw(lines("b"), columns: 10))
    #expect(screen.lines.suffix(4) == ["and one", "b 0", "b 1", "b 2"])
  }

  @Test func `every piece of output leaves the terminal as it was`() {
    var (block, screen) = (LiveBlock(), Screen(columns: 20, rows: 8))
    let pieces = [
      block.log("x", columns: 20), block.draw(lines("a"), columns: 20),
      block.log("y", columns: 20), block.draw(lines("b"), columns: 15), block.clear(columns: 20),
    ]
    for piece in pieces {
      screen.take(piece)
      #expect(screen.isUsual)
      #expect(screen.column == 0)
    }
  }

  @Test func `the text of a line cannot move the cursor`() {
    var (block, screen) = (LiveBlock(), Screen(columns: 40, rows: 8))
    screen.take(block.draw(lines("a"), columns: 40))
    screen.take(block.log("evil \u{1B}[2J\u{1B}[1;1H\u{9B}2J\rline", columns: 40))
    #expect(screen.lines == ["evil [2J[1;1H2J⏎line", "a 0", "a 1", "a 2"])
  }

  @Test func `a terminal that has become narrower has wrapped the block, which goes as a whole`() {
    var (block, screen) = (LiveBlock(), Screen(columns: 20, rows: 12))
    screen.take(block.log("log", columns: 20))
    screen.take(block.draw(["\u{1B}[1m123456789012345\u{1B}[0m", "short"], columns: 20))
    screen.narrow(to: 10)
    #expect(screen.lines == ["log", "1234567890", "12345", "short"])
    screen.take(block.draw(["x", "y"], columns: 10))
    #expect(screen.lines == ["log", "x", "y"])
  }

  @Test func `after other output it is drawn again below`() {
    var (block, screen) = (LiveBlock(), Screen(columns: 20, rows: 12))
    screen.take(block.draw(lines("a", 1), columns: 20))
    screen.take(Array("$ fg\r\n".utf8))
    block.forget()
    screen.take(block.draw(lines("b", 1), columns: 20))
    #expect(screen.lines == ["a 0", "$ fg", "b 0"])
    #expect(block.clear(columns: 20).isEmpty == false)
  }

  @Test func `nothing shown is nothing to erase`() {
    var block = LiveBlock()
    #expect(block.clear(columns: 20).isEmpty)
    #expect(String(decoding: block.log("plain", columns: 20), as: UTF8.self) == "plain\r\n")
  }
}
