import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Server

@Suite struct `PNGs of thumbnails` {
  /// Writes 100 bytes for each thumbnail, while `isHeld` is false.
  private final class Converter: FileProcessor {
    struct State {
      var isHeld = false
      var running = 0
      var most = 0
      var paths: [String] = []
    }
    let state = Mutex(State())
    let refuses: Bool

    init(refuses: Bool = false) { self.refuses = refuses }

    func process(_ path: String) -> ProcessedFile { ProcessedFile() }

    func convertToPNG(_ path: String, into output: String) -> Bool {
      state.withLock {
        $0.running += 1
        $0.most = max($0.most, $0.running)
        $0.paths.append(path)
      }
      _ = becomesTrue { state.withLock { !$0.isHeld } }
      state.withLock { $0.running -= 1 }
      if refuses { return false }
      try? WholeFile.write([UInt8](repeating: 1, count: 100), to: output)
      return true
    }
  }

  /// The bytes of a folder, as if other relays had them, too.
  private struct SharedBytes: FileBytes {
    let folder: FolderBytes

    var check: String { folder.check }
    var description: String { folder.description }
    var countedBytes: Int64 { 0 }
    var isShared: Bool { true }
    func place(of name: String) -> String { folder.place(of: name) }
    func name(ofHash hash: String) -> String { folder.name(ofHash: hash) }
    func store(_ path: String, as name: String) throws(FileBytesError) -> Int64 {
      try folder.store(path, as: name)
    }
    func read(
      _ name: String, at offset: Int64, bytes limit: Int
    ) throws(FileBytesError) -> (bytes: [UInt8], size: Int64)? {
      try folder.read(name, at: offset, bytes: limit)
    }
    func remove(_ name: String) throws(FileBytesError) -> Int64 { try folder.remove(name) }
    func names(
      storedBefore time: Int64, from place: String
    ) throws(FileBytesError) -> (names: [String], next: String?) {
      try folder.names(storedBefore: time, from: place)
    }
  }

  private let temporary: TemporaryFolder
  private let folder: FileFolder

  init() throws {
    temporary = try TemporaryFolder()
    folder = FileFolder(path: temporary["files"])
    try folder.prepare()
  }

  private func thumbnail(_ number: Int) throws -> String {
    let digits = "\(number)"
    let hash = String(repeating: "a", count: 64 - digits.count) + digits
    try PrivateFiles.createFolder(folder.subfolder(of: hash))
    try WholeFile.write([1], to: folder.stored(hash))
    return hash
  }

  /// Runs a converter until all requests that `body` makes are answered, and returns the answers.
  private func run(
    _ converter: ThumbnailConverter<Int>, _ body: () throws -> Void
  ) throws -> [(exists: Bool, request: Int)] {
    let answers = Answers()
    let thread = try WorkerThread(name: "converter") {
      converter.run { exists, request in
        answers.list.withLock { $0.append((exists, request)) }
      }
    }
    try body()
    converter.stop()
    thread.join()
    return answers.list.withLock { $0 }
  }

  private final class Answers: Sendable {
    let list = Mutex<[(exists: Bool, request: Int)]>([])
  }

  @Test func `two hundred requests at once convert one thumbnail after the other, each once`()
    throws
  {
    let processor = Converter()
    let converter = ThumbnailConverter<Int>(folder, FolderBytes(folder: folder), processor)
    let hashes = try (0..<10).map(thumbnail)
    let answers = try run(converter) {
      processor.state.withLock { $0.isHeld = true }
      for number in 0..<200 {
        #expect(converter.convert(hashes[number % 10], for: number, of: "\(number % 4)"))
      }
      processor.state.withLock { $0.isHeld = false }
      #expect(becomesTrue { hashes.allSatisfy { folder.status(of: folder.png(of: $0)) != nil } })
    }
    #expect(Set(answers.map(\.request)) == Set(0..<200))
    processor.state.withLock {
      #expect($0.most == 1)
      #expect($0.paths.sorted() == hashes.map { "\(folder.png(of: $0)).webp" }.sorted())
    }
  }

  @Test func `one that was made before a request is not made again`() throws {
    let processor = Converter()
    let converter = ThumbnailConverter<Int>(folder, FolderBytes(folder: folder), processor)
    let hash = try thumbnail(0)
    let answers = try run(converter) {
      for number in 0..<2 {
        #expect(converter.convert(hash, for: number, of: "ada"))
        #expect(becomesTrue { folder.status(of: folder.png(of: hash)) != nil })
      }
    }
    #expect(Set(answers.map(\.request)) == [0, 1])
    #expect(processor.state.withLock { $0.paths.count } == 1)
  }

  @Test func `further requests of a user are refused while many wait, and those of others are not`()
    throws
  {
    let processor = Converter()
    let converter = ThumbnailConverter<Int>(
      folder, FolderBytes(folder: folder), processor, waitingLimit: 3)
    let hashes = try (0..<4).map(thumbnail)
    _ = try run(converter) {
      processor.state.withLock { $0.isHeld = true }
      for number in 0..<3 {
        #expect(converter.convert(hashes[number], for: number, of: "mallory"))
      }
      #expect(!converter.convert(hashes[3], for: 3, of: "mallory"))
      #expect(converter.convert(hashes[3], for: 4, of: "ada"))
      processor.state.withLock { $0.isHeld = false }
      #expect(becomesTrue { converter.convert(hashes[3], for: 5, of: "mallory") })
    }
  }

  @Test func `users take turns: those of one who requests many hold up nobody else`() throws {
    let processor = Converter()
    let converter = ThumbnailConverter<Int>(folder, FolderBytes(folder: folder), processor)
    let hashes = try (0..<11).map(thumbnail)
    let answers = try run(converter) {
      processor.state.withLock { $0.isHeld = true }
      for number in 0..<10 {
        #expect(converter.convert(hashes[number], for: number, of: "mallory"))
      }
      #expect(becomesTrue { processor.state.withLock { $0.running == 1 } })
      #expect(converter.convert(hashes[10], for: 10, of: "ada"))
      // One that the other user waits for, too.
      #expect(converter.convert(hashes[9], for: 11, of: "ada"))
      processor.state.withLock { $0.isHeld = false }
      #expect(becomesTrue { hashes.allSatisfy { folder.status(of: folder.png(of: $0)) != nil } })
    }
    let order = answers.map(\.request)
    let turn = try #require(order.firstIndex(of: 10))
    #expect(turn <= 2 && order.firstIndex(of: 11) == turn + 2, "\(order)")
    #expect(processor.state.withLock { $0.paths.count } == 11)
  }

  @Test func `the oldest go when they are too many bytes, and those of an earlier relay`() throws {
    try PrivateFiles.createFolder(folder.pngs)
    let old = try thumbnail(9)
    try WholeFile.write([1], to: folder.png(of: old))
    let converter = ThumbnailConverter<Int>(
      folder, FolderBytes(folder: folder), Converter(), keptLimitBytes: 250)
    let hashes = try (0..<3).map(thumbnail)
    _ = try run(converter) {
      for hash in hashes {
        #expect(converter.convert(hash, for: 0, of: "ada"))
        #expect(becomesTrue { folder.status(of: folder.png(of: hash)) != nil })
      }
    }
    #expect(Set(PrivateFiles.names(in: folder.pngs) ?? []) == Set(hashes[1...]))
  }

  @Test func `none stays of a thumbnail that is removed while it is converted`() throws {
    let processor = Converter()
    let converter = ThumbnailConverter<Int>(folder, FolderBytes(folder: folder), processor)
    let hash = try thumbnail(0)
    let answers = try run(converter) {
      processor.state.withLock { $0.isHeld = true }
      #expect(converter.convert(hash, for: 0, of: "ada"))
      #expect(becomesTrue { processor.state.withLock { $0.running == 1 } })
      folder.remove(folder.stored(hash))
      processor.state.withLock { $0.isHeld = false }
      #expect(becomesTrue { processor.state.withLock { $0.running == 0 } })
    }
    #expect(answers.map(\.exists) == [false])
    #expect(PrivateFiles.names(in: folder.pngs) == [])
  }

  @Test func `one that cannot be made is told, and leaves nothing`() throws {
    let processor = Converter(refuses: true)
    let converter = ThumbnailConverter<Int>(folder, FolderBytes(folder: folder), processor)
    let hash = try thumbnail(0)
    let answers = try run(converter) {
      #expect(converter.convert(hash, for: 7, of: "ada"))
      #expect(becomesTrue { processor.state.withLock { $0.paths.count == 1 } })
    }
    #expect(answers.map(\.exists) == [true] && answers.map(\.request) == [7])
    #expect(PrivateFiles.names(in: folder.pngs) == [])
  }

  @Test func `one that cannot be made is tried once for all that wait for it`() throws {
    let processor = Converter(refuses: true)
    let converter = ThumbnailConverter<Int>(folder, FolderBytes(folder: folder), processor)
    let hashes = try (0..<2).map(thumbnail)
    let answers = try run(converter) {
      processor.state.withLock { $0.isHeld = true }
      for number in 0..<60 {
        #expect(converter.convert(hashes[number % 2], for: number, of: "\(number % 3)"))
      }
      processor.state.withLock { $0.isHeld = false }
      #expect(becomesTrue { processor.state.withLock { $0.paths.count == 2 && $0.running == 0 } })
      // One that comes later is another attempt.
      #expect(converter.convert(hashes[0], for: 60, of: "0"))
      #expect(becomesTrue { processor.state.withLock { $0.paths.count == 3 } })
    }
    #expect(Set(answers.map(\.request)) == Set(0...60) && answers.count == 61)
    #expect(processor.state.withLock { $0.paths.count } == 3)
  }

  @Test func `where others may remove the thumbnail, its PNG is kept for all parts, and then goes`()
    throws
  {
    let hash = try thumbnail(0)
    let bytes = SharedBytes(folder: FolderBytes(folder: folder))
    let processor = Converter()
    func count() -> Int { processor.state.withLock { $0.paths.count } }
    let patient = ThumbnailConverter<Int>(folder, bytes, processor, sharedMilliseconds: 3_600_000)
    _ = try run(patient) {
      #expect(patient.convert(hash, for: 0, of: "ada"))
      #expect(becomesTrue { folder.status(of: folder.png(of: hash)) != nil })
      #expect(patient.convert(hash, for: 1, of: "ada"))
    }
    #expect(count() == 1)
    let hasty = ThumbnailConverter<Int>(folder, bytes, processor, sharedMilliseconds: 1)
    _ = try run(hasty) {
      // It is made again, so it had gone.
      let isMadeAgain = becomesTrue {
        _ = hasty.convert(hash, for: 2, of: "ada")
        return count() == 3
      }
      #expect(isMadeAgain)
    }
  }
}
