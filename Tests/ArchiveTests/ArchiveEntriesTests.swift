import Archive
import TestSupport
import Testing
import Wire

@Suite struct `The archive's entries` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func open(entriesLimit: Int64 = Archive.entriesLimit) throws -> Archive {
    try Archive(path: folder.file, entriesLimit: entriesLimit)
  }

  @Test func `that change the room are shown among the messages, and are not the last message`()
    throws
  {
    let change = MemberChange(user: "bo", role: .member)
    let notice = Entry(
      room: "general", seq: 7, id: "n", from: "ada", at: 0, kind: .member, body: change.body)
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 5)
    for entry in [.text(6, "one"), notice, .text(8, "two")] { archive.append(entry) }
    var last = notice
    last.seq = 9
    archive.append(last)
    try archive.flush()
    #expect(try archive.page(of: "general", limit: 3).map(\.seq) == [7, 8, 9])
    #expect(try archive.page(of: "general", before: 8, limit: 9).map(\.seq) == [6, 7])
    #expect(try archive.page(of: "general", after: 6, limit: 2).map(\.seq) == [7, 8])
    #expect(try archive.room()?.last?.seq == 8)
  }

  @Test
  func `that are hidden leave no gap, are shown in their place, and are not the last message`()
    throws
  {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 5)
    for entry in [.text(6, "one"), Entry.text(7).hidden, Entry.text(8).hidden, .text(9, "two")] {
      archive.append(entry)
    }
    archive.append(Entry.text(10).hidden)
    try archive.flush()
    #expect(try archive.room()?.latest == 10)
    #expect(try archive.room()?.last?.seq == 9)
    #expect(
      try archive.page(of: "general", limit: 4).map(\.kind) == [.hidden, .hidden, .text, .hidden])
    #expect(try archive.page(of: "general", after: 6, limit: 9).map(\.seq) == [7, 8, 9, 10])
  }

  @Test func `are stored unchanged across a restart`() throws {
    let entries: [Entry] = [
      .text(6, "one\n\"two\"\u{1F600}"), .text(7, from: "ada"),
      Entry(
        room: "general", seq: 8, id: "d", from: "cy", at: 5, kind: .data,
        body: Array("\"data\":{\"a\": 1.50}".utf8)),
    ]
    do {
      let archive = try open()
      archive.begin("general", epoch: "e1", after: 5)
      entries.forEach(archive.append)
      try archive.flush()
    }
    let archive = try open()
    #expect(try archive.page(of: "general", limit: 50) == entries)
    let room = try #require(try archive.room())
    #expect(room.first == 6)
    #expect(room.latest == 8)
    #expect(room.head == 8)
    #expect(room.epoch == "e1")
    #expect(room.last == entries.last)
  }

  @Test func `are read immediately, flushed or not`() throws {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 0)
    archive.append(.text(1))
    #expect(archive.hasChanges)
    #expect(try archive.seqs() == [1])
    #expect(!archive.hasChanges)
  }

  @Test func `are contiguous: an entry that is not the next one is dropped`() throws {
    let archive = try open()
    // A room without `begin`.
    archive.append(.text(1, room: "other"))
    archive.begin("general", epoch: "e1", after: 10)
    for seq in [11, 12, 12, 11, 14, 13, 15, 10, 14] as [Int64] { archive.append(.text(seq)) }
    #expect(try archive.seqs() == [11, 12, 13, 14])
    #expect(try archive.page(of: "other", limit: 9).isEmpty)
    #expect(try archive.entry("general", 15) == nil)
    #expect(try archive.entry("general", 13) == .text(13))
  }

  @Test func `grow backwards by pages that end right before the first`() throws {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 10)
    archive.append(.text(11))
    #expect(try !archive.prepend([.text(7), .text(8)], to: "general"))
    #expect(try !archive.prepend([.text(8), .text(10)], to: "general"))
    #expect(try !archive.prepend([.text(11), .text(12)], to: "general"))
    #expect(try !archive.prepend([.text(10, room: "other")], to: "general"))
    #expect(try !archive.prepend([], to: "general"))
    #expect(try !archive.prepend([.text(10, room: "other")], to: "other"))
    #expect(try archive.seqs() == [11])
    #expect(try archive.prepend([.text(9), .text(10)], to: "general"))
    #expect(try archive.prepend([.text(8)], to: "general"))
    #expect(try archive.seqs() == [8, 9, 10, 11])
    #expect(try archive.room()?.first == 8)
  }

  @Test func `are read in pages of texts and data, from the newest to the oldest`() throws {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 0)
    for seq in 1...100 as ClosedRange<Int64> {
      archive.append(seq % 2 == 1 ? .text(seq) : .reaction(seq, to: seq - 1, "👍"))
    }
    let newest = try archive.page(of: "general", limit: 3)
    #expect(newest.map(\.seq) == [95, 97, 99])
    #expect(newest.allSatisfy { $0.reactions.map(\.emoji) == ["👍"] })
    #expect(try archive.page(of: "general", before: 95, limit: 2).map(\.seq) == [91, 93])
    #expect(try archive.page(of: "general", before: 2, limit: 5).map(\.seq) == [1])
    #expect(try archive.page(of: "general", before: 1, limit: 5).isEmpty)
    #expect(try archive.entry("general", 97)?.reactions.first?.users == ["bo"])
  }

  @Test func `are dropped when a room is reset, and do not return`() throws {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 0)
    for seq in 1...500 as ClosedRange<Int64> { archive.append(.text(seq)) }
    archive.append(.reaction(501, to: 3, "👍"))
    archive.begin("general", epoch: "e2", after: 2)
    let room = try #require(try archive.room())
    #expect(room.latest == 0)
    #expect(room.first == room.head + 1)
    #expect(room.epoch == "e2")
    #expect(room.last == nil)
    archive.append(.text(3, "new"))
    #expect(try archive.page(of: "general", limit: 600) == [.text(3, "new")])
    // The file forgets them as well, in the background.
    try archive.flush()
    #expect(try becomesTrue { try rows(of: "entries", in: folder) == 1 })
    #expect(try archive.page(of: "general", limit: 600) == [.text(3, "new")])
  }

  @Test func `that the log has lost are dropped, and replaced by others`() throws {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 0)
    for seq in 1...9 as ClosedRange<Int64> { archive.append(.text(seq)) }
    archive.append(.edit(10, of: 2, "lost"))
    archive.truncate("general", after: 6, epoch: "e2")
    #expect(try archive.seqs() == [1, 2, 3, 4, 5, 6])
    #expect(try archive.entry("general", 2) == .text(2))
    archive.append(.text(7, "other"))
    archive.append(.edit(8, of: 3, "kept"))
    #expect(try archive.entry("general", 7) == .text(7, "other"))
    #expect(try archive.entry("general", 3)?.text == "kept")
    let room = try #require(try archive.room())
    #expect(room.epoch == "e2")
    #expect(room.latest == 8)
    try archive.flush()
    #expect(try becomesTrue { try rows(of: "entries", in: folder) == 8 })
    // Nothing is left if less than everything was lost.
    archive.truncate("general", after: 0, epoch: "e3")
    #expect(try archive.seqs().isEmpty)
  }

  @Test func `are stored with the epochs that they are of`() throws {
    let old = [EpochStart(epoch: "e2", after: 5), EpochStart(epoch: "e1", after: 0)]
    do {
      let archive = try open()
      archive.begin("general", epoch: "e2", lineage: old, after: 0)
      for seq in 1...9 as ClosedRange<Int64> { archive.append(.text(seq)) }
      try archive.close()
    }
    let archive = try open()
    #expect(try archive.extent(of: "general")?.lineage == old)
    let new = [EpochStart(epoch: "e3", after: 7)] + old
    archive.truncate("general", after: 7, epoch: "e3", lineage: new)
    #expect(try archive.extent(of: "general")?.lineage == new)
    #expect(try archive.seqs() == Array(1...7))
    archive.setEpoch("general", epoch: "e3", lineage: [])
    #expect(try archive.extent(of: "general")?.lineage == [])
    #expect(try archive.extent(of: "general")?.epoch == "e3")
  }

  @Test func `of a file of the first version are kept, without epochs before theirs`() throws {
    do {
      let archive = try open()
      archive.begin("general", epoch: "e1", after: 0)
      archive.append(.text(1))
      try archive.close()
    }
    try leaveAsVersion3(folder.file)
    for column in ["lineage", "is_pinned", "is_marked_unread"] {
      try sql("ALTER TABLE rooms DROP COLUMN \(column)", on: folder.file)
    }
    try sql("PRAGMA user_version = 1", on: folder.file)
    let archive = try open()
    #expect(try archive.rooms().map(\.epoch) == ["e1"])
    let extent = try #require(try archive.extent(of: "general"))
    #expect(extent.epoch == "e1")
    #expect(extent.lineage == [])
    // The epoch is stored although it is known.
    archive.setEpoch("general", epoch: "e1", lineage: [EpochStart(epoch: "e1", after: 0)])
    #expect(try archive.extent(of: "general")?.lineage == [EpochStart(epoch: "e1", after: 0)])
    #expect(try archive.seqs() == [1])
  }

  @Test func `of a log that the client has left are not taken for the new one's`() throws {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 0)
    archive.append(.text(1))
    try archive.flush()
    let other = try open()
    #expect(try other.rooms().first?.epoch == "e1")
    other.append(.text(2, "of the old log"))
    archive.truncate("general", after: 1, epoch: "e2")
    try archive.flush()
    try other.flush()
    #expect(try archive.seqs() == [1])
    archive.setEpoch("general", epoch: "e3")
    #expect(try archive.room()?.epoch == "e3")
  }

  @Test func `of rooms without a position are none, whatever their logs report`()
    throws
  {
    let archive = try open()
    for name in ["a", "b"] {
      archive.save(Archive.Room(room: name, title: name))
      archive.setEpoch(name, epoch: "e1")
      archive.append(.text(1, room: name))
    }
    #expect(try archive.rooms().map(\.epoch) == [nil, nil])
    for name in ["a", "b"] {
      archive.truncate(name, after: 0, epoch: "e2")
      archive.append(.text(1, "of \(name)", room: name))
    }
    #expect(try archive.rooms().map(\.last?.text) == ["of a", "of b"])
  }

  @Test func `beyond the limit are dropped, the oldest first`() throws {
    let archive = try open(entriesLimit: 10)
    archive.begin("general", epoch: "e1", after: 0)
    for seq in 1...25 as ClosedRange<Int64> { archive.append(.text(seq)) }
    #expect(try archive.seqs() == Array(16...25))
    #expect(try archive.room()?.first == 16)
    #expect(try !archive.prepend([.text(15)], to: "general"))
    #expect(try becomesTrue { try rows(of: "entries", in: folder) == 10 })
  }

  @Test func `are counted as unread like on the relay`() throws {
    let archive = try open()
    archive.begin("general", epoch: "e1", after: 10)
    archive.append(.text(11))
    archive.append(.text(12, from: "ada"))
    archive.append(.edit(13, of: 11, "x"))
    archive.append(.text(14, from: "cy"))
    archive.append(.delete(15, of: 11))
    #expect(try archive.contentCount(in: "general", after: 10, notFrom: "ada") == 2)
    #expect(try archive.contentCount(in: "general", after: 11, notFrom: "ada") == 1)
    #expect(try archive.contentCount(in: "general", after: 99, notFrom: "ada") == 0)
    #expect(try archive.contentCount(in: "general", after: 9, notFrom: "ada") == nil)
    #expect(try archive.contentCount(in: "none", after: 0, notFrom: "ada") == nil)
  }
}
