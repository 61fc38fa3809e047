// Preloaded into a relay (LD_PRELOAD), this library records the writes to the files of one folder and
// the syncs, so that swarm can compute what a power loss would have left of them.
//
//   POWERLOSS_FOLDER  the folder, an absolute path
//   POWERLOSS_RECORD  the file to append records to; it must be outside of the folder
//
// Each record is a header of 40 bytes and a payload; numbers have this machine's byte order. A record
// is written under a lock after its call has succeeded, so the file contains only writes that were
// made, in their order. A sync covers the records written before it began. Memory-mapped files
// (SQLite's -shm) are not recorded; they are rebuilt from the others.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum operation {
  CREATE = 1,    // payload: name; file is a new one
  OPEN = 2,      // payload: name
  WRITE = 3,     // payload: the bytes; offset
  TRUNCATE = 4,  // offset: the new size
  SYNC = 5,      // offset: the number of the last record that is covered
  UNLINK = 6,    // payload: name
  RENAME = 7,    // payload: the old name, a zero byte, the new name
  SYNC_FOLDER = 8,
  // An operation that cannot be recorded: the run proves nothing.
  UNKNOWN = 9,
};

struct header {
  uint64_t number;
  uint64_t operation;
  uint64_t file;  // the inode
  uint64_t offset;
  uint64_t length;
};

enum { DESCRIPTORS = 65536 };

// By descriptor: the inode of a file in the folder; FOLDER for the folder itself; otherwise 0.
static _Atomic uint64_t files[DESCRIPTORS];
static const uint64_t FOLDER = UINT64_MAX;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX];
static size_t folder_length;
static int record = -1;
static uint64_t number;

static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fallocate)(int, int, off_t, off_t);
static int (*real_posix_fallocate)(int, off_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);
static int (*real_close)(int);

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find(void) {
  real_open = dlsym(RTLD_NEXT, "open");
  real_openat = dlsym(RTLD_NEXT, "openat");
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
  real_fallocate = dlsym(RTLD_NEXT, "fallocate");
  real_posix_fallocate = dlsym(RTLD_NEXT, "posix_fallocate");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_rename = dlsym(RTLD_NEXT, "rename");
  real_close = dlsym(RTLD_NEXT, "close");
  const char *path = getenv("POWERLOSS_FOLDER");
  const char *to = getenv("POWERLOSS_RECORD");
  if (!path || !to || strlen(path) >= sizeof folder) return;
  strcpy(folder, path);
  folder_length = strlen(folder);
  record = real_open(to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

// Called by every function, because other libraries open files before this one is initialized.
static void start(void) { pthread_once(&once, find); }

// Returns the name within the folder, "" for the folder itself, or a null pointer.
static const char *name_of(const char *path) {
  if (record < 0 || strncmp(path, folder, folder_length) != 0) return 0;
  path += folder_length;
  if (*path == 0) return path;
  return *path == '/' ? path + 1 : 0;
}

static uint64_t file_of(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? files[descriptor] : 0;
}

// Appends a record. The caller holds the lock.
static void append(
    enum operation operation, uint64_t file, uint64_t offset, const void *bytes, size_t length) {
  struct header header = {++number, operation, file, offset, length};
  struct iovec parts[2] = {{&header, sizeof header}, {(void *)bytes, length}};
  int error = errno;
  if (real_writev(record, parts, 2) != (ssize_t)(sizeof header + length)) {
    // With an incomplete record the run would prove nothing.
    abort();
  }
  errno = error;
}

static void append_name(enum operation operation, uint64_t file, const char *name) {
  append(operation, file, 0, name, strlen(name));
}

static int note_open(int descriptor, const char *name, int existed) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS) return descriptor;
  if (*name == 0) {
    files[descriptor] = FOLDER;
    return descriptor;
  }
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return descriptor;
  append_name(existed ? OPEN : CREATE, status.st_ino, name);
  files[descriptor] = status.st_ino;
  return descriptor;
}

static int open_at(int at, const char *path, int flags, mode_t mode) {
  start();
  const char *name = at == AT_FDCWD || *path == '/' ? name_of(path) : 0;
  if (!name) return real_openat(at, path, flags, mode);
  pthread_mutex_lock(&lock);
  int existed = access(path, F_OK) == 0;
  int descriptor = note_open(real_openat(at, path, flags, mode), name, existed);
  if (descriptor >= 0 && existed && (flags & O_TRUNC)) append(TRUNCATE, file_of(descriptor), 0, 0, 0);
  pthread_mutex_unlock(&lock);
  return descriptor;
}

#define MODE(flags, mode)                                \
  mode_t mode = 0;                                       \
  if ((flags) & (O_CREAT | O_TMPFILE)) {                 \
    va_list arguments;                                   \
    va_start(arguments, flags);                          \
    mode = va_arg(arguments, mode_t);                    \
    va_end(arguments);                                   \
  }

int open(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
  MODE(flags, mode)
  return open_at(at, path, flags, mode);
}

int creat(const char *path, mode_t mode) {
  start();
  return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
  start();
  uint64_t file = file_of(descriptor);
  if (!file) return real_pwrite(descriptor, bytes, length, offset);
  pthread_mutex_lock(&lock);
  ssize_t count = real_pwrite(descriptor, bytes, length, offset);
  if (count > 0) append(WRITE, file, offset, bytes, count);
  pthread_mutex_unlock(&lock);
  return count;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t offset) {
  return pwrite(descriptor, bytes, length, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
  start();
  uint64_t file = file_of(descriptor);
  if (!file) return real_write(descriptor, bytes, length);
  pthread_mutex_lock(&lock);
  off_t offset = lseek(descriptor, 0, SEEK_CUR);
  if (fcntl(descriptor, F_GETFL) & O_APPEND) offset = lseek(descriptor, 0, SEEK_END);
  ssize_t count = real_write(descriptor, bytes, length);
  if (count > 0) append(WRITE, file, offset, bytes, count);
  pthread_mutex_unlock(&lock);
  return count;
}

// Records an operation that SQLite does not use, and that this library cannot record.
static void note_unknown(int descriptor) {
  uint64_t file = file_of(descriptor);
  if (!file) return;
  pthread_mutex_lock(&lock);
  append(UNKNOWN, file, 0, 0, 0);
  pthread_mutex_unlock(&lock);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
  start();
  note_unknown(descriptor);
  return real_writev(descriptor, parts, count);
}

ssize_t pwritev(int descriptor, const struct iovec *parts, int count, off_t offset) {
  start();
  note_unknown(descriptor);
  return real_pwritev(descriptor, parts, count, offset);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length) {
  start();
  note_unknown(descriptor);
  return real_fallocate(descriptor, mode, offset, length);
}

int posix_fallocate(int descriptor, off_t offset, off_t length) {
  start();
  note_unknown(descriptor);
  return real_posix_fallocate(descriptor, offset, length);
}

int posix_fallocate64(int descriptor, off_t offset, off_t length) {
  return posix_fallocate(descriptor, offset, length);
}

int ftruncate(int descriptor, off_t size) {
  start();
  uint64_t file = file_of(descriptor);
  if (!file) return real_ftruncate(descriptor, size);
  pthread_mutex_lock(&lock);
  int result = real_ftruncate(descriptor, size);
  if (result == 0) append(TRUNCATE, file, size, 0, 0);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate64(int descriptor, off_t size) { return ftruncate(descriptor, size); }

static int sync_with(int (*sync)(int), int descriptor) {
  uint64_t file = file_of(descriptor);
  if (!file) return sync(descriptor);
  pthread_mutex_lock(&lock);
  uint64_t covered = number;
  pthread_mutex_unlock(&lock);
  int result = sync(descriptor);
  if (result != 0) return result;
  pthread_mutex_lock(&lock);
  append(file == FOLDER ? SYNC_FOLDER : SYNC, file, covered, 0, 0);
  pthread_mutex_unlock(&lock);
  return 0;
}

int fsync(int descriptor) {
  start();
  return sync_with(real_fsync, descriptor);
}

int fdatasync(int descriptor) {
  start();
  return sync_with(real_fdatasync, descriptor);
}

int unlink(const char *path) {
  start();
  const char *name = name_of(path);
  if (!name) return real_unlink(path);
  pthread_mutex_lock(&lock);
  int result = real_unlink(path);
  if (result == 0) append_name(UNLINK, 0, name);
  pthread_mutex_unlock(&lock);
  return result;
}

int rename(const char *from, const char *to) {
  start();
  const char *old = name_of(from), *new = name_of(to);
  if (!old && !new) return real_rename(from, to);
  pthread_mutex_lock(&lock);
  int result = real_rename(from, to);
  if (result == 0) {
    char names[2 * PATH_MAX];
    size_t length = 0;
    if (old && new) {
      length = strlen(old) + 1 + strlen(new);
      memcpy(names, old, strlen(old) + 1);
      memcpy(names + strlen(old) + 1, new, strlen(new));
    }
    append(old && new ? RENAME : UNKNOWN, 0, 0, names, length);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

int close(int descriptor) {
  start();
  if (descriptor >= 0 && descriptor < DESCRIPTORS) files[descriptor] = 0;
  return real_close(descriptor);
}
