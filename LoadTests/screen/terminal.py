"""Runs a program in a pseudo-terminal that answers queries like a modern terminal, and detects the end
of a frame: the end of a synchronized update (DEC private mode 2026)."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

FRAME_END = b"\x1b[?2026l"
# Queries to the terminal, and its answers.
ANSWERS = [
    (re.compile(rb"\x1b\[\?(\d+)\$p"), lambda match: b"\x1b[?%s;2$y" % match[1]),
    (re.compile(rb"\x1b\]11;\?(?:\x07|\x1b\\)"), lambda match: b"\x1b]11;rgb:1616/1818/1d1d\x1b\\"),
    (re.compile(rb"\x1b\[\?u"), lambda match: b"\x1b[?0u"),
    (re.compile(rb"\x1b\[0?c"), lambda match: b"\x1b[?62;22c"),
]
# Escape sequences, which are removed from the output.
CONTROL = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]P_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]")


class Late(Exception):
    """The expected output has not arrived."""


class Terminal:
    def __init__(self, command, environment, columns=120, rows=40):
        self.frames = 0
        self.bytes = 0
        self.shown = b""
        # Seconds of the monotonic clock, from before the start of the program.
        self.started = time.monotonic()
        self.process, self.master = pty.fork()
        if self.process == 0:
            # The size is set before the program reads it.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            try:
                os.execvpe(command[0], command, {**os.environ, **environment})
            finally:
                os._exit(127)

    def press(self, text):
        os.write(self.master, text.encode())

    def read(self, seconds):
        """Reads the next output; returns False if there is none."""
        if not select.select([self.master], [], [], max(0, seconds))[0]:
            return False
        try:
            data = os.read(self.master, 1 << 20)
        except OSError:
            raise Late("the program has exited: " + self.text()[-300:])
        for question, answer in ANSWERS:
            for match in question.finditer(data):
                os.write(self.master, answer(match))
        self.frames += data.count(FRAME_END)
        self.bytes += len(data)
        self.shown += data
        return True

    def text(self):
        """Returns the text written since `forget`, without escape sequences."""
        return CONTROL.sub(b"", self.shown).decode(errors="replace")

    def forget(self):
        self.shown = b""

    def wait_for_frame(self, text, seconds=30, first=False):
        """Waits for the end of a frame with that text, and returns its time.

        The first frame has no detectable end: it is written before the terminal has reported support for
        synchronized updates. It is one write, so its text marks its end."""
        end = time.monotonic() + seconds
        while True:
            whole = len(self.shown) if first else self.shown.rfind(FRAME_END)
            if whole >= 0 and text in CONTROL.sub(b"", self.shown[:whole]).decode(errors="replace"):
                return time.monotonic()
            if not self.read(end - time.monotonic()):
                raise Late(f"no frame with {text!r}, but {self.text()[-2000:]!r}")

    def idle(self, seconds):
        """Reads output for this long."""
        end = time.monotonic() + seconds
        while self.read(end - time.monotonic()):
            pass

    def resident_bytes(self, field="VmRSS"):
        with open(f"/proc/{self.process}/status") as status:
            for line in status:
                if line.startswith(field + ":"):
                    return int(line.split()[1]) * 1024

    def processor_seconds(self):
        with open(f"/proc/{self.process}/stat") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def quit(self):
        """Presses Ctrl+Q, and returns the exit status."""
        self.press("\x11")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            try:
                self.read(0.05)
            except Late:
                break
            if os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break
        else:
            os.kill(self.process, signal.SIGKILL)
        status = os.waitpid(self.process, 0)[1]
        os.close(self.master)
        return status
