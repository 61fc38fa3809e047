import Gateway
import Platform
import TestSupport
import Relay
import Testing

@testable import Server

@Suite struct `The bytes of files on disk` {
  private let temporary: TemporaryFolder
  private let folder: FileFolder
  private let counts = FileCounts()

  init() throws {
    temporary = try TemporaryFolder()
    folder = FileFolder(path: temporary["files"])
    try folder.prepare()
  }

  private func placer() -> FilePlacer {
    FilePlacer(folder, FolderBytes(folder: folder), MediaFiles(pictures: nil), counts)
  }

  private func place(_ id: String, _ placer: inout FilePlacer) throws -> String {
    try WholeFile.write(Array("hello".utf8), to: folder.upload(id))
    return try placer.place(id, of: "ada", now: 0).hash
  }

  private func removed(_ result: FileWorkResult) -> [String] {
    if case .removed(let hashes, _) = result { hashes } else { [] }
  }

  @Test func `bytes that were stored again since the last removal stay`() throws {
    var placer = placer()
    let hash = try place("a", &placer)
    placer.forget("a")
    // The log was asked before the file was there.
    #expect(removed(placer.remove([hash], now: 0)) == [])
    #expect(folder.status(of: folder.stored(hash))?.size == 5)
    // Asked again, it knows of no file.
    #expect(removed(placer.remove([hash], now: 0)) == [hash])
    #expect(folder.status(of: folder.stored(hash)) == nil)
    #expect(counts.values.storedBytes == 0)
  }

  @Test func `bytes of an upload that the log does not know yet stay`() throws {
    var placer = placer()
    let hash = try place("a", &placer)
    for _ in 0..<3 { #expect(removed(placer.remove([hash], now: 0)) == []) }
    placer.forget("a")
    #expect(removed(placer.remove([hash], now: 0)) == [])
    #expect(removed(placer.remove([hash], now: 0)) == [hash])
  }

  @Test func `two uploads of the same bytes share them, and are counted once`() throws {
    var placer = placer()
    let hash = try place("a", &placer)
    #expect(try place("b", &placer) == hash)
    #expect(counts.values.storedBytes == 5)
    #expect(folder.hashes(in: String(hash.prefix(2))) == [hash])
    // A restart counts what is there.
    let restarted = FileCounts()
    _ = FilePlacer(folder, FolderBytes(folder: folder), MediaFiles(pictures: nil), restarted)
    #expect(restarted.values.storedBytes == 5)
  }

  @Test func `bytes older than a day are named, so that the log says whether it has them`() throws {
    var placer = placer()
    let hash = try place("a", &placer)
    placer.forget("a")
    let now = WallClock.milliseconds
    func old(_ now: Int64) -> [String] {
      if case .removed(_, let old) = placer.remove([], now: now) { old } else { [] }
    }
    #expect(old(now) == [])
    #expect(old(now + 3_600_000) == [])
    #expect(old(now + 86_400_000 + 60_000) == [hash])
    #expect(old(now + 86_400_000 + 60_000) == [])
  }
}
