import Glibc
import TestSupport

extension TemporaryFolder {
  /// Copies a data directory as it lies there, as a backup does, or the death of its process.
  ///
  /// By another process: SQLite's locks on a file are gone once the process that holds them closes
  /// any descriptor of that file.
  func copy(_ name: String, to other: String) throws {
    try run("cp", "-r", self[name], self[other])
  }

  /// The size of a file; 0 where there is none.
  func bytes(of name: String) -> Int {
    var status = stat()
    return unsafe stat(self[name], &status) == 0 ? Int(status.st_size) : 0
  }
}
