"""A relay as a process, for the scripts of the tests and of the load tests."""
import json
import pathlib
import random
import re
import secrets
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.parse
import urllib.request

PATIENCE_S = 120
WITHOUT_LIMITS = (
    "limits: { connections_per_user: 0, sends_per_s: 0, burst: 0, requests_per_s: 0, bytes_per_s: 0 }")
# Programs that do not outlive the script, however it ends.
MORTAL = ["setpriv", "--pdeathsig", "KILL"]


def wait(condition, what, patience_s=PATIENCE_S):
    """Waits until `condition()` is true, and returns it."""
    deadline = time.monotonic() + patience_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(what() if callable(what) else what)
        time.sleep(0.02)
    return value


reserved = []


def free_port():
    """A port that a relay keeps over a restart. It is below those that the system gives to connections, and to tests that ask for
    any (ip_local_port_range), and no other script gets it as long as this one runs. The tests in Swift have those below."""
    while True:
        port = random.randrange(26_384, 32_768)
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0relay-test-port-{port}")
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            reservation.close()
        else:
            reserved.append(reservation)
            return port


class NotStarted(Exception):
    """The relay has ended before it listened; the text is what it has printed."""


class Relay:
    """A relay that has started, with a folder of its own and a port that it keeps."""

    def __init__(self, program, folder, configuration="", *flags, port=0):
        self.databases = []
        self.program, self.folder, self.port = program, pathlib.Path(folder), port or free_port()
        self.data = self.folder / "data"
        self.configuration, self.flags = configuration, flags
        self.start()

    def start(self):
        file, log = self.folder / "relay.yaml", self.folder / "relay.log"
        file.write_text(f"listen: 127.0.0.1:{self.port}\ndata: {self.data}\n{self.configuration}\n")
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                [*MORTAL, self.program, "serve", "--config", str(file), *self.flags],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)

        def said():
            has_ended = self.process.poll() is not None
            text = log.read_text()
            if has_ended:
                raise NotStarted(text)
            return re.search(r"listening on (wss?://127.0.0.1:(\d+)[^\n\"]*/ws)[\"\n]", text)

        self.socket, port = wait(said, log.read_text).groups()
        self.port, self.url = int(port), f"http://127.0.0.1:{port}"

    def stop(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        status = self.process.wait(PATIENCE_S)
        assert by == signal.SIGKILL or status == 0, f"the relay ended with {status}"

    def kill(self):
        self.stop(signal.SIGKILL)

    def open_accounts(self):
        """Connects to the file of accounts. The connection moves nothing from the write-ahead log into the file,
        and is kept open so that its end does not: sqlite3 writes no page checksums."""
        self.databases.append(sqlite3.connect(self.data / "accounts.db"))
        self.databases[-1].execute("PRAGMA wal_autocheckpoint = 0")
        return self.databases[-1]

    def get(self, path, **query):
        address = f"{self.url}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        with urllib.request.urlopen(address, timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def request(self, user, messages):
        """Carries out requests in order; returns their answers."""
        answers = []
        for start in range(0, len(messages), 100):
            request = urllib.request.Request(
                f"{self.url}/v1/requests?user={user}", json.dumps(messages[start:start + 100]).encode(),
                {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                answers += json.load(answer)
        assert all(answer["type"] != "error" for answer in answers), f"refused: {answers[:3]}"
        return answers

    def send(self, user, room, *entries):
        """Sends entries, texts or fields; returns their numbers."""
        return [answer["seq"] for answer in self.request(user, [
            {"type": "send", "room": room, "id": secrets.token_hex(12),
             **({"text": entry} if isinstance(entry, str) else entry)} for entry in entries])]

    def history(self, room, user="auditor", **query):
        """Every entry of a room."""
        entries, more = [], True
        while more:
            last = entries[-1]["seq"] if entries else 0
            page = self.get(
                f"/v1/rooms/{room}/messages", user=user, after=last, limit=500, **query)
            entries += page["entries"]
            more = page["more"]
        return entries

    def texts(self, room, user="ada"):
        page = self.get(f"/v1/rooms/{room}/messages", user=user, limit=500, fold="true")
        return [entry["text"] for entry in page["entries"]]
