import Glibc
import TestSupport

extension TemporaryFolder {
  /// Copies a data folder as it is, as for a backup or after the death of its process.
  ///
  /// In another process: SQLite's locks on a file end when the process that holds them closes
  /// any descriptor of that file.
  func copy(_ name: String, to other: String) throws {
    try run("cp", "-r", self[name], self[other])
  }

  /// The size of a file; 0 if there is none.
  func bytes(of name: String) -> Int {
    var status = stat()
    return unsafe stat(self[name], &status) == 0 ? Int(status.st_size) : 0
  }
}
