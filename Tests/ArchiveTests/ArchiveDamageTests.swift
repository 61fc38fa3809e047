import Archive
import TestSupport
import Testing
import Wire

@Suite struct `A file that cannot be used` {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fill(_ texts: Int64 = 3000) throws {
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 0)
    for seq in 1...texts {
      archive.append(.text(seq, String(repeating: "x", count: 200)))
    }
    for id in 1...5 {
      try archive.enqueue(.init(room: "general", id: "\(id)", text: "not sent \(id)"), at: 1)
    }
    var version: Archive.Draft.Version?
    #expect(try archive.keep(draft: "typed", of: "general", version: &version))
    try archive.close()
  }

  /// All but the first and the last pages, which are read when the file is opened.
  private func damageMiddle() throws {
    let bytes = try readBytes(folder.file).count
    try write([UInt8](repeating: 0xA5, count: bytes - 120 * 4096), to: folder.file, at: 60 * 4096)
  }

  private func ids(_ archive: Archive) throws -> [String] { try archive.outbox().map(\.send.id) }

  private func error(opening path: String) throws -> ArchiveError {
    try #require(throws: ArchiveError.self) { _ = try Archive(path: path) }
  }

  @Test func `is moved aside if it is not a database, and created anew`() throws {
    try run("mkdir", "-p", folder["wschat"])
    try write(Array("certainly not a database".utf8), to: folder.file)
    let archive = try Archive(path: folder.file)
    #expect(archive.damage?.kind == .damaged)
    #expect(archive.damage?.description.contains("\(folder.file).damaged") == true)
    #expect(try readBytes("\(folder.file).damaged").contains("certainly not"))
    #expect(try permissions(of: folder.file) == 0o600)
    archive.begin("general", epoch: "e1", after: 0)
    archive.append(.text(1))
    #expect(try archive.seqs() == [1])
  }

  @Test func `is detected when it is opened, and unsent messages are saved`() throws {
    try fill()
    // The root of the table of rooms.
    let page = try sql("SELECT rootpage FROM sqlite_schema WHERE name = 'rooms'", on: folder.file)
    try write([UInt8](repeating: 0xA5, count: 4096), to: folder.file, at: Int(page - 1) * 4096)
    let archive = try Archive(path: folder.file)
    #expect(archive.damage != nil)
    #expect(try ids(archive) == ["1", "2", "3", "4", "5"])
    #expect(try archive.rooms().isEmpty)
    #expect(try archive.drafts().mapValues { $0.map(\.text) } == ["general": ["typed"]])
    #expect(try archive.outbox()[2].send == .init(room: "general", id: "3", text: "not sent 3"))
    for rest in [".partial", ".partial-wal", ".rescued"] { #expect(!exists(folder.file + rest)) }
  }

  @Test func `is detected when it is read, and the next call works`() throws {
    try fill()
    try damageMiddle()
    let archive = try Archive(path: folder.file)
    #expect(archive.damage == nil)
    let error = try #require(throws: ArchiveError.self) {
      for before in stride(from: 3001, to: 1, by: -100) as StrideTo<Int64> {
        _ = try archive.page(of: "general", before: before, limit: 100)
      }
    }
    #expect(error.kind == .damaged)
    #expect(error == archive.damage)
    #expect(error.description.contains("recovered: 5"))
    #expect(try ids(archive) == ["1", "2", "3", "4", "5"])
    archive.begin("general", epoch: "e1", after: 7)
    archive.append(.text(8))
    #expect(try archive.seqs() == [8])
    #expect(exists("\(folder.file).damaged"))
  }

  @Test func `whose drafts were read is not taken for the new one`() throws {
    var version: Archive.Draft.Version?
    do {
      let archive = try Archive(path: folder.file)
      #expect(try archive.keep(draft: "old", of: "general", version: &version))
      try archive.close()
    }
    try write(Array("certainly not a database".utf8), to: folder.file)
    let archive = try Archive(path: folder.file)
    #expect(archive.damage != nil)
    var other: Archive.Draft.Version?
    #expect(try archive.keep(draft: "new", of: "general", version: &other))
    #expect(other?.branch == version?.branch)
    #expect(try archive.keep(draft: "old, changed", of: "general", version: &version))
    #expect(try archive.drafts()["general"]?.map(\.text) == ["old, changed", "new"])
  }

  @Test func `is left where it is while another wschat has it open`() throws {
    try fill()
    let other = try Archive(path: folder.file)
    try damageMiddle()
    let archive = try Archive(path: folder.file)
    let error = try #require(throws: ArchiveError.self) {
      for before in stride(from: 3001, to: 1, by: -100) as StrideTo<Int64> {
        _ = try archive.page(of: "general", before: before, limit: 100)
      }
    }
    #expect(error.kind == .damaged)
    #expect(error.description.contains("Another wschat has it open"))
    #expect(throws: error) { try archive.rooms() }
    #expect(!exists("\(folder.file).damaged"))
    _ = other
  }

  @Test func `whose replacement was interrupted is replaced by the next one`() throws {
    try fill(10)
    try run("cp", folder.file, "\(folder.file).rescued")
    try sql("DELETE FROM entries", on: "\(folder.file).rescued")
    try write(Array("damaged".utf8), to: folder.file)
    let archive = try Archive(path: folder.file)
    #expect(try ids(archive) == ["1", "2", "3", "4", "5"])
    #expect(archive.damage == nil)
    #expect(try readBytes("\(folder.file).damaged").contains("damaged"))
    #expect(!exists("\(folder.file).rescued"))
  }

  @Test func `is refused if a newer wschat wrote it, and not touched`() throws {
    try fill(10)
    try sql("PRAGMA user_version = 99", on: folder.file)
    let before = try readBytes(folder.file)
    let error = try error(opening: folder.file)
    #expect(error.kind == .foreign)
    #expect(error.description.contains("99"))
    #expect(error.description.contains("Use a newer wschat"))
    #expect(try readBytes(folder.file) == before)
  }

  @Test func `is refused if it is another program's, and not touched`() throws {
    try run("mkdir", "-p", folder["wschat"])
    try sql("CREATE TABLE other (a)", on: folder.file)
    let before = try readBytes(folder.file)
    #expect(try error(opening: folder.file).kind == .foreign)
    #expect(try readBytes(folder.file) == before)
  }

  @Test func `reports the error if the folder cannot be created`() throws {
    try folder.write("", to: "file")
    let error = try error(opening: "\(folder.path)/file/wschat/a.db")
    #expect(error.kind == .environment)
    #expect(error.description.contains("\(folder.path)/file/wschat"))
    #expect(error.description.contains("Not a directory"))
  }

  @Test func `is still read while the disk is full, and written again when it is not`() throws {
    let archive = try Archive(path: folder.file)
    archive.begin("general", epoch: "e1", after: 0)
    archive.append(.text(1))
    try archive.flush()
    try archive.limit(pages: 1)
    for seq in 2...300 as ClosedRange<Int64> {
      archive.append(.text(seq, String(repeating: "x", count: 500)))
    }
    let full = try #require(throws: ArchiveError.self) { try archive.flush() }
    #expect(full.kind == .environment)
    #expect(full.description.contains("Free space on the disk"))
    #expect(throws: full) {
      try archive.enqueue(
        .init(room: "r", id: "1", text: String(repeating: "x", count: 50_000)), at: 1)
    }
    #expect(try archive.seqs() == [1])
    try archive.limit(pages: 0)
    try archive.flush()
    #expect(try archive.seqs() == Array(1...300))
  }
}
