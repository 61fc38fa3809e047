#ifndef CTERMINAL_H
#define CTERMINAL_H

// What has to be done with a terminal where Swift cannot: in the handler of a signal that ends the
// process, in which next to nothing may be called (signal-safety(7)); and ioctl, which is variadic.

#include <stddef.h>
#include <stdint.h>

// A new open file description of a terminal, non-blocking and close-on-exec, so that O_NONBLOCK is
// not set for the shell, and whoever else shares the given one. -1 and errno on failure.
int cterminal_open(int descriptor);
// 0, or -1 and errno. Columns and rows are 0 where the terminal does not know.
int cterminal_size(int descriptor, int *columns, int *rows);

// Modes are a struct termios, which is not named here so that to Swift it is Glibc's.

// From now on, until it is disarmed, the terminal is restored when the process ends by itself
// (exit) or by a fault (SIGSEGV, SIGABRT and their like): `count` bytes are written to it, and its
// modes are set. A signal then does what it did before, which by default is to end the process. One
// terminal at a time. -1 and EINVAL if there are too many bytes, or EBUSY if another one is armed.
int cterminal_arm(
    int descriptor, const void *modes, const uint8_t *bytes, size_t count);
// The signals again do what they did before.
void cterminal_disarm(void);
// Writes the bytes, waiting for a terminal that does not read for half a second at most, and sets the
// modes, also from the background. What was typed and not read is dropped.
void cterminal_restore(
    int descriptor, const void *modes, const uint8_t *bytes, size_t count);

#endif
