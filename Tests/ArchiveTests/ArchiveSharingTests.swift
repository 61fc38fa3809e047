import Archive
import Glibc
import Platform
import TestSupport
import Testing
import Wire

@Suite struct `An archive that two processes have open` {
  private let folder: TemporaryFolder
  /// Two in this process are as two processes: each has its own connection and locks.
  private let one: Archive
  private let other: Archive

  init() throws {
    folder = try TemporaryFolder()
    one = try Archive(path: folder.file)
    other = try Archive(path: folder.file)
  }

  private func texts(_ room: String = "general") throws -> [String] {
    try other.drafts()[room]?.map(\.text) ?? []
  }

  // MARK: Drafts

  @Test func `a draft replaces the version that it was made from, whoever wrote that`() throws {
    var version: Archive.Draft.Version?
    #expect(try one.keep(draft: "a", of: "general", version: &version))
    var read = try other.drafts()["general"]?.first?.version
    #expect(read == version)
    #expect(try other.keep(draft: "ab", of: "general", version: &read))
    #expect(read?.branch == version?.branch)
    #expect(try texts() == ["ab"])
    #expect(try other.keep(draft: "", of: "general", version: &read))
    #expect(read == nil)
    #expect(try texts() == [])
  }

  @Test func `a draft that was changed meanwhile is kept beside the other`() throws {
    var first: Archive.Draft.Version?
    #expect(try one.keep(draft: "a", of: "general", version: &first))
    var second = first
    #expect(try other.keep(draft: "newer", of: "general", version: &second))
    let stale = first
    #expect(try one.keep(draft: "mine", of: "general", version: &first))
    #expect(first?.branch != stale?.branch)
    #expect(try texts() == ["mine", "newer"])
    // A deletion of what was changed deletes nothing.
    var old = stale
    #expect(try one.keep(draft: "", of: "general", version: &old))
    #expect(try texts() == ["mine", "newer"])
    // Nor does the message that the older one has become.
    try one.enqueue(.init(room: "general", id: "1", text: "a"), at: 1, draft: stale)
    #expect(try texts() == ["mine", "newer"])
  }

  @Test func `no number of a version is used again`() throws {
    var seen: Set<Archive.Draft.Version> = []
    for _ in 1...5 {
      var version: Archive.Draft.Version?
      #expect(try one.keep(draft: "x", of: "general", version: &version))
      #expect(seen.insert(try #require(version)).inserted)
      #expect(seen.allSatisfy { $0.number <= version?.number ?? 0 })
      #expect(try one.keep(draft: "", of: "general", version: &version))
    }
  }

  @Test func `more drafts than the limit are not kept, the oldest last`() throws {
    var versions: [Archive.Draft.Version?] = []
    for count in 1...Archive.draftsLimit + 3 {
      var version: Archive.Draft.Version?
      #expect(try one.keep(draft: "\(count)", of: "general", version: &version))
      versions.append(version)
    }
    #expect(try texts().count == Int(Archive.draftsLimit))
    #expect(try texts().first == "\(Archive.draftsLimit + 3)")
    #expect(try texts().last == "4")
  }

  @Test func `drafts of a room that is forgotten go with it`() throws {
    var version: Archive.Draft.Version?
    #expect(try one.keep(draft: "secret <draft>", of: "general", version: &version))
    one.forget("general")
    try one.flush()
    #expect(try texts() == [])
    let isErased = try becomesTrue { try folder.contents().contains("secret <draft>") == false }
    #expect(isErased)
  }

  @Test func `drafts of an earlier version of the file are kept`() throws {
    let old = try TemporaryFolder()
    _ = try Archive(path: old.file)
    try leaveAsVersion3(old.file)
    for statement in [
      "INSERT INTO rooms (name, title, draft) VALUES ('a', 'A', 'written before'), ('b', 'B', '')",
      """
      INSERT INTO outbox (room, id, kind, body, at)
      VALUES ('a', 'x', 'text', CAST('"text":"y"' AS BLOB), 1)
      """,
    ] { try sql(statement, on: old.file) }
    let archive = try Archive(path: old.file)
    #expect(archive.damage == nil)
    #expect(try archive.drafts().mapValues { $0.map(\.text) } == ["a": ["written before"]])
    #expect(try archive.outbox().map(\.send.id) == ["x"])
  }

  // MARK: The outbox

  @Test func `a message belongs to one process until that has ended`() async throws {
    let file = folder.file
    try one.enqueue(.init(room: "general", id: "mine", text: "hi"), at: 1)
    #expect(try other.outbox() == [])
    #expect(try other.takeOver() == ([], true))
    await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
      let archive = try Archive(path: file)
      try archive.enqueue(.init(room: "general", id: "killed", text: "hi"), at: 2)
      kill(getpid(), SIGKILL)
    }
    let (taken, othersRemain) = try other.takeOver()
    #expect(taken.map(\.send.id) == ["killed"])
    #expect(othersRemain)
    #expect(try other.outbox().map(\.send.id) == ["killed"])
    // Once.
    #expect(try one.takeOver() == ([], true))
    #expect(try one.outbox().map(\.send.id) == ["mine"])
  }

  // MARK: The state of rooms

  private func room(_ change: (inout Archive.Room) -> Void) -> Archive.Room {
    var room = Archive.Room(room: "general", title: "General")
    change(&room)
    return room
  }

  @Test func `only what a process has changed is written`() throws {
    one.save(room { ($0.read, $0.unread) = (5, 3) })
    try one.flush()
    _ = try (one.rooms(), other.rooms())
    one.save(room { ($0.read, $0.unread, $0.isPinned) = (9, 0, true) })
    try one.flush()
    // Knows nothing of that.
    other.save(room { ($0.read, $0.unread, $0.notifications, $0.head) = (5, 3, 2, 9) })
    try other.flush()
    let stored = try #require(try one.rooms().first)
    #expect(stored.read == 9)
    #expect(stored.unread == 0)
    #expect(stored.isPinned)
    #expect(stored.notifications == 2)
    #expect(stored.head == 9)
    // A mark that is not as far does not go back; one of a log that has lost its end does.
    other.save(room { ($0.read, $0.unread) = (7, 1) })
    try other.flush()
    #expect(try one.rooms().first?.read == 9)
    other.save(room { ($0.read, $0.unread) = (2, 0) })
    try other.flush()
    #expect(try one.rooms().first?.read == 2)
  }

  @Test func `each learns what the other has changed`() throws {
    one.save(room { $0.isPinned = true })
    try one.flush()
    #expect(try other.changedStates().map(\.isPinned) == [true])
    #expect(try other.changedStates() == [])
    other.save(room { $0.isPinned = false })
    try other.flush()
    #expect(try one.changedStates().last?.isPinned == false)
  }

  @Test func `its descriptor is readable after a change, and only then`() throws {
    func isReadable() -> Bool {
      var request = pollfd(fd: other.watchDescriptor, events: Int16(POLLIN), revents: 0)
      return unsafe poll(&request, 1, 0) == 1
    }
    _ = try other.isChangedByOthers()
    // The maintenance of both begins with a look at the file.
    #expect(
      becomesTrue {
        other.clearWatch()
        usleep(20_000)
        return !isReadable()
      })
    _ = try other.isChangedByOthers()
    #expect(try !other.isChangedByOthers())
    one.save(room { $0.isPinned = true })
    try one.flush()
    #expect(isReadable())
    #expect(try other.isChangedByOthers())
    #expect(try !other.isChangedByOthers())
    other.clearWatch()
    #expect(!isReadable())
  }
}

private func == (
  left: (taken: [Archive.Outgoing], othersRemain: Bool), right: ([Archive.Outgoing], Bool)
) -> Bool { left.taken == right.0 && left.othersRemain == right.1 }
