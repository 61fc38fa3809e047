// A private in-memory file system that can be filled up and freed again, for load tests.
#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS_MAGIC_NUMBER 0x01021994

static int write_word(const char *path, const char *word) {
  int descriptor = open(path, O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  ssize_t count = write(descriptor, word, strlen(word));
  int code = errno;
  close(descriptor);
  errno = code;
  return count < 0 ? -1 : 0;
}

// Maps every user to the same id in the new user namespace (user_namespaces(7)).
static int map_identity(uid_t user, gid_t group) {
  char line[64];
  snprintf(line, sizeof line, "%u %u 1", user, user);
  if (write_word("/proc/self/uid_map", line) < 0) return -1;
  if (write_word("/proc/self/setgroups", "deny") < 0) return -1;
  snprintf(line, sizeof line, "%u %u 1", group, group);
  return write_word("/proc/self/gid_map", line);
}

int clinux_unshare_mounts(void) {
  uid_t user = geteuid();
  gid_t group = getegid();
  if (unshare(CLONE_NEWNS) < 0) {
    if (errno != EPERM) return -1;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) return -1;
    if (map_identity(user, group) < 0) return -1;
  }
  // Later mounts of the system are visible here, but mounts made here are not visible outside.
  return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL);
}

static int mount_memory(const char *path, uint64_t bytes, unsigned long flags) {
  char options[64];
  snprintf(options, sizeof options, "size=%llu,mode=700", (unsigned long long)bytes);
  return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | flags, options);
}

int clinux_mount_memory(const char *path, uint64_t bytes) { return mount_memory(path, bytes, 0); }

int clinux_resize_memory(const char *path, uint64_t bytes) {
  return mount_memory(path, bytes, MS_REMOUNT);
}

int clinux_unmount(const char *path) { return umount2(path, MNT_DETACH); }

int clinux_memory_space(const char *path, uint64_t *used, uint64_t *available) {
  struct statfs status;
  if (statfs(path, &status) < 0) return -1;
  if (status.f_type != TMPFS_MAGIC_NUMBER) {
    errno = ENODEV;
    return -1;
  }
  uint64_t block = (uint64_t)status.f_bsize;
  *used = (status.f_blocks - status.f_bfree) * block;
  *available = status.f_bfree * block;
  return 0;
}

int clinux_process_descriptor(int process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int clinux_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int clinux_memory_file(void) { return memfd_create("relay", MFD_CLOEXEC); }

int clinux_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
