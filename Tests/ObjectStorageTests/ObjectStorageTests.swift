import ObjectStorage
import TestSupport
import Testing

/// What every conformer does.
@Suite struct `Object storage` {
  @Test(arguments: Conformer.all)
  func `returns what was stored, whole or in part`(conformer: Conformer) throws {
    let storage = try conformer.storage
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    try storage.put(bytes, as: "one")
    #expect(try storage.get("one", nil) == bytes)
    #expect(try storage.get("one", 10..<20) == Array(bytes[10..<20]))
    #expect(try storage.get("one", 99_990..<200_000) == Array(bytes[99_990...]))
    try storage.put([1, 2], as: "one")
    #expect(try storage.get("one", nil) == [1, 2])
    try storage.put([], as: "none")
    #expect(try storage.get("none", nil) == [])
  }

  @Test(arguments: Conformer.all)
  func `lists names in order, and deletes`(conformer: Conformer) throws {
    let storage = try conformer.storage
    #expect(try storage.list() == [])
    for name in ["b.2", "a-1", "b.1"] { try storage.put([0], as: name) }
    #expect(try storage.list() == ["a-1", "b.1", "b.2"])
    try storage.delete("b.1")
    try storage.delete("b.1")
    #expect(try storage.list() == ["a-1", "b.2"])
  }

  @Test(arguments: Conformer.all)
  func `says which object is missing`(conformer: Conformer) throws {
    let storage = try conformer.storage
    for range in [nil, 0..<10] {
      let error = #expect(throws: StorageError.self) { try storage.get("absent", range) }
      #expect(error?.kind == .missing)
      #expect(error?.description.contains("absent") == true)
    }
  }
}

/// A storage to test, empty.
struct Conformer: CustomTestStringConvertible, Sendable {
  let testDescription: String
  private let make: @Sendable () throws -> any ObjectStorage

  var storage: any ObjectStorage { get throws { try make() } }

  static let all = [folder]

  private static let folder = Conformer(testDescription: "folder") {
    let folder = try TemporaryFolder()
    let storage = FolderStorage(folder["objects"])
    try storage.claim()
    return Kept(storage, folder)
  }
}

/// A storage with what it needs as long as it is used.
private struct Kept: ObjectStorage {
  private let storage: any ObjectStorage
  private let owned: any Sendable

  init(_ storage: any ObjectStorage, _ owned: any Sendable) {
    (self.storage, self.owned) = (storage, owned)
  }

  var description: String { storage.description }
  func claim() throws(StorageError) { try storage.claim() }
  func put(_ bytes: [UInt8], as name: String) throws(StorageError) {
    try storage.put(bytes, as: name)
  }
  func get(_ name: String, _ range: Range<Int>?) throws(StorageError) -> [UInt8] {
    try storage.get(name, range)
  }
  func list() throws(StorageError) -> [String] { try storage.list() }
  func delete(_ name: String) throws(StorageError) { try storage.delete(name) }
}
