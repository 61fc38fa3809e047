import Archive
import Mixing
import TestSupport
import Testing
import Wire

extension Archive {
  /// The seqs that a search finds, after all of its steps, in order.
  func found(_ text: String, room: String? = nil, wanted: Int = 100) throws -> [Int64] {
    try search(text, room: room, wanted: wanted).found.map(\.seq)
  }

  func search(_ text: String, room: String? = nil, wanted: Int = 100) throws -> Search {
    var search = Search(text, room: room)
    while !search.isComplete, search.found.count < wanted { try advance(&search, wanted: wanted) }
    return search
  }
}

extension TemporaryFolder {
  /// Waits until the index has every entry, and nothing that it should not have.
  func waitForIndex() throws {
    let isDone = try becomesTrue {
      try sql(
        """
        SELECT through = (SELECT max(position) FROM entries) AND is_urgent = 0 AND is_merging = 0
          AND NOT EXISTS (SELECT 1 FROM unindexing) FROM indexing
        """, on: file) == 1
    }
    guard isDone else { throw Unexpected("the index is not complete") }
  }
}

/// Adds a room with enough entries that all existing ones are indexed.
private func fill(_ archive: Archive) throws {
  archive.begin("filler", epoch: "e1", after: 0)
  for seq in 1...3000 as ClosedRange<Int64> {
    archive.append(.text(seq, "filler \(seq)", room: "filler"))
  }
  try archive.flush()
}

@Suite struct `A search of the archive` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// What was received, with its index or without.
  private func archive(isIndexed: Bool, _ body: (Archive) throws -> Void) throws -> Archive {
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 0)
    try body(archive)
    if isIndexed {
      try fill(archive)
      try folder.waitForIndex()
    } else {
      try archive.flush()
    }
    return archive
  }

  @Test(arguments: [true, false])
  func `finds words by their beginnings, in any order, in all rooms, the newest first`(
    isIndexed: Bool
  ) throws {
    let archive = try archive(isIndexed: isIndexed) { archive in
      archive.begin("tea", epoch: "e1", after: 3)
      for (seq, text) in ["Résumé of José", "nothing", "a resume", "今日本を読む"].enumerated() {
        archive.append(.text(Int64(seq) + 1, text))
      }
      archive.append(.text(4, "jose wrote a RÉSUMÉ", room: "tea"))
      // Arrives last, and is the oldest.
      archive.append(.text(5, "last résumé", room: "tea"))
      try archive.flush()
      #expect(
        try archive.prepend(
          [.text(1, "old resume", room: "tea"), .text(2, room: "tea"), .text(3, room: "tea")],
          to: "tea"))
    }
    let found = try archive.search("RESUM").found
    #expect(found.map(\.at) == [1005, 1004, 1003, 1001, 1001])
    #expect(Set(found.map(\.room)) == ["general", "tea"])
    #expect(try archive.found("rés jos") == [4, 1])
    #expect(try archive.found("résumé josé", room: "general") == [1])
    #expect(try archive.found("日本") == [4])
    #expect(try archive.found("esume").isEmpty)
    #expect(try archive.found("resume", wanted: 2).prefix(2) == [5, 4])
  }

  @Test(arguments: [true, false])
  func `compares what messages say now`(isIndexed: Bool) throws {
    let archive = try archive(isIndexed: isIndexed) { archive in
      archive.append(.text(1, "first thought"))
      archive.append(.text(2, "second thought"))
      archive.append(.edit(3, of: 1, "corrected"))
      archive.append(.reaction(4, to: 2, "👍"))
      archive.append(.edit(5, of: 1, "corrected again"))
    }
    #expect(try archive.found("thought") == [2])
    #expect(try archive.found("corrected") == [1])
    #expect(try archive.found("again") == [1])
    #expect(try archive.search("again").found.first?.text == "corrected again")
    archive.append(.edit(6, of: 2, "third"))
    archive.append(.delete(7, of: 1))
    #expect(try archive.found("thought").isEmpty)
    #expect(try archive.found("again").isEmpty)
    #expect(try archive.found("third") == [2])
  }

  @Test(arguments: [true, false])
  func `finds nothing of forgotten and lost entries, and what replaced them`(
    isIndexed: Bool
  ) throws {
    let archive = try archive(isIndexed: isIndexed) { archive in
      archive.append(.text(1, "original words"))
      archive.append(.text(2, "lost words"))
      archive.append(.edit(3, of: 1, "changed words"))
      archive.begin("tea", epoch: "e1", after: 0)
      archive.append(.text(1, "forgotten words", room: "tea"))
    }
    #expect(try archive.found("words").count == 3)
    // At once, before anything can be swept.
    archive.truncate("general", after: 1, epoch: "e2")
    archive.append(.text(2, "new words"))
    archive.append(.text(3, "more words"))
    archive.forget("tea")
    #expect(try archive.found("words") == [3, 2, 1])
    #expect(try archive.found("original") == [1])
    for gone in ["lost", "changed", "forgotten"] { #expect(try archive.found(gone).isEmpty) }
    try fill(archive)
    try folder.waitForIndex()
    #expect(try archive.found("words") == [3, 2, 1])
    archive.begin("general", epoch: "e3", after: 7)
    archive.append(.text(8, "words of another log"))
    #expect(try archive.found("words") == [8])
  }

  @Test func `finds entries that take the places of the newest ones`() throws {
    let archive = try archive(isIndexed: true) { _ in }
    archive.forget("filler")
    try archive.flush()
    #expect(try becomesTrue { try rows(of: "entries", in: folder) == 0 })
    archive.append(.text(1, "unexpected"))
    #expect(try archive.found("unexpected") == [1])
    try fill(archive)
    try folder.waitForIndex()
    #expect(try archive.found("unexpected") == [1])
    #expect(try archive.found("filler 77", wanted: 1).first == 779)
  }

  @Test(arguments: [
    "\"", "\"a", "a\"b", "a OR b", "NOT a", "NEAR(a b)", "a AND", "(", "a*", "^a", "{text}: a",
    "text : a", "-", "\0", "a\0b", "'; DROP TABLE words; --", "😀", "+", "a + b", "\u{FEFF}", " ",
    String(repeating: "word ", count: 1638), String(repeating: "x", count: 8192),
    String(repeating: "日", count: 2730), String(repeating: "\u{301}", count: 4096),
    (0..<900).map { "w\($0)" }.joined(separator: " "),
  ])
  func `takes what a user types for words`(text: String) throws {
    let archive = try archive(isIndexed: true) { archive in
      archive.append(.text(1, "a near or not and b word text w0"))
    }
    _ = try archive.search(text)
    #expect(try archive.found("a b") == [1])
  }

  @Test func `of a common word is carried out in steps, and continues`() throws {
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 0)
    // Two words that are common, but never together.
    for seq in 1...80_000 as ClosedRange<Int64> {
      archive.append(.text(seq, seq == 5 ? "even odd" : seq % 2 == 0 ? "even" : "odd"))
    }
    try archive.flush()
    try folder.waitForIndex()
    var search = Archive.Search("odd even")
    try archive.advance(&search, wanted: 10)
    #expect(!search.isComplete)
    #expect(search.found.isEmpty)
    var steps = 1
    while !search.isComplete {
      try archive.advance(&search, wanted: 10)
      steps += 1
    }
    #expect(search.found.map(\.seq) == [5])
    #expect(steps == 2)
    var common = Archive.Search("even")
    try archive.advance(&common, wanted: 10)
    #expect(common.found.map(\.seq) == stride(from: 80_000, to: 79_980, by: -2).map { Int64($0) })
    try archive.advance(&common, wanted: 20)
    #expect(common.found.map(\.seq).last == 79_962)
    var accepted = Archive.Search("odd")
    try archive.advance(&accepted, wanted: 1) { $0.seq < 79_000 }
    #expect(accepted.found.map(\.seq) == [78_999])
  }

  @Test func `of a file of an earlier version works while that is being indexed`() throws {
    do {
      let archive = try archive(isIndexed: false) { archive in
        for seq in 1...30_000 as ClosedRange<Int64> {
          archive.append(.text(seq, seq % 1000 == 7 ? "needle \(seq)" : "hay"))
        }
      }
      try archive.close()
    }
    try leaveAsVersion4(folder.file)
    let archive = try Archive(path: folder.file)
    let early = try archive.search("needle")
    #expect(early.found.first?.seq == 29_007)
    try folder.waitForIndex()
    let late = try archive.search("needle")
    #expect(late.found.count == 30)
    #expect(late.unindexed == 0)
  }

  @Test func `with a damaged index is refused until it is built anew, and nothing is lost`() throws
  {
    do {
      let archive = try archive(isIndexed: true) { $0.append(.text(1, "needle")) }
      try archive.close()
    }
    try sql("DELETE FROM words_data WHERE id > 10", on: folder.file)
    let archive = try Archive(path: folder.file)
    #expect(throws: ArchiveError.self) { _ = try archive.found("needle") }
    #expect(archive.damage == nil)
    #expect(becomesTrue { (try? archive.found("needle")) == [1] })
    try folder.waitForIndex()
    #expect(try archive.found("needle") == [1])
    #expect(try archive.found("filler", wanted: 1).first == 3000)
  }
}

extension `A search of the archive` {
  @Test func `is not prevented by a damaged index from forgetting a room`() throws {
    do {
      let archive = try archive(isIndexed: true) { $0.append(.text(1, "needle")) }
      try archive.close()
    }
    try sql("UPDATE words_data SET block = x'A5A5A5A5A5A5' WHERE id = 10", on: folder.file)
    let archive = try Archive(path: folder.file)
    archive.forget("general")
    try archive.flush()
    #expect(try becomesTrue { try rows(of: "entries", in: folder) == 3000 })
    try folder.waitForIndex()
    #expect(try archive.found("needle").isEmpty)
    #expect(try archive.found("filler", wanted: 1).first == 3000)
    #expect(archive.damage == nil)
  }
}

@Suite struct `Words that were deleted` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Words that share no beginning, which the index would store once, and no end.
  private func words(_ count: Int, _ dice: inout SplitMix64) -> [String] {
    (0..<count).map { _ in
      String((0..<20).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement(using: &dice) ?? "a" })
    }
  }

  private func count(of words: [String]) throws -> Int {
    let contents = try folder.contents()
    // Most of a word: the index stores words in order, and each without what it shares with the last.
    let ends = Set(words.map { Array($0.utf8.suffix(12)) })
    guard contents.count >= 12 else { return 0 }
    var found: Set<[UInt8]> = []
    for start in 0...(contents.count - 12)
    where contents[start] >= 0x61 && contents[start] <= 0x7A && contents[start + 11] >= 0x61 {
      let part = Array(contents[start..<start + 12])
      if ends.contains(part) { found.insert(part) }
    }
    return found.count
  }

  @Test func `are in no file, neither those of edits nor those of forgotten rooms`() throws {
    var dice = SplitMix64(seed: 3)
    let deleted = words(150, &dice)
    let kept = words(150, &dice)
    let forgotten = words(150, &dice)
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 0)
    archive.begin("tea", epoch: "e1", after: 0)
    for index in 0..<150 {
      let seq = Int64(index) * 3
      archive.append(.text(seq + 1, index % 2 == 0 ? deleted[index] : "hello"))
      archive.append(.text(seq + 2, kept[index]))
      archive.append(
        index % 2 == 0
          ? .text(seq + 3, "hello") : .edit(seq + 3, of: seq + 1, deleted[index]))
      archive.append(.text(Int64(index) + 1, forgotten[index], room: "tea"))
      if index % 10 == 0 { try archive.flush() }
    }
    try fill(archive)
    try folder.waitForIndex()
    #expect(try count(of: deleted) == 150)
    for index in 0..<150 {
      archive.append(.delete(Int64(451 + index), of: Int64(index) * 3 + 1))
      if index % 50 == 0 { try archive.flush() }
    }
    archive.forget("tea")
    try archive.flush()
    let gone = try becomesTrue { try count(of: deleted + forgotten) == 0 }
    #expect(gone)
    #expect(try count(of: kept) == 150)
    #expect(try archive.found(kept[7]) == [23])
  }

  @Test func `leave after a restart what was interrupted`() throws {
    var dice = SplitMix64(seed: 4)
    let deleted = words(20, &dice)
    do {
      let archive = try Archive(path: folder.file)
      archive.begin("general", epoch: "e1", after: 0)
      for (index, word) in deleted.enumerated() { archive.append(.text(Int64(index) + 1, word)) }
      try fill(archive)
      try folder.waitForIndex()
      for index in 0..<20 { archive.append(.delete(Int64(21 + index), of: Int64(index) + 1)) }
      try archive.close()
    }
    // As if it had ended between two steps.
    try sql("UPDATE indexing SET is_merging = 1, is_urgent = 0", on: folder.file)
    let archive = try Archive(path: folder.file)
    #expect(try becomesTrue { try count(of: deleted) == 0 })
    try archive.close()
  }
}

@Suite struct `Places in a conversation` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `are found by their time, and read from the older end`() throws {
    let archive = try Archive(path: folder.file)
    #expect(try archive.firstSeq(of: "general", since: 0) == nil)
    archive.begin("general", epoch: "e1", after: 10)
    for seq in 11...300 as ClosedRange<Int64> {
      archive.append(seq % 10 == 0 ? .reaction(seq, to: seq - 1, "👍") : .text(seq))
    }
    #expect(try archive.firstSeq(of: "general", since: 0) == 11)
    #expect(try archive.firstSeq(of: "general", since: 1100) == 100)
    #expect(try archive.firstSeq(of: "general", since: 1300) == 300)
    #expect(try archive.firstSeq(of: "general", since: 1301) == 301)
    let page = try archive.page(of: "general", after: 99, limit: 3)
    #expect(page.map(\.seq) == [101, 102, 103])
    #expect(try archive.page(of: "general", after: 0, limit: 1).map(\.seq) == [11])
    #expect(try archive.page(of: "general", after: 298, limit: 9).map(\.seq) == [299])
    #expect(try archive.page(of: "general", after: 188, limit: 1).first?.reactions.count == 1)
  }

  @Test func `before the oldest kept entry are told for rooms that have them`() throws {
    let archive = try Archive(path: folder.file)
    for (room, after) in [("general", 10), ("tea", 0)] as [(String, Int64)] {
      archive.begin(room, epoch: "e1", after: after)
      archive.append(.text(after + 1, room: room))
    }
    archive.save(Archive.Room(room: "unknown", title: "never begun"))
    archive.begin("empty", epoch: "e1", after: 7)
    let beginnings = try archive.beginnings()
    #expect(beginnings.map(\.room) == ["general", "empty"])
    #expect(beginnings.map(\.at) == [1011, .max])
  }
}
