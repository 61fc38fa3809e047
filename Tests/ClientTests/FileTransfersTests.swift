import Client
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@Suite struct `Uploads and downloads` {
  /// What becomes of one transfer, up to its end.
  private func events(
    _ transfers: FileTransfers, at event: (FileTransfers.Event) -> Void = { _ in }
  ) -> [FileTransfers.Event] {
    var events: [FileTransfers.Event] = []
    let deadline = Deadline()
    while !deadline.hasPassed {
      _ = becomes(POLLIN, transfers.descriptor, deadline)
      for news in transfers.takeEvents() {
        event(news)
        events.append(news)
        switch news {
        case .progressed, .waiting: break
        default: return events
        }
      }
    }
    return events
  }

  private func upload(
    _ bytes: [UInt8], to relay: FileRelay, named name: String = "Notes ä.txt"
  ) throws -> [FileTransfers.Event] {
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "file")
    let transfers = try FileTransfers()
    _ = try transfers.upload(
      folder["file"], named: name, to: "general", as: relay.configuration)
    return events(transfers)
  }

  private static let create =
    "POST /under/v1/files Bearer secret 100000 filename Tm90ZXMgw6QudHh0,room Z2VuZXJhbA=="

  private func sum(of bytes: [UInt8]) throws -> String {
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "file")
    return "whole \(try run("/usr/bin/sha256sum", folder["file"]).prefix { $0 != " " })"
  }

  private func reasons(_ events: [FileTransfers.Event]) -> [String] {
    events.compactMap { if case .waiting(_, let reason) = $0 { reason } else { nil } }
  }

  @Test func `a file arrives as it is, with its name, its room and the user's token`() throws {
    let relay = try FileRelay()
    let bytes = FileRelay.bytes(100_000)
    let events = try upload(bytes, to: relay)
    guard case .uploaded(_, file: "file-1") = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(reasons(events) == [])
    #expect(
      relay.seen() == [
        Self.create, "PATCH /under/v1/files/file-1 Bearer secret 0", try sum(of: bytes),
      ])
  }

  @Test func `a large file is sent in several requests`() throws {
    let relay = try FileRelay()
    let bytes = FileRelay.bytes(9 << 20)
    let events = try upload(bytes, to: relay)
    guard case .uploaded = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(
      relay.seen().dropFirst() == [
        "PATCH /under/v1/files/file-1 Bearer secret 0",
        "PATCH /under/v1/files/file-1 Bearer secret 8388608", try sum(of: bytes),
      ])
  }

  @Test func `an empty file is whole once it was created`() throws {
    let relay = try FileRelay()
    guard case .uploaded = try upload([], to: relay).last else {
      Issue.record("it was not uploaded")
      return
    }
    #expect(relay.seen().count == 1)
  }

  @Test func `after a lost connection an upload goes on from where the relay is`() throws {
    let relay = try FileRelay(faults: ["PATCH cut=30000", "PATCH cut=1", "HEAD 503", "PATCH 423"])
    let bytes = FileRelay.bytes(100_000)
    let events = try upload(bytes, to: relay)
    guard case .uploaded = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(reasons(events).count == 4)
    let file = "/under/v1/files/file-1 Bearer secret"
    #expect(
      relay.seen() == [
        Self.create, "PATCH \(file) 0", "HEAD \(file)", "PATCH \(file) 30000", "HEAD \(file)",
        "HEAD \(file)", "PATCH \(file) 30001", "HEAD \(file)", "PATCH \(file) 30001",
        try sum(of: bytes),
      ])
  }

  @Test
  func `an upload goes on under the id that it was created with, as after the end of its program`()
    throws
  {
    let relay = try FileRelay(faults: ["PATCH cut=30000", "HEAD hold"])
    let bytes = FileRelay.bytes(100_000)
    let folder = try TemporaryFolder()
    try folder.write(bytes, to: "file")
    // It is not over yet: the end of a value cancels its transfers, that of a process does not.
    let first = try FileTransfers()
    defer { withExtendedLifetime(first) {} }
    let created = Mutex<[String]>([])
    _ = try first.upload(
      folder["file"], named: "x", to: "general", as: relay.configuration,
      created: { file in created.withLock { $0.append(file) } })
    // The id is known before the relay has any byte.
    relay.wait(for: "PATCH")
    let files = created.withLock { $0 }
    #expect(files == ["file-1"])
    relay.wait(for: "HEAD")
    let second = try FileTransfers()
    _ = try second.upload(
      folder["file"], named: "x", to: "general", as: relay.configuration,
      continuing: files.first)
    guard case .uploaded(_, file: "file-1") = events(second).last else {
      Issue.record("it was not uploaded")
      return
    }
    #expect(relay.seen().last == (try sum(of: bytes)))
  }

  @Test func `an upload that the relay has forgotten begins anew`() throws {
    let relay = try FileRelay(faults: ["PATCH cut=30000", "HEAD 404 forgets"])
    let bytes = FileRelay.bytes(100_000)
    guard case .uploaded = try upload(bytes, to: relay).last else {
      Issue.record("it was not uploaded")
      return
    }
    let seen = relay.seen()
    #expect(seen.count { $0 == Self.create } == 2)
    #expect(seen.last == (try sum(of: bytes)))
  }

  @Test(arguments: ["POST", "PATCH"])
  func `a refusal ends it, with the relay's reason`(method: String) throws {
    let relay = try FileRelay(faults: ["\(method) 413 detail=at most 5 bytes"])
    let events = try upload(FileRelay.bytes(3 << 20), to: relay)
    guard case .failed(_, reason: "at most 5 bytes") = events.last else {
      Issue.record("\(events)")
      return
    }
  }

  @Test func `a cancelled upload is deleted at the relay`() throws {
    let relay = try FileRelay(faults: ["PATCH hold"])
    let folder = try TemporaryFolder()
    try folder.write(FileRelay.bytes(100_000), to: "file")
    let transfers = try FileTransfers()
    let id = try transfers.upload(
      folder["file"], named: "x", to: "general", as: relay.configuration)
    relay.wait(for: "PATCH")
    transfers.cancel(id)
    #expect(events(transfers).last == .cancelled(id))
    #expect(relay.seen() == ["DELETE /under/v1/files/file-1 Bearer secret"])
  }

  @Test func `one that waits for others can be cancelled, and the others go on`() throws {
    let relay = try FileRelay(
      faults: Array(repeating: "POST hold", count: FileTransfers.concurrentLimit))
    let folder = try TemporaryFolder()
    try folder.write("text", to: "file")
    let transfers = try FileTransfers()
    let ids = try (0...FileTransfers.concurrentLimit).map { _ in
      try transfers.upload(folder["file"], named: "x", to: "general", as: relay.configuration)
    }
    transfers.cancel(ids[FileTransfers.concurrentLimit])
    #expect(events(transfers) == [.cancelled(ids[FileTransfers.concurrentLimit])])
    for _ in 0..<FileTransfers.concurrentLimit { relay.wait(for: "POST") }
    transfers.cancel(ids[0])
    #expect(events(transfers) == [.cancelled(ids[0])])
    #expect(relay.seen() == [])
  }

  @Test func `a folder, and a file that is not there, are no uploads`() throws {
    let relay = try FileRelay()
    let folder = try TemporaryFolder()
    let transfers = try FileTransfers()
    for (path, code) in [(folder.path, EISDIR), (folder["none"], ENOENT), ("/dev/null", EINVAL)] {
      do {
        _ = try transfers.upload(path, named: "x", to: "general", as: relay.configuration)
        Issue.record("\(path) was taken")
      } catch {
        #expect(error.code == code)
      }
    }
  }

  @Test func `a file that becomes shorter is not uploaded`() throws {
    let relay = try FileRelay(faults: ["POST 503"])
    let folder = try TemporaryFolder()
    try folder.write(FileRelay.bytes(100_000), to: "file")
    let transfers = try FileTransfers()
    let id = try transfers.upload(
      folder["file"], named: "x", to: "general", as: relay.configuration)
    relay.wait(for: "POST")
    #expect(unsafe truncate(folder["file"], 10) == 0)
    #expect(
      events(transfers).last == .failed(id, reason: "read \(folder["file"]): No data available"))
  }

  // MARK: Downloads

  private func download(
    _ relay: FileRelay, limitBytes: Int64 = 100_000
  ) throws -> (events: [FileTransfers.Event], folder: TemporaryFolder) {
    let folder = try TemporaryFolder()
    let transfers = try FileTransfers()
    _ = transfers.download(
      "file-1", to: folder["file"], limitBytes: limitBytes, as: relay.configuration)
    return (events(transfers), folder)
  }

  @Test func `a file is downloaded to its place, and only its owner can read it`() throws {
    let relay = try FileRelay(content: 100_000)
    let (events, folder) = try download(relay)
    guard case .downloaded = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(try readBytes(folder["file"]) == FileRelay.bytes(100_000))
    #expect(try folder.permissions(of: "file") == 0o600)
    #expect(try fileNames(in: folder.path) == ["file"])
    #expect(relay.seen() == ["GET /under/v1/files/file-1 Bearer secret"])
  }

  @Test func `what has arrived is in no file that was there before`() throws {
    let relay = try FileRelay(content: 100_000)
    let folder = try TemporaryFolder()
    // The place of one download is where another would write what has arrived.
    try folder.write("mine", to: "file.part")
    for name in ["file", "file.part.part"] {
      let transfers = try FileTransfers()
      _ = transfers.download(
        "file-1", to: folder[name], limitBytes: 100_000, as: relay.configuration)
      guard case .downloaded? = events(transfers).last else {
        Issue.record("\(name)")
        return
      }
      #expect(try readBytes(folder[name]) == FileRelay.bytes(100_000))
    }
    #expect(try folder.read("file.part") == "mine")
    #expect(try fileNames(in: folder.path).sorted() == ["file", "file.part", "file.part.part"])
  }

  @Test func `after a lost connection only what is missing is requested`() throws {
    let relay = try FileRelay(faults: ["GET cut=30000", "GET 503"], content: 100_000)
    let (events, folder) = try download(relay)
    guard case .downloaded = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(try readBytes(folder["file"]) == FileRelay.bytes(100_000))
    let seen = relay.seen()
    #expect(seen.count == 3)
    #expect(seen.last == "GET /under/v1/files/file-1 Bearer secret bytes=30000- \"v1\"")
  }

  @Test func `another version of the file begins anew`() throws {
    let relay = try FileRelay(faults: ["GET cut=30000", "GET 503 changes"], content: 100_000)
    let (events, folder) = try download(relay)
    guard case .downloaded = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(try readBytes(folder["file"]) == FileRelay.bytes(100_000))
  }

  @Test(arguments: [
    (["GET 404"], Int64(100_000), "the relay has no such file"),
    (["GET 302"], 100_000, "it answers with HTTP status 302"),
    ([], 99_999, "its answer has more than 99999 bytes"),
    // Asked for again, it would be answered so again, and without a pause.
    (["GET nothing"], 100_000, "its answer cannot be understood"),
  ])
  func `nothing is left of a file that is refused`(
    faults: [String], limitBytes: Int64, reason: String
  ) throws {
    let relay = try FileRelay(faults: faults, content: 100_000)
    let (events, folder) = try download(relay, limitBytes: limitBytes)
    guard case .failed(_, let told) = events.last, told.hasPrefix(reason) else {
      Issue.record("\(events)")
      return
    }
    #expect(try fileNames(in: folder.path) == [])
  }
}
