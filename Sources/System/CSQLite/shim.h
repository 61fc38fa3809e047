#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast that Swift cannot import; the copies that it asks for go into memory
   that the statement keeps from row to row. */
static inline int csqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 bytes) {
  return sqlite3_bind_text64(statement, index, text, bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* For memory that the caller keeps until the parameter is bound anew: no copy, no allocation. */
static inline int csqlite_bind_kept_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 bytes) {
  return sqlite3_bind_text64(statement, index, text, bytes, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int csqlite_bind_kept_blob(
    sqlite3_stmt *statement, int index, const void *blob, sqlite3_uint64 bytes) {
  return sqlite3_bind_blob64(statement, index, blob, bytes, SQLITE_STATIC);
}

/* Without them, threads do not meet at one lock for each allocation. To be called before anything
   else, which is why a refusal is of no interest: then another had its way first. */
static inline void csqlite_forgo_memory_statistics(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static inline int csqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *blob, sqlite3_uint64 bytes) {
  return sqlite3_bind_blob64(statement, index, blob, bytes, SQLITE_TRANSIENT);
}
