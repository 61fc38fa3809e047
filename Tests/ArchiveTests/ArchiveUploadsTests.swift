import Archive
import TestSupport
import Testing
import Wire

@Suite struct `The archive's uploads` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func upload(_ id: String, file: String? = nil) -> Archive.Upload {
    let content = FileContent(id: "", name: "a \"b\".png", caption: "look\n👋", replyTo: 7)
    return .init(
      room: "general", id: id, content: content, at: 5, path: "/home/ada/a \"b\".png",
      sizeBytes: 12, modifiedAt: 1_763_650_000_123_456_789, file: file)
  }

  @Test func `are there after a restart, unchanged and in order, as far as they had begun`() throws
  {
    do {
      let archive = try Archive(path: folder.file)
      for id in ["2", "1"] { try archive.keep(upload(id)) }
      try archive.begin(upload: "1", as: "f1")
      try archive.begin(upload: "none", as: "f2")
    }
    let archive = try Archive(path: folder.file)
    #expect(try archive.takeUploads() == [upload("2"), upload("1", file: "f1")])
    // From its start again.
    try archive.keep(upload("2"))
    #expect(try archive.takeUploads() == [upload("1", file: "f1"), upload("2")])
  }

  @Test func `stay with a process that is running`() throws {
    let running = try Archive(path: folder.file)
    try running.keep(upload("1"))
    let other = try Archive(path: folder.file)
    #expect(try other.takeUploads() == [])
    #expect(try running.takeUploads() == [upload("1")])
  }

  @Test func `end when the message is stored to be sent, discarded or given up`() throws {
    let archive = try Archive(path: folder.file)
    for id in ["1", "2", "3", "4"] { try archive.keep(upload(id)) }
    let content = FileContent(id: "f1", name: "a.png")
    try archive.enqueue(.init(room: "general", id: "1", file: content), at: 5)
    try archive.discard(room: "general", id: "2")
    try archive.end(upload: "3")
    #expect(try archive.takeUploads().map(\.id) == ["4"])
    #expect(try archive.outbox().map(\.send.body) == [content.body])
  }
}
