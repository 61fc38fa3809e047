#define _GNU_SOURCE
#include "CTerminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

int cterminal_open(int descriptor) {
  struct stat given, opened;
  char path[256];
  if (!isatty(descriptor) || fstat(descriptor, &given) < 0) return -1;
  // By its name; by the descriptor if the name does not exist in a container; and as the
  // controlling terminal if it belongs to another user, as after su.
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const char *paths[] = {
      ttyname_r(descriptor, path, sizeof path) == 0 ? path : link, link, "/dev/tty"};
  for (int index = 0; index < 3; index++) {
    int terminal = open(paths[index], O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (terminal < 0) continue;
    // /dev/tty has a device number of its own.
    if (index == 2 || (fstat(terminal, &opened) == 0 && opened.st_rdev == given.st_rdev)) {
      return terminal;
    }
    close(terminal);
    errno = ENXIO;
  }
  return -1;
}

int cterminal_size(int descriptor, int *columns, int *rows) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) < 0) return -1;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

int cterminal_cell(int descriptor, int *width, int *height) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) < 0) return -1;
  *width = size.ws_col > 0 ? size.ws_xpixel / size.ws_col : 0;
  *height = size.ws_row > 0 ? size.ws_ypixel / size.ws_row : 0;
  return 0;
}

void cterminal_restore(
    int descriptor, const void *modes, const uint8_t *bytes, size_t count) {
  // From the background, setting the modes would stop the process.
  sigset_t background, before;
  sigemptyset(&background);
  sigaddset(&background, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &background, &before);
  int waits = 5;
  while (count > 0) {
    ssize_t written = write(descriptor, bytes, count);
    if (written > 0) {
      bytes += written;
      count -= (size_t)written;
    } else if (written < 0 && errno == EAGAIN && waits > 0) {
      struct pollfd writable = {.fd = descriptor, .events = POLLOUT};
      if (poll(&writable, 1, 100) <= 0) waits--;
    } else if (!(written < 0 && errno == EINTR)) {
      break;
    }
  }
  // Late replies of the terminal must not reach the shell.
  tcflush(descriptor, TCIFLUSH);
  tcsetattr(descriptor, TCSANOW, modes);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cterminal_foreground(int descriptor) {
  // From the background, this would stop the process.
  sigset_t background, before;
  sigemptyset(&background);
  sigaddset(&background, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &background, &before);
  tcsetpgrp(descriptor, getpgrp());
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// At exit

static const int fatal[] = {
    SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGQUIT};
enum { fatal_count = sizeof fatal / sizeof *fatal, bytes_limit = 512 };

static struct sigaction previous[fatal_count];
static int armed_descriptor;
static struct termios armed_modes;
static uint8_t armed_bytes[bytes_limit];
static size_t armed_count;
// Cleared by the first restore, so that there is only one.
static atomic_bool is_armed;
// A stack overflow leaves no stack for a handler.
static uint8_t alternate_stack[64 * 1024];

static void restore_armed(void) {
  if (!atomic_exchange(&is_armed, 0)) return;
  int saved = errno;
  cterminal_restore(armed_descriptor, &armed_modes, armed_bytes, armed_count);
  errno = saved;
}

static void restore_on_signal(int number, siginfo_t *information, void *context) {
  (void)context;
  restore_armed();
  for (int index = 0; index < fatal_count; index++) {
    if (fatal[index] == number) sigaction(number, &previous[index], NULL);
  }
  // A fault occurs again at the same instruction; a signal that was sent has to be raised again.
  if (information->si_code <= 0) raise(number);
}

int cterminal_arm(
    int descriptor, const void *modes, const uint8_t *bytes, size_t count) {
  if (count > bytes_limit) {
    errno = EINVAL;
    return -1;
  }
  if (atomic_load(&is_armed)) {
    errno = EBUSY;
    return -1;
  }
  static int restores_at_exit;
  if (!restores_at_exit && atexit(restore_armed) == 0) restores_at_exit = 1;
  stack_t stack;
  if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE)) {
    stack = (stack_t){.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    sigaltstack(&stack, NULL);
  }
  armed_descriptor = descriptor;
  armed_modes = *(const struct termios *)modes;
  memcpy(armed_bytes, bytes, count);
  armed_count = count;
  atomic_store(&is_armed, 1);
  struct sigaction action = {
      .sa_sigaction = restore_on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigemptyset(&action.sa_mask);
  for (int index = 0; index < fatal_count; index++) {
    sigaction(fatal[index], &action, &previous[index]);
  }
  return 0;
}

void cterminal_disarm(void) {
  if (!atomic_exchange(&is_armed, 0)) return;
  for (int index = 0; index < fatal_count; index++) {
    struct sigaction current;
    // A handler that was installed later stays.
    if (sigaction(fatal[index], NULL, &current) == 0 &&
        current.sa_sigaction == restore_on_signal) {
      sigaction(fatal[index], &previous[index], NULL);
    }
  }
}
