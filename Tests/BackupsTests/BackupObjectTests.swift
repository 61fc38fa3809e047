import Testing

@testable import Backups

@Suite struct `Backup object` {
  private static let object: BackupObject = {
    let pages = [1, 2, 5].map {
      BackupObject.Page(file: $0 % 2, number: $0, hash: PageHash(of: [UInt8($0)]))
    }
    return BackupObject(
      name: ObjectName(number: 42, time: 1_795_816_927_123, base: 7),
      previous: [UInt8](repeating: 0xA5, count: 32), store: "epoch",
      files: [
        .init(name: "people 1.json", pageBytes: 16, bytes: 24),
        .init(name: "relay.db", pageBytes: 16, bytes: 80),
      ], pages: pages)
  }()
  /// A whole page, the rest of a file, and another whole page.
  private static let contents = [UInt8](0..<40)
  private static let encoded = object.encoded(contents)

  @Test func `is read as it was written`() throws {
    let read = try #require(BackupObject.read(Self.encoded))
    #expect(read.object.name == Self.object.name)
    #expect(read.object.previous == Self.object.previous)
    #expect(read.object.store == Self.object.store)
    #expect(read.object.files == Self.object.files)
    #expect(read.object.pages.map(\.number) == [1, 2, 5])
    #expect(read.object.pages.map(\.hash) == Self.object.pages.map(\.hash))
    #expect(read.contents.map { Array($0) } == [Array(0..<16), Array(16..<24), Array(24..<40)])
  }

  @Test func `with any bit changed, or cut anywhere, is damaged`() {
    for place in Self.encoded.indices {
      var damaged = Self.encoded
      damaged[place] ^= UInt8(1 << (place % 8))
      #expect(BackupObject.read(damaged) == nil, "at \(place)")
      #expect(BackupObject.read(Array(Self.encoded[..<place])) == nil, "cut at \(place)")
    }
  }

  @Test(arguments: ["../relay.db", ".", "a/b", ""])
  func `does not name a file outside of the folder`(name: String) {
    var object = Self.object
    object.files[0].name = name
    #expect(BackupObject.read(object.encoded(Self.contents)) == nil)
  }

  @Test func `has no page beyond the end of its file`() {
    var object = Self.object
    object.files[1].bytes = 64
    #expect(BackupObject.head(object.encoded(Self.contents)) == nil)
  }

  @Test(arguments: [
    "", "0000000042", "0000000042.1795816927123", "42.1795816927123.part",
    "0000000042.1795816927123.parts", "0000000042.1795816927123.point-7",
    "-000000042.1795816927123.part",
  ])
  func `of another name is none`(name: String) { #expect(ObjectName(name) == nil) }

  @Test(arguments: [nil, 7, 1_000_000_000])
  func `says by its name what it is`(base: Int?) {
    let name = ObjectName(number: 42, time: 1_795_816_927_123, base: base)
    #expect(ObjectName(name.text) == name)
  }
}
