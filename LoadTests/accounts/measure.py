#!/usr/bin/python3 -B
"""Measures what accounts cost a relay: the memory of device sessions, and the time of a sign-in.

usage: measure.py RELAY [SESSIONS]

SESSIONS device sessions (100,000) of a fiftieth as many accounts are written into the store. Then each presents its
token once, over HTTP: the relay's memory before, with a tenth of them and with all says what a session costs, and that
the cache is bounded. Then further people sign in, one after the other and each by a link of its own, while the threads'
times are read: what signing in costs the accounts' thread and the log's.
"""
import hashlib
import http.client
import json
import pathlib
import re
import secrets
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Tests" / "EndToEndTests" / "Peers"))
from relay import Relay  # noqa: E402

PER_ACCOUNT = 50
SIGN_INS = 500
CONFIGURATION = """
auth: { mode: accounts }
loops: 1
limits: { sends_per_s: 0, burst: 0, requests_per_s: 0, bytes_per_s: 0, sign_ins_per_min: 0, unauthenticated_per_address: 0 }
"""


def memory(relay):
    """The resident memory in bytes, without pages of files."""
    status = pathlib.Path(f"/proc/{relay.process.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1]) * 1024


def thread_times(relay):
    """The processor seconds of each thread by name."""
    times = {}
    for task in pathlib.Path(f"/proc/{relay.process.pid}/task").iterdir():
        nanoseconds = int((task / "schedstat").read_text().split()[0])
        name = (task / "comm").read_text().strip()
        times[name] = times.get(name, 0) + nanoseconds / 1e9
    return times


def fill(relay, count):
    """Writes sessions, and returns their tokens."""
    now = int(time.time() * 1000)
    tokens = [secrets.token_urlsafe(32) for _ in range(count)]
    with relay.open_accounts() as database:
        database.executemany(
            "INSERT INTO accounts (username, name, operator, disabled, created) VALUES (?, ?, 0, 0, ?)",
            [(f"user-{n}", f"User {n}", now) for n in range(count // PER_ACCOUNT)])
        database.executemany(
            "INSERT INTO account_sessions (id, hash, username, device, created, used, address) "
            "VALUES (?, ?, ?, 'Firefox on Linux', ?, ?, '192.0.2.1')",
            [(secrets.token_hex(8), hashlib.sha256(token.encode()).digest(), f"user-{n // PER_ACCOUNT}", now, now)
             for n, token in enumerate(tokens)])
    return tokens


class Client:
    def __init__(self, relay):
        self.connection = http.client.HTTPConnection("127.0.0.1", relay.port)

    def ask(self, method, path, content=None, token=None):
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        self.connection.request(method, path, content and json.dumps(content), headers)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status < 300, (answer.status, body)
        return json.loads(body)


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    with tempfile.TemporaryDirectory() as folder:
        relay = Relay(sys.argv[1], folder, CONFIGURATION)
        try:
            relay.kill()
            tokens = fill(relay, count)
            relay.start()
            client = Client(relay)
            client.ask("GET", "/v1/sign-in")
            before = memory(relay)
            few = len(tokens) // 10
            for part in tokens[:few], tokens[few:]:
                began = time.monotonic()
                for token in part:
                    client.ask("GET", "/v1/me", token=token)
                used = memory(relay) - before
                print(f"{len(part)} tokens were presented, {(time.monotonic() - began) * 1e6 / len(part):.0f} us each; "
                      f"memory + {used / 2**20:.1f} MiB, {used / count:.0f} bytes for each session of the store")
            with relay.open_accounts() as database:
                database.execute("UPDATE accounts SET operator = 1 WHERE username = 'user-0'")
            relay.kill()
            relay.start()
            client = Client(relay)
            link = client.ask("POST", "/v1/invites", {"uses": SIGN_INS}, tokens[0])["code"]
            earlier, began = thread_times(relay), time.monotonic()
            for number in range(SIGN_INS):
                client.ask("POST", f"/v1/invites/{link}", {"user": f"new-{number}", "device": "d"})
                # An address may ask for what is public 500 times a second.
                time.sleep(0.002)
            seconds = time.monotonic() - began - 0.002 * SIGN_INS
            print(f"a sign-in by a link takes {seconds * 1000 / SIGN_INS:.2f} ms; processor time by thread:")
            for name, value in sorted(thread_times(relay).items()):
                spent = (value - earlier.get(name, 0)) * 1000 / SIGN_INS
                if spent >= 0.001:
                    print(f"  {name}: {spent:.3f} ms")
        finally:
            relay.kill()


main()
