#ifndef CTERMINAL_H
#define CTERMINAL_H

// Terminal operations that Swift cannot do: in the handler of a fatal signal, only
// async-signal-safe functions may be called (signal-safety(7)); and ioctl is variadic.

#include <stddef.h>
#include <stdint.h>

// Opens a new file description of a terminal, non-blocking and close-on-exec, so that O_NONBLOCK
// does not affect the shell and other processes that share the given one. -1 and errno on failure.
int cterminal_open(int descriptor);
// 0, or -1 and errno. Columns and rows are 0 if the terminal does not know them.
int cterminal_size(int descriptor, int *columns, int *rows);
// The pixels of a cell; 0 where the terminal does not tell. -1 and errno on failure.
int cterminal_cell(int descriptor, int *width, int *height);

// Modes are a struct termios, which is not named here so that Swift uses Glibc's.

// Until it is disarmed, restores the terminal when the process exits by itself (exit) or by a fault
// (SIGSEGV, SIGABRT and the like): writes `count` bytes to it, and sets its modes. The signal's
// previous action follows, by default the end of the process. One terminal at a time. -1 and EINVAL
// if there are too many bytes, or EBUSY if another one is armed.
int cterminal_arm(
    int descriptor, const void *modes, const uint8_t *bytes, size_t count);
// Restores the previous actions of the signals.
void cterminal_disarm(void);
// Writes the bytes, waiting at most half a second for a terminal that does not read, and sets the
// modes, also from the background. Discards unread input.
void cterminal_restore(
    int descriptor, const void *modes, const uint8_t *bytes, size_t count);
// Makes this process's group the terminal's foreground again, also from the background.
void cterminal_foreground(int descriptor);

#endif
