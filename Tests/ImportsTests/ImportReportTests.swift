import Testing

@testable import Imports

@Suite struct `Report of an import` {
  @Test func `names neither move the cursor nor change the direction of the text`() {
    var report = ImportReport()
    report.leaveOut("a\u{1B}[2J\u{9B}2J\u{202E}b", because: "it is private")
    #expect(report.text.contains("\n  a[2J2Jb: it is private\n"))
  }
}
