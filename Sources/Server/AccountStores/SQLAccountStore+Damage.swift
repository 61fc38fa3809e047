import SQLite

extension SQLAccountStore {
  /// Returns what is damaged in a file of accounts; `nil` if nothing is.
  /// - Parameter isInUse: whether a relay may be writing its write-ahead log.
  package static func damage(ofFileAt path: String, isInUse: Bool) -> String? {
    do throws(SQLiteError) {
      let database = try Database(path: path, mode: .readOnly)
      if let finding = try database.integrityFindings().first { return finding }
    } catch {
      return "\(error)"
    }
    return !isInUse && Database.hasLostCommits(path: path)
      ? "commits in its write-ahead log cannot be read" : nil
  }
}
