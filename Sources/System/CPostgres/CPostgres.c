#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*notice_receiver)(void *, const PGresult *);

// The functions of libpq: their result, their name without "PQ", and their parameters.
#define FUNCTIONS(X)                                                                              \
  X(PGconn *, connectdbParams, (const char *const *, const char *const *, int))                   \
  X(void *, conninfoParse, (const char *, char **))                                               \
  X(void, conninfoFree, (void *))                                                                 \
  X(int, connectionNeedsPassword, (const PGconn *))                                               \
  X(void, finish, (PGconn *))                                                                     \
  X(notice_receiver, setNoticeReceiver, (PGconn *, notice_receiver, void *))                      \
  X(void, reset, (PGconn *))                                                                      \
  X(int, setErrorVerbosity, (PGconn *, int))                                                      \
  X(int, status, (const PGconn *))                                                                \
  X(int, socket, (const PGconn *))                                                                \
  X(int, serverVersion, (const PGconn *))                                                         \
  X(char *, errorMessage, (const PGconn *))                                                       \
  X(int, enterPipelineMode, (PGconn *))                                                           \
  X(int, pipelineSync, (PGconn *))                                                                \
  X(int, sendPrepare, (PGconn *, const char *, const char *, int, const unsigned *))              \
  X(int, sendQueryPrepared,                                                                       \
    (PGconn *, const char *, int, const char *const *, const int *, const int *, int))            \
  X(int, sendQueryParams,                                                                         \
    (PGconn *, const char *, int, const unsigned *, const char *const *, const int *,             \
     const int *, int))                                                                           \
  X(PGresult *, getResult, (PGconn *))                                                            \
  X(int, isBusy, (PGconn *))                                                                      \
  X(int, consumeInput, (PGconn *))                                                                \
  X(cpostgres_notify *, notifies, (PGconn *))                                                     \
  X(void, freemem, (void *))                                                                      \
  X(void, clear, (PGresult *))                                                                    \
  X(int, resultStatus, (const PGresult *))                                                        \
  X(char *, resultErrorField, (const PGresult *, int))                                            \
  X(int, ntuples, (const PGresult *))                                                             \
  X(char *, getvalue, (const PGresult *, int, int))                                               \
  X(int, getlength, (const PGresult *, int, int))                                                 \
  X(int, getisnull, (const PGresult *, int, int))

#define DECLARE(result, name, parameters) static result(*pq_##name) parameters;
FUNCTIONS(DECLARE)

static char failure[512];

static void load(void) {
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *reason = dlerror();
    snprintf(failure, sizeof failure, "%s", reason != NULL ? reason : "unknown reason");
    return;
  }
#define RESOLVE(result, name, parameters)                                                         \
  *(void **)&pq_##name = dlsym(library, "PQ" #name);                                              \
  if (pq_##name == NULL) {                                                                        \
    snprintf(failure, sizeof failure, "libpq.so.5 has no PQ%s: version 14 or later is required",  \
             #name);                                                                              \
    return;                                                                                       \
  }
  FUNCTIONS(RESOLVE)
}

const char *cpostgres_load(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return failure[0] == '\0' ? NULL : failure;
}

char *cpostgres_connection_string_error(const char *string) {
  char *error = NULL;
  void *options = pq_conninfoParse(string, &error);
  if (options != NULL) pq_conninfoFree(options);
  return error;
}

PGconn *cpostgres_connect(const char *const *keywords, const char *const *values) {
  // 1: `dbname` may be a connection string or a URI.
  return pq_connectdbParams(keywords, values, 1);
}

static void count_warning(void *count, const PGresult *notice) {
  const char *severity = pq_resultErrorField(notice, CPOSTGRES_FIELD_SEVERITY);
  if (severity != NULL && strcmp(severity, "WARNING") == 0) ++*(int *)count;
}

void cpostgres_count_warnings(PGconn *connection, int *count) {
  pq_setNoticeReceiver(connection, count_warning, count);
}

void cpostgres_finish(PGconn *connection) { pq_finish(connection); }

void cpostgres_retry_verbosely(PGconn *connection) {
  enum { PQERRORS_DEFAULT = 1, PQERRORS_VERBOSE = 2 };
  pq_setErrorVerbosity(connection, PQERRORS_VERBOSE);
  pq_reset(connection);
  pq_setErrorVerbosity(connection, PQERRORS_DEFAULT);
}

int cpostgres_needs_password(const PGconn *connection) {
  return pq_connectionNeedsPassword(connection);
}
int cpostgres_status(const PGconn *connection) { return pq_status(connection); }
int cpostgres_socket(const PGconn *connection) { return pq_socket(connection); }
int cpostgres_server_version(const PGconn *connection) { return pq_serverVersion(connection); }
const char *cpostgres_error_message(const PGconn *connection) {
  return pq_errorMessage(connection);
}
int cpostgres_enter_pipeline(PGconn *connection) { return pq_enterPipelineMode(connection); }
int cpostgres_pipeline_sync(PGconn *connection) { return pq_pipelineSync(connection); }

int cpostgres_send_prepare(PGconn *connection, const char *name, const char *query) {
  return pq_sendPrepare(connection, name, query, 0, NULL);
}

// All parameters and results are in binary format.
static const int *binary(int count) {
  static const int formats[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                  1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  if (count > 64) abort();
  return formats;
}

int cpostgres_send_prepared(
    PGconn *connection, const char *name, int count, const char *const *values,
    const int *lengths) {
  return pq_sendQueryPrepared(connection, name, count, values, lengths, binary(count), 1);
}

int cpostgres_send(
    PGconn *connection, const char *query, int count, const char *const *values,
    const int *lengths) {
  return pq_sendQueryParams(connection, query, count, NULL, values, lengths, binary(count), 1);
}

PGresult *cpostgres_next_result(PGconn *connection) { return pq_getResult(connection); }
int cpostgres_is_busy(PGconn *connection) { return pq_isBusy(connection); }
int cpostgres_consume_input(PGconn *connection) { return pq_consumeInput(connection); }
cpostgres_notify *cpostgres_notifies(PGconn *connection) { return pq_notifies(connection); }
void cpostgres_free(void *memory) { pq_freemem(memory); }

void cpostgres_clear(PGresult *result) { pq_clear(result); }
int cpostgres_result_status(const PGresult *result) { return pq_resultStatus(result); }
const char *cpostgres_result_field(const PGresult *result, int field) {
  return pq_resultErrorField(result, field);
}
int cpostgres_rows(const PGresult *result) { return pq_ntuples(result); }
const char *cpostgres_value(const PGresult *result, int row, int column) {
  return pq_getvalue(result, row, column);
}
int cpostgres_length(const PGresult *result, int row, int column) {
  return pq_getlength(result, row, column);
}
int cpostgres_is_null(const PGresult *result, int row, int column) {
  return pq_getisnull(result, row, column);
}
