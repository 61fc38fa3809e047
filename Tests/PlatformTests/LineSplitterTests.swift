import Platform
import Testing

@Suite struct `Splitting into lines` {
  /// All lines of the chunks, with their numbers.
  private func lines(
    of chunks: [String], limitBytes: Int = 8, isOver: Bool = false
  ) -> [(Int, LineSplitter.Line)] {
    var splitter = LineSplitter(limitBytes: limitBytes)
    for chunk in chunks { unsafe splitter.append(Array(chunk.utf8).span.bytes) }
    if isOver { splitter.finish() }
    var lines: [(Int, LineSplitter.Line)] = []
    while let line = splitter.next() { lines.append((splitter.number, line)) }
    return lines
  }

  private func text(_ text: String) -> LineSplitter.Line { .bytes(Array(text.utf8)) }

  @Test func `lines end with LF or CR LF`() {
    #expect(lines(of: ["a\nb\r\n\nc\n"]).map(\.1) == ["a", "b", "", "c"].map(text))
  }

  @Test func `lines are numbered from 1`() {
    #expect(lines(of: ["a\n\nb\n"]).map(\.0) == [1, 2, 3])
  }

  @Test func `a line split anywhere is one line`() {
    #expect(lines(of: ["a", "b", "", "c\r", "\nd"]).map(\.1) == [text("abc")])
  }

  @Test func `the rest is a line at the end only`() {
    #expect(lines(of: ["a\nb"]).map(\.1) == [text("a")])
    #expect(lines(of: ["a\nb"], isOver: true).map(\.1) == ["a", "b"].map(text))
    #expect(lines(of: ["a\n"], isOver: true).map(\.1) == [text("a")])
  }

  @Test func `a line beyond the limit is reported without its bytes`() {
    #expect(lines(of: ["12345678\nx\n"]).map(\.1) == ["12345678", "x"].map(text))
    #expect(lines(of: ["12345", "6789\nx\n"]).map(\.1) == [.tooLong, text("x")])
    #expect(lines(of: ["123456789"], isOver: true).map(\.1) == [.tooLong])
  }
}
