import Archive
import TestSupport
import Testing
import Wire

@Suite struct `The archive's outbox` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }
  private typealias Send = ClientMessage.Send

  private static let sends = [
    Send(room: "general", id: "1", text: "hello \"you\"\n👋"),
    Send(room: "general", id: "2", text: "yes", replyTo: 7),
    Send(room: "dm:ada:bo", id: "2", forward: Forward(room: "general", seq: 3, from: "cy")),
    Send(room: "dm:ada:bo", id: "3", forward: Forward(room: "general", seq: 3)),
    Send(room: "general", id: "4", edit: 5, text: "better"),
    Send(room: "general", id: "5", delete: 6),
    Send(room: "general", id: "6", react: 5, emoji: "👍", isOn: false),
    Send(room: "general", id: "7", kind: .data, body: Array("\"data\":[1]".utf8)),
  ]

  @Test func `has everything after a restart, unchanged and in order`() throws {
    do {
      let archive = try Archive(path: folder.file)
      for (at, send) in Self.sends.enumerated() { try archive.enqueue(send, at: Int64(at)) }
    }
    let archive = try Archive(path: folder.file)
    #expect(try archive.outbox().map(\.send) == Self.sends)
    #expect(try archive.outbox().map(\.at) == Array(0..<8))
    #expect(try archive.outbox().allSatisfy { $0.refusal == nil })
  }

  @Test func `stores a message and the end of its draft at once`() throws {
    let archive = try Archive(path: folder.file)
    var version: Archive.Draft.Version?
    #expect(try archive.keep(draft: "needed", of: "other", version: &version))
    version = nil
    #expect(try archive.keep(draft: "sent", of: "general", version: &version))
    try archive.enqueue(Self.sends[0], at: 1, draft: version)
    // What another process finds if this one is killed now.
    #expect(try rows(of: "outbox", in: folder) == 1)
    let other = try Archive(path: folder.file)
    #expect(try other.drafts().mapValues { $0.map(\.text) } == ["other": ["needed"]])
    try archive.enqueue(Self.sends[1], at: 1)
    #expect(try other.drafts().count == 1)
  }

  @Test func `stores each message once`() throws {
    let archive = try Archive(path: folder.file)
    try archive.enqueue(Self.sends[0], at: 1)
    try archive.enqueue(Self.sends[0], at: 2)
    #expect(try archive.outbox().map(\.at) == [1])
  }

  @Test func `removes messages that are acknowledged or discarded`() throws {
    let archive = try Archive(path: folder.file)
    for send in Self.sends { try archive.enqueue(send, at: 1) }
    archive.acknowledge(room: "general", id: "2")
    archive.acknowledge(room: "general", id: "none")
    try archive.discard(room: "general", id: "4")
    #expect(try archive.outbox().map(\.send.id) == ["1", "2", "3", "5", "6", "7"])
    #expect(try archive.outbox()[1].send.room == "dm:ada:bo")
  }

  @Test func `keeps the reason of a refusal until the message is retried`() throws {
    do {
      let archive = try Archive(path: folder.file)
      try archive.enqueue(Self.sends[0], at: 1)
      try archive.enqueue(Self.sends[1], at: 2)
      try archive.refuse(room: "general", id: "1", reason: "You may not write here.")
    }
    let archive = try Archive(path: folder.file)
    #expect(try archive.outbox().map(\.refusal) == ["You may not write here.", nil])
    try archive.retry(room: "general", id: "1")
    #expect(try archive.outbox().map(\.refusal) == [nil, nil])
    #expect(try archive.outbox().map(\.send.id) == ["1", "2"])
  }
}
