import Glibc
import Testing

/// The bugs that the simulation and the fuzzer are to find are patches, which the product may outgrow.
@Suite struct `Planted bugs` {
  private static let folder = Folder.package.folder("Tests/Simulation/PlantedBugs")

  @Test func `every one of them can still be planted`() throws {
    var template = Array("/tmp/relay-planted.XXXXXX".utf8CString)
    let copy = try #require(
      unsafe template.withUnsafeMutableBufferPointer { characters in
        unsafe mkdtemp(characters.baseAddress!).map { unsafe String(cString: $0) }
      })
    defer { _ = try? Self.run("rm", "-r", copy) }
    #expect(try Self.run("\(Self.folder.path)/plant", copy) == 0)
    var planted = 0
    for file in Folder("\(copy)/Sources").swiftFiles {
      planted += try file.lines().count { $0.contains("isPlanted(") }
    }
    #expect(planted >= 30)
  }

  /// - Returns: as wait(2) has it.
  private static func run(_ words: String...) throws -> Int32 {
    var pointers = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    var id = pid_t()
    try #require(unsafe posix_spawnp(&id, words[0], nil, nil, &pointers, environ) == 0)
    var status: Int32 = 0
    while unsafe waitpid(id, &status, 0) != id { try #require(errno == EINTR) }
    return status
  }
}
