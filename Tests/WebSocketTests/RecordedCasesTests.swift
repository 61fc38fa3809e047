import Testing
import WebSocket

/// Cases of the Autobahn suite, without the suite: see Tests/Conformance.
@Suite struct `Recorded cases of the Autobahn suite` {
  @Test(arguments: RecordedCase.Cut.allCases)
  func `the suite gets the recorded answers again, however its bytes are cut`(
    cut: RecordedCase.Cut
  ) throws {
    for recorded in try RecordedCase.all() {
      #expect(
        recorded.replay(cut) == recorded.answers,
        "case \(recorded.id), as a \(recorded.role), \(cut)")
    }
  }

  @Test func `the record has every section for both roles, and every kind of answer`() throws {
    let recorded = try RecordedCase.all()
    for role in [Role.server, .client] {
      let cases = recorded.filter { $0.role == role }
      let sections = Set(cases.compactMap { Int($0.id.prefix { $0 != "." }) })
      #expect(sections == Set(1...7))
      #expect(cases.count > 200)
      let words = Set(cases.flatMap(\.answers).map { $0.split(separator: " ")[0] })
      #expect(words == ["text", "binary", "pong", "close"])
    }
    for close in ["close 1000", "close 1002", "close 1007", "close"] {
      #expect(recorded.contains { $0.answers.last == close[...] }, "\(close)")
    }
  }
}
