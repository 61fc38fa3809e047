"""A service manager for one unit and its socket, in place of systemd: what the relay sees of both."""
import ctypes
import errno
import os
import pathlib
import socket
import subprocess
import threading
import time

from relay import MORTAL, PATIENCE_S, wait

UNITS = pathlib.Path(__file__).parents[3] / "config/systemd"


def settings(unit):
    """Reads a unit: each setting with its values, in order."""
    values = {}
    for line in unit.read_text().splitlines():
        if "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            values.setdefault(name, []).append(value)
    return values


class ServiceManager:
    """Holds the sockets, receives the states, and starts the relay as often as it is told to."""

    def __init__(self, folder, sockets, user=None, watchdog_s=None):
        self.folder, self.user, self.watchdog_s = pathlib.Path(folder), user, watchdog_s
        self.log = self.folder / "relay.log"
        # The relay finds them as descriptors from 3, so they have these numbers here as well.
        for number, held in enumerate(sockets, start=3):
            descriptor = held.detach()
            if descriptor != number:
                try:
                    os.fstat(number)
                    raise RuntimeError(f"descriptor {number} is not free")
                except OSError as error:
                    assert error.errno == errno.EBADF
                os.dup2(descriptor, number)
                os.close(descriptor)
        self.descriptors = tuple(range(3, 3 + len(sockets)))
        self.states = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.states.bind(str(self.folder / "notify"))
        (self.folder / "notify").chmod(0o777)
        self.told, self.last_sign = [], None
        threading.Thread(target=self.receive, daemon=True).start()

    def receive(self):
        while True:
            message = self.states.recv(4096).decode()
            if message == "WATCHDOG=1":
                self.last_sign = time.monotonic()
            else:
                self.told.append(message)

    def start(self, command, environment=None):
        """Starts the relay, without waiting for it."""
        self.told, self.last_sign = [], None
        # A backtrace of a debug build takes minutes, and is not what a service manager waits for.
        variables = {
            **os.environ, "NOTIFY_SOCKET": str(self.folder / "notify"), "SWIFT_BACKTRACE": "enable=no"}
        if self.descriptors:
            variables["LISTEN_FDS"] = str(len(self.descriptors))
        if self.watchdog_s:
            variables["WATCHDOG_USEC"] = str(int(self.watchdog_s * 1e6))
        variables.update(environment or {})
        with open(self.log, "ab") as log:
            # The shell has the number of the process that it becomes.
            self.process = subprocess.Popen(
                ["/bin/sh", "-c", 'LISTEN_PID=${LISTEN_PID-$$} WATCHDOG_PID=$$ exec "$@"', "sh", *MORTAL, *command],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=variables,
                pass_fds=self.descriptors, user=self.user, group=self.user, umask=0o077,
                extra_groups=[] if self.user else None)

    def wait_for(self, state):
        """Waits until the relay has told this assignment."""
        def has_told():
            assert self.process.poll() is None, f"{self.process.returncode}: {self.log.read_text()}"
            return [told for told in self.told if state in told.split("\n")]

        return wait(has_told, lambda: f"no {state} in {self.told}: {self.log.read_text()}")[0]

    def wait_for_status(self, text):
        wait(lambda: any(text in told for told in self.told), lambda: f"{text}: {self.told}")

    def wait_for_end(self):
        return self.process.wait(PATIENCE_S)

    def close(self):
        for descriptor in self.descriptors:
            os.close(descriptor)
        (self.folder / "notify").unlink()


class HeldThread:
    """One thread of a process that does not run until it is released, by ptrace(2)."""
    SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

    def __init__(self, process, name):
        tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
        self.id = next(int(task.name) for task in tasks if (task / "comm").read_text() == name + "\n")
        for request in (self.SEIZE, self.INTERRUPT):
            if self.ptrace(request, self.id, None, None) != 0:
                raise OSError(ctypes.get_errno(), "ptrace")
        self.wait_for_change()

    def release(self):
        self.ptrace(self.DETACH, self.id, None, None)

    def wait_for_change(self):
        """Waits until the thread stops or ends: a traced one ends only once its tracer knows."""
        os.waitpid(self.id, self.WALL)
