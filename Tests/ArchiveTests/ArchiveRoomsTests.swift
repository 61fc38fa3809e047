import Archive
import TestSupport
import Testing
import Wire

@Suite struct `The archive's rooms` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `are forgotten with their entries, and can begin again`() throws {
    let archive = try Archive(path: folder.file)
    archive.begin("tea", epoch: "e1", after: 0)
    archive.append(.text(1, room: "tea"))
    archive.save(Archive.Room(room: "general", title: "General"))
    try archive.flush()
    archive.forget("tea")
    try archive.flush()
    #expect(try archive.rooms().map(\.room) == ["general"])
    #expect(try archive.extent(of: "tea") == nil)
    #expect(try becomesTrue { try rows(of: "entries", in: folder) == 0 })
    archive.begin("tea", epoch: "e1", after: 4)
    archive.append(.text(5, room: "tea"))
    try archive.flush()
    #expect(try archive.page(of: "tea", before: nil, limit: 9).map(\.seq) == [5])
  }

  @Test func `are stored across a restart`() throws {
    var room = Archive.Room(room: "dm:ada:bo", title: "Bo", peer: "bo")
    room.isBot = true
    room.isMember = true
    room.head = 12
    room.read = 9
    room.unread = 2
    room.notifications = 2
    room.isPinned = true
    room.isMarkedUnread = true
    room.marks = [
      .init(user: "bo", received: 12, read: 10), .init(user: "x.bot", received: 1, read: 0),
    ]
    let plain = Archive.Room(room: "general", title: "General")
    do {
      let archive = try Archive(path: folder.file)
      archive.save(plain)
      archive.save(room)
      archive.save(names: ["bo": "Bo", "cy": "Cyrus"])
      archive.save(names: ["cy": "Cy"])
      try archive.close()
    }
    let archive = try Archive(path: folder.file)
    let rooms = try archive.rooms()
    #expect(rooms.map(\.first) == [1, 13])
    #expect(rooms.map(\.latest) == [0, 0])
    #expect(rooms.first == plain)
    let saved = rooms[1]
    #expect(saved.room == room.room)
    #expect(saved.title == "Bo")
    #expect(saved.peer == "bo")
    #expect(saved.isBot)
    #expect(saved.isMember)
    #expect(saved.notifications == 2)
    #expect(saved.isPinned && saved.isMarkedUnread)
    #expect(saved.head == 12)
    #expect(saved.read == 9)
    #expect(saved.unread == 2)
    #expect(saved.marks == room.marks)
    #expect(saved.epoch == nil)
    #expect(saved.last == nil)
    #expect(try archive.names() == ["bo": "Bo", "cy": "Cy"])
  }

  @Test func `keep their stored entries`() throws {
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 4)
    archive.append(.text(5))
    archive.append(.edit(6, of: 5, "hello"))
    archive.append(.reaction(7, to: 5, "👍"))
    var room = try #require(try archive.room())
    #expect(room.last?.text == "hello")
    #expect(room.last?.reactions.count == 1)
    room.title = "General"
    room.head = 20
    archive.save(room)
    let saved = try #require(try archive.room())
    #expect(saved == room)
    #expect(saved.first == 5)
    #expect(saved.latest == 7)
  }

  @Test func `is for its owner alone`() throws {
    let archive = try Archive(path: folder.file)
    archive.save(Archive.Room(room: "general", title: "General"))
    try archive.flush()
    #expect(try folder.permissions(of: "wschat") == 0o700)
    for ending in ["", "-wal", "-shm", ".lock", ".instances"] {
      #expect(try permissions(of: folder.file + ending) == 0o600)
    }
  }
}
