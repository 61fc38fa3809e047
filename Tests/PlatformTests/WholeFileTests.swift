import Glibc
import Platform
import TestSupport
import Testing

@Suite struct `Whole file` {
  @Test func `a file is replaced, and what is none is not`() throws {
    let folder = try TemporaryFolder()
    try WholeFile.replace(folder["file"], with: [1])
    try WholeFile.replace(folder["file"], with: [2])
    #expect(try readBytes(folder["file"]) == [2])
    #expect(unsafe mkfifo(folder["pipe"], 0o600) == 0)
    let refusal = #expect(throws: SystemError.self) {
      try WholeFile.replace(folder["pipe"], with: [1])
    }
    #expect(refusal?.description == "replace \(folder["pipe"]): Invalid argument")
    #expect(try fileNames(in: folder.path).sorted() == ["file", "pipe"])
  }
}
