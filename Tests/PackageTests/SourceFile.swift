import Glibc

/// One file of the project.
struct SourceFile {
  let path: String

  func lines() throws -> [String] {
    guard let file = unsafe fopen(path, "r") else { throw UnreadableFile(path: path) }
    defer { unsafe fclose(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe fread(&chunk, 1, chunk.count, file)
      if count == 0 { break }
      bytes.append(contentsOf: chunk[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  struct UnreadableFile: Error { var path: String }
}
