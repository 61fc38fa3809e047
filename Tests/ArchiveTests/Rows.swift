import CSQLite
import TestSupport

/// The number of rows of a table, as another program sees it.
func rows(of table: String, in folder: TemporaryFolder) throws -> Int64 {
  try sql("SELECT count(*) FROM \(table)", on: folder.file)
}

/// Runs SQL on a connection of its own, and returns the first integer.
@discardableResult
func sql(_ text: String, on path: String) throws -> Int64 {
  var handle: OpaquePointer?
  defer { unsafe sqlite3_close_v2(handle) }
  guard unsafe sqlite3_open(path, &handle) == SQLITE_OK else { throw SQLFailed(text: text) }
  unsafe sqlite3_busy_timeout(handle, 2000)
  var statement: OpaquePointer?
  defer { unsafe sqlite3_finalize(statement) }
  guard unsafe sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK else {
    throw SQLFailed(text: text)
  }
  switch unsafe sqlite3_step(statement) {
  case SQLITE_ROW: return unsafe sqlite3_column_int64(statement, 0)
  case SQLITE_DONE: return 0
  default: throw SQLFailed(text: text)
  }
}

/// Undoes the last four steps of the schema.
func leaveAsVersion4(_ path: String) throws {
  for index in ["notices", "hidden"] { try sql("DROP INDEX \(index)", on: path) }
  for table in ["words", "blocks", "unindexing", "indexing", "uploads"] {
    try sql("DROP TABLE \(table)", on: path)
  }
  try sql("PRAGMA user_version = 4", on: path)
}

/// Undoes the fourth step as well.
func leaveAsVersion3(_ path: String) throws {
  try leaveAsVersion4(path)
  for statement in [
    "DROP TABLE drafts", "DROP TABLE revisions", "DROP INDEX revised",
    "ALTER TABLE rooms DROP COLUMN revision", "ALTER TABLE outbox DROP COLUMN owner",
    "ALTER TABLE rooms ADD COLUMN draft TEXT NOT NULL DEFAULT ''", "PRAGMA user_version = 3",
  ] { try sql(statement, on: path) }
}

struct SQLFailed: Error { var text: String }
