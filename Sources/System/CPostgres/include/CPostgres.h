#ifndef CPOSTGRES_H
#define CPOSTGRES_H

// The part of libpq that the relay uses. The library is loaded by `cpostgres_load`, so that a relay
// that does not use PostgreSQL runs without it; its ABI has been stable since PostgreSQL 14, which
// added pipelines. Each function is the one of libpq with the same name, and may be called only after
// the library was loaded.

#include <stddef.h>

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

typedef struct cpostgres_notify {
  char *channel;
  int process;
  char *payload;
  struct cpostgres_notify *next;
} cpostgres_notify;

enum {
  CPOSTGRES_CONNECTION_OK = 0,
  CPOSTGRES_COMMAND_OK = 1,
  CPOSTGRES_TUPLES_OK = 2,
  CPOSTGRES_PIPELINE_SYNC = 10,
  CPOSTGRES_PIPELINE_ABORTED = 11,
  CPOSTGRES_FIELD_SEVERITY = 'V',
  CPOSTGRES_FIELD_SQLSTATE = 'C',
  CPOSTGRES_FIELD_MESSAGE = 'M',
  CPOSTGRES_FIELD_DETAIL = 'D',
};

// Loads libpq once. Returns NULL, or why that failed. Thread-safe.
const char *cpostgres_load(void);

// Returns what is wrong with a connection string, to be freed by cpostgres_free, or NULL.
char *cpostgres_connection_string_error(const char *string);

PGconn *cpostgres_connect(const char *const *keywords, const char *const *values);
// Has each warning of the server add 1 to the count, instead of being written to stderr.
void cpostgres_count_warnings(PGconn *connection, int *count);
void cpostgres_finish(PGconn *connection);
// Connects again with the same parameters; the messages of errors name the SQLSTATE then.
void cpostgres_retry_verbosely(PGconn *connection);
// Whether the server asked for a password, and there is none.
int cpostgres_needs_password(const PGconn *connection);
int cpostgres_status(const PGconn *connection);
int cpostgres_socket(const PGconn *connection);
int cpostgres_server_version(const PGconn *connection);
const char *cpostgres_error_message(const PGconn *connection);
int cpostgres_enter_pipeline(PGconn *connection);
int cpostgres_pipeline_sync(PGconn *connection);
int cpostgres_send_prepare(PGconn *connection, const char *name, const char *query);
int cpostgres_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values,
    const int *lengths);
int cpostgres_send(
    PGconn *connection, const char *query, int count, const char *const *values,
    const int *lengths);
PGresult *cpostgres_next_result(PGconn *connection);
int cpostgres_is_busy(PGconn *connection);
int cpostgres_consume_input(PGconn *connection);
cpostgres_notify *cpostgres_notifies(PGconn *connection);
void cpostgres_free(void *memory);

void cpostgres_clear(PGresult *result);
int cpostgres_result_status(const PGresult *result);
const char *cpostgres_result_field(const PGresult *result, int field);
int cpostgres_rows(const PGresult *result);
const char *cpostgres_value(const PGresult *result, int row, int column);
int cpostgres_length(const PGresult *result, int row, int column);
int cpostgres_is_null(const PGresult *result, int row, int column);

#endif
