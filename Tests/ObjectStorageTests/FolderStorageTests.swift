import ObjectStorage
import TestSupport
import Testing

@Suite struct `Folder storage` {
  @Test func `is written by one program at a time`() throws {
    let folder = try TemporaryFolder()
    let first = FolderStorage(folder.path)
    try first.claim()
    let error = #expect(throws: StorageError.self) { try FolderStorage(folder.path).claim() }
    #expect(error?.kind == .refused)
    withExtendedLifetime(first) {}
  }

  @Test func `removes what a killed program has left of an object`() throws {
    let folder = try TemporaryFolder()
    try folder.write("half", to: "object.new")
    let storage = FolderStorage(folder.path)
    #expect(try storage.list() == [])
    try storage.claim()
    #expect(folder.names == [])
  }

  @Test func `that does not exist is named`() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: StorageError.self) { try FolderStorage(folder["absent"]).list() }
    #expect(error?.description.contains(folder["absent"]) == true)
  }
}
