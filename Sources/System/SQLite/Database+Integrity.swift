extension Database {
  /// Returns what SQLite's own check finds (`PRAGMA integrity_check`): damaged pages, a wrong order, and
  /// indexes that do not agree with their tables.
  package func integrityFindings() throws(SQLiteError) -> [String] {
    let unreadable = " unable to get the page. error code=\(SQLiteError.damagedPage)"
    var findings: [String] = []
    do throws(SQLiteError) {
      var check = try Statement("PRAGMA integrity_check", on: self)
      while try check.step() {
        // A row may have several, under the name of the database.
        for line in check.text(0).split(separator: "\n")
        where line != "ok" && !line.hasPrefix("***") {
          findings.append(
            line.hasSuffix(unreadable)
              ? "\(line.dropLast(unreadable.utf8.count)) it does not have its checksum" : "\(line)")
        }
      }
    } catch {
      // Damage can also end the check.
      guard error.isCorruption else { throw error }
      if findings.isEmpty { findings.append("\(error)") }
    }
    return findings
  }
}
