#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast that Swift cannot import; the copies that it asks for go into memory
   that the statement keeps from row to row. */
static inline int csqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 bytes) {
  return sqlite3_bind_text64(statement, index, text, bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int csqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *blob, sqlite3_uint64 bytes) {
  return sqlite3_bind_blob64(statement, index, blob, bytes, SQLITE_TRANSIENT);
}
