import TestSupport

/// One file of the project.
struct SourceFile {
  let path: String

  func lines() throws -> [String] {
    try readFile(path)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }
}
