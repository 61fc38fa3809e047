import Glibc
import SQLite
import TestSupport
import Testing

@Suite struct `The pages of a database` {
  /// Databases beyond 1 GiB could not be backed up: SQLite never writes the page there, which has its locks.
  @Test func `are read beyond the page at 1 GiB, which has no content`() throws {
    let folder = try TemporaryFolder()
    let path = folder["relay.db"]
    do {
      let database = try Database(path: path, mode: .create)
      database.addPageChecksums()
      try database.execute("CREATE TABLE entries (body BLOB)")
    }
    let pages = try DatabasePages(path: path)
    // The file is as long, and has nothing there.
    #expect(unsafe truncate(path, (1 << 30) + off_t(2 * pages.pageBytes)) == 0)
    let locked = UInt32((1 << 30) / pages.pageBytes + 1)
    try pages.atOneMoment { moment in
      let content = try moment.page(locked)
      #expect(content == [UInt8](repeating: 0, count: pages.pageBytes))
      for other in [locked - 1, locked + 1] {
        do {
          _ = try moment.page(other)
          Issue.record("the page \(other) has no checksum")
        } catch let error as SQLiteError {
          #expect(error.description.contains("does not have its checksum"), "\(error)")
        }
      }
    }
  }
}
