// Put before OpenSSL (LD_PRELOAD): while the file NO_MEMORY exists there is no memory for a session.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void *SSL_new(void *context) {
  void *(*real)(void *) = dlsym(RTLD_NEXT, "SSL_new");
  const char *file = getenv("NO_MEMORY");
  return file && access(file, F_OK) == 0 ? NULL : real(context);
}
