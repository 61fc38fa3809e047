import Archive
import Mixing
import TestSupport
import Testing
import Wire

@Suite struct `A text that was deleted` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `is in no file, nor are its edits, while other texts are`() throws {
    let archive = try Archive(path: folder.file)
    var dice = SplitMix64(seed: 1)
    // Several rooms together, texts of any length: as rows are spread over pages.
    let rooms = (0..<8).map { "room\($0)" }
    var heads: [String: Int64] = [:]
    for room in rooms { archive.begin(room, epoch: "e1", after: 100) }
    func next(_ room: String) -> Int64 {
      heads[room, default: 100] += 1
      return heads[room] ?? 0
    }
    var texts: [(room: String, seq: Int64, marker: String)] = []
    for count in 0..<6000 {
      let room = rooms.randomElement(using: &dice) ?? ""
      let marker = "<\(room)/\(count)>"
      let length = [5, 50, 300, 8000].randomElement(using: &dice) ?? 0
      let text = marker + String(repeating: "x", count: count % 100 == 0 ? length : length % 400)
      if count % 5 == 4, let other = texts.last(where: { $0.room == room }) {
        archive.append(.edit(next(room), of: other.seq, other.marker + text, room: room))
      } else {
        let seq = next(room)
        archive.append(.text(seq, text, room: room))
        texts.append((room, seq, marker))
      }
      if count % 50 == 0 { try archive.flush() }
    }
    let deleted = texts.filter { _ in Int.random(in: 0..<4, using: &dice) == 0 }
    for text in deleted {
      archive.append(.delete(next(text.room), of: text.seq, room: text.room))
    }
    try archive.flush()
    // While it is open: it takes a moment until the write-ahead log is empty.
    let gone = try becomesTrue {
      try folder.contents().markers.isDisjoint(with: deleted.map(\.marker))
    }
    #expect(gone)
    let kept = Set(texts.map(\.marker)).subtracting(deleted.map(\.marker))
    #expect(try kept.isSubset(of: folder.contents().markers))
    #expect(try archive.entry(deleted[0].room, deleted[0].seq)?.isDeleted == true)
  }

  @Test func `may be data, which is deleted as well`() throws {
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 0)
    archive.append(
      Entry(
        room: "general", seq: 1, id: "1", from: "ada", at: 1, kind: .data,
        body: Array("\"data\":{\"secret\":1}".utf8)))
    archive.append(.delete(2, of: 1))
    #expect(try archive.page(of: "general", limit: 5).map(\.isDeleted) == [true])
    try archive.close()
    #expect(try !folder.contents().contains("secret"))
  }

  @Test func `stays deleted when an older page arrives that still has it`() throws {
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 3)
    archive.append(.edit(4, of: 2, "secret edit"))
    archive.append(.delete(5, of: 2))
    #expect(
      try archive.prepend(
        [.text(1), .text(2, "secret"), .edit(3, of: 2, "secret too")], to: "general"))
    #expect(try archive.entry("general", 2)?.isDeleted == true)
    #expect(try archive.entry("general", 1) == .text(1))
    try archive.close()
    #expect(try !folder.contents().contains("secret"))
  }
}
