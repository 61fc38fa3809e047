import Testing
import Wire

@testable import Relay

@Suite struct `What entries have of a person` {
  private func forward(_ seq: Int64, by user: String, of source: Int64, from: String) -> Entry {
    var body = Array("\"text\":\"hers\",\"forward\":".utf8)
    Forward(room: "tea", seq: source, from: from).append(to: &body)
    return Entry(room: "tea", seq: seq, id: "\(seq)", from: user, at: 1, kind: .text, body: body)
  }

  private func kind(_ record: PersonRecord?) -> String? {
    switch record {
    case .entry: "own"
    case .forward: "forward"
    default: nil
    }
  }

  @Test func `a forward of a forward has the text as well`() {
    var filter = PersonFilter("bo")
    let own = Entry(
      room: "tea", seq: 1, id: "1", from: "bo", at: 1, kind: .text,
      body: Array("\"text\":\"x\"".utf8))
    #expect(kind(filter.record(of: own)) == "own")
    #expect(kind(filter.record(of: forward(2, by: "ada", of: 1, from: "bo"))) == "forward")
    #expect(kind(filter.record(of: forward(3, by: "cy", of: 2, from: "ada"))) == "forward")
    #expect(filter.record(of: forward(4, by: "cy", of: 9, from: "ada")) == nil)
    #expect(kind(filter.record(of: forward(5, by: "bo", of: 9, from: "ada"))) == "own")
  }

  @Test func `nothing is erased of an entry without content of its own, or of one that was erased`()
  {
    func erased(_ kind: EntryKind, _ body: String) -> String? {
      Entry(
        room: "tea", seq: 7, id: "1", from: "bo", at: 1, kind: kind, body: Array(body.utf8)
      ).erasedBody.map { String(decoding: $0, as: UTF8.self) }
    }
    let bodies: [(EntryKind, String)] = [
      (.text, #""text":"x","reply_to":3"#), (.data, #""data":{"a":1}"#),
      (.edit, #""target":3,"text":"x""#), (.react, #""target":3,"emoji":"👍","on":true"#),
      (.member, #""user":"ada","role":"banned","until":9,"reason":"x""#),
    ]
    for (kind, body) in bodies {
      let once = erased(kind, body)
      #expect(once != nil)
      #expect(once.map { erased(kind, $0) } == .some(nil))
    }
    #expect(
      erased(.member, #""user":"ada","role":"banned","until":9,"reason":"x""#)
        == #""user":"ada","role":"banned","until":9"#)
    #expect(erased(.delete, #""target":3"#) == nil)
    #expect(erased(.settings, #""title":"Tea""#) == nil)
  }
}
