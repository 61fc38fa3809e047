#include <sqlite3.h>

/* SQLITE_TRANSIENT is a cast that Swift cannot import; SQLite copies the value into memory that the
   statement reuses for the next row. */
static inline int csqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 bytes) {
  return sqlite3_bind_text64(statement, index, text, bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* For memory that the caller keeps until the parameter is bound again: no copy, no allocation. */
static inline int csqlite_bind_kept_text(
    sqlite3_stmt *statement, int index, const char *text, sqlite3_uint64 bytes) {
  return sqlite3_bind_text64(statement, index, text, bytes, SQLITE_STATIC, SQLITE_UTF8);
}

static inline int csqlite_bind_kept_blob(
    sqlite3_stmt *statement, int index, const void *blob, sqlite3_uint64 bytes) {
  return sqlite3_bind_blob64(statement, index, blob, bytes, SQLITE_STATIC);
}

/* Without memory statistics, threads do not contend for one lock at each allocation. Must be called
   before any other SQLite function; a failure means that it was too late, and is ignored. */
static inline void csqlite_forgo_memory_statistics(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static inline int csqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *blob, sqlite3_uint64 bytes) {
  return sqlite3_bind_blob64(statement, index, blob, bytes, SQLITE_TRANSIENT);
}

/* The results of a virtual table's columns, which SQLite copies. */
static inline void csqlite_result_text(
    sqlite3_context *context, const char *text, sqlite3_uint64 bytes) {
  sqlite3_result_text64(context, text ? text : "", bytes, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void csqlite_result_blob(
    sqlite3_context *context, const void *blob, sqlite3_uint64 bytes) {
  sqlite3_result_blob64(context, blob ? blob : "", bytes, SQLITE_TRANSIENT);
}

/* A copy that SQLite frees. */
static inline char *csqlite_copy(const char *text) { return sqlite3_mprintf("%s", text); }
