"""Measures what uploads cost other users: how late their acks are, and the memory of the relay.

usage: acks.py RELAY SWARM [ROUNDS]

In each round `swarm run` plays the same scenario without uploads; while ten users upload at full speed to another relay, whose
files are in memory: what these users cost the machine; and while they upload to this relay. Then a hundred uploads stop in the middle,
and the relay's resident memory is compared with before.
"""
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests/EndToEndTests/Peers"))
from files import PART, TUS, Files  # noqa: E402
from relay import WITHOUT_LIMITS, Relay, wait  # noqa: E402

UPLOADERS = 10
FILE_BYTES = 25 << 20
STOPPED = 100
# The default of limits.file_bytes_per_s stays: what "full speed" of a user is.
CONFIGURATION = WITHOUT_LIMITS.replace(
    " }", ", files_bytes_per_user: 0, unauthenticated_per_address: 0, connections_per_address: 0 }")
SCENARIO = """
name: acks
rooms: [{ name: room, shape: many, count: 20 }]
clients: [{ persona: chatter, count: 100 }]
phases:
  - { seconds: 2.5, connections: { constant: 50 } }
  - { seconds: 12, messages: { poisson: 200 } }
"""


def acks(swarm, relay, folder, seed):
    """Plays the scenario, and returns the percentiles of the acks in milliseconds."""
    scenario, report = folder / "acks.yaml", folder / "acks.json"
    scenario.write_text(SCENARIO)
    played = subprocess.run(
        [swarm, "run", scenario, "--url", relay.socket, "--seed", str(seed), "--json", report, "--quiet"],
        capture_output=True, text=True)
    # 4: swarm says that it had too little of the machine; the ratio of the phases is one all the same.
    assert played.returncode in (0, 4), played.stdout + played.stderr
    return json.loads(report.read_text())["latency_ms"]["ack"]


class Uploads:
    """Ten users who upload one file after the other, until they are stopped."""

    def __init__(self, relay):
        self.relay, self.is_over, self.bytes = relay, threading.Event(), 0
        self.content = os.urandom(FILE_BYTES)
        self.threads = [threading.Thread(target=self.upload, args=(n,)) for n in range(UPLOADERS)]

    def upload(self, number):
        files = Files(self.relay, f"uploader{number}")
        while not self.is_over.is_set():
            # Other bytes each time, so that each is stored.
            files.upload(os.urandom(1024) + self.content[1024:])
            self.bytes += FILE_BYTES

    def __enter__(self):
        self.began = time.monotonic()
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        self.seconds = time.monotonic() - self.began


def memory(relay):
    """The relay's resident memory per upload that is under way."""
    def resident():
        return int(pathlib.Path(f"/proc/{relay.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")

    before, half = resident(), os.urandom(1 << 20)
    connections = []
    for number in range(STOPPED):
        files = Files(relay, f"stopped{number}")
        path = files.create(2 * len(half)).headers["Location"]
        connection = http.client.HTTPConnection("127.0.0.1", relay.port)
        connection.putrequest("PATCH", f"{path}?user={files.user}")
        for name, value in {**TUS, **PART, "Upload-Offset": "0", "Content-Length": str(2 * len(half))}.items():
            connection.putheader(name, value)
        connection.endheaders()
        connections.append((connection, path))
    threads = [threading.Thread(target=connection.send, args=(half,)) for connection, _ in connections]
    for thread in threads:
        thread.start()
    peak = before
    while any(thread.is_alive() for thread in threads):
        peak = max(peak, resident())
        time.sleep(0.01)
    for _, path in connections:
        wait(lambda: written(relay, path) >= len(half), "the relay has not written what was sent")
    peak = max(peak, resident())
    for connection, _ in connections:
        connection.close()
    return (peak - before) / STOPPED


def written(relay, path):
    return (relay.data / "files/uploads" / path.rsplit("/", 1)[1]).stat().st_size


def beside(target, swarm, relay, folder, seed):
    """The acks of one relay while ten users upload to that one or to another."""
    with Uploads(target) as uploads:
        p99 = acks(swarm, relay, folder, seed)["p99"]
    return p99, uploads.bytes / uploads.seconds / 1e6


def main():
    program, swarm, *rest = sys.argv[1:]
    rounds = int(rest[0]) if rest else 5
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        relay = Relay(program, folder, CONFIGURATION)
        columns = [], [], []
        print("| round | without | uploads to another relay | to this one | uploaded per second |\n| --- | --- | --- | --- | --- |")
        for number in range(rounds):
            quiet = acks(swarm, relay, folder, 3 * number)["p99"]
            with tempfile.TemporaryDirectory(dir="/dev/shm") as memory_disk:
                other = Relay(program, pathlib.Path(memory_disk), CONFIGURATION)
                elsewhere, other_speed = beside(other, swarm, relay, folder, 3 * number + 1)
                other.stop()
            here, speed = beside(relay, swarm, relay, folder, 3 * number + 2)
            for column, value in zip(columns, (quiet, elsewhere, here)):
                column.append(value)
            print(f"| {number + 1} | {quiet:.1f} ms | {elsewhere:.1f} ms | {here:.1f} ms | {other_speed:.0f}, {speed:.0f} MB |", flush=True)
        quiet, elsewhere, here = map(statistics.median, columns)
        print(f"ack p99, medians: {quiet:.1f} ms without uploads; uploads to this relay instead of another: {here / elsewhere:.2f},"
              f" instead of none: {here / quiet:.2f}")
        print(f"memory: {memory(relay) / 1024:.0f} KiB for each of {STOPPED} uploads under way (RSS)")
        print("load average:", *os.getloadavg())
        relay.stop()


main()
