import ObjectStorage
import TestSupport
import Testing

/// What every conformer does.
@Suite struct `Object storage` {
  @Test(arguments: Conformer.all)
  func `returns what was stored, whole or in part`(conformer: Conformer) throws {
    try conformer.use { storage in
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
  }

  @Test(arguments: Conformer.all)
  func `lists names in order, and deletes`(conformer: Conformer) throws {
    try conformer.use { storage in
      #expect(try storage.list() == [])
      for name in ["b.2", "a-1", "b.1"] { try storage.put([0], as: name) }
      #expect(try storage.list() == ["a-1", "b.1", "b.2"])
      try storage.delete("b.1")
      try storage.delete("b.1")
      #expect(try storage.list() == ["a-1", "b.2"])
    }
  }

  @Test(arguments: Conformer.all)
  func `lists names from a place on, and those that begin with a text`(conformer: Conformer) throws
  {
    try conformer.use { storage in
      for name in ["a.2", "b.1", "b.2", "b.3", "b-", "c_1"] { try storage.put([0], as: name) }
      #expect(try storage.names(startingWith: "", after: "", limit: 2) == ["a.2", "b-"])
      #expect(try storage.names(startingWith: "b.", after: "", limit: 2) == ["b.1", "b.2"])
      #expect(try storage.names(startingWith: "b.", after: "b.1", limit: 1) == ["b.2"])
      #expect(try storage.names(startingWith: "b.", after: "b.1~", limit: 3) == ["b.2", "b.3"])
      #expect(try storage.names(startingWith: "b.", after: "b.3", limit: 3) == [])
    }
  }

  @Test(arguments: Conformer.all)
  func `has folders with objects of their own`(conformer: Conformer) throws {
    try conformer.use { storage in
      let inner = storage.folder("inner")
      try storage.put([1], as: "one")
      try inner.claim()
      try inner.put([2], as: "one")
      #expect(try storage.list().filter { $0 != "inner" } == ["one"])
      #expect(try inner.list() == ["one"])
      #expect(try inner.get("one", nil) == [2])
      try inner.delete("one")
      #expect(try storage.get("one", nil) == [1])
    }
  }

  @Test(arguments: Conformer.all)
  func `says which object is missing`(conformer: Conformer) throws {
    try conformer.use { storage in
      for range in [nil, 0..<10] {
        let error = #expect(throws: StorageError.self) { try storage.get("absent", range) }
        #expect(error?.kind == .missing)
        #expect(error?.description.contains("absent") == true)
      }
    }
  }
}

/// A storage to test, empty.
struct Conformer: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let use: @Sendable (_ body: (any ObjectStorage) throws -> Void) throws -> Void

  static let all = [folder, bucket]

  private static let folder = Conformer(testDescription: "folder") { body in
    let folder = try TemporaryFolder()
    let storage = FolderStorage(folder["objects"])
    try storage.claim()
    try body(storage)
    withExtendedLifetime(folder) {}
  }

  private static let bucket = Conformer(testDescription: "S3") { body in
    let server = try S3Server()
    defer { server.stop() }
    try body(server.storage(bucket: "tests", prefix: "some/place/"))
  }
}
