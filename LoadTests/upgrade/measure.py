#!/usr/bin/python3 -B
"""Measures the gap without acks while one process of a relay follows another.

usage: measure.py RELAY [ENTRIES [ROUNDS [SENDERS]]]

A store gets ENTRIES (2,000,000) in 500 rooms. SENDERS (8) clients send all the time, each waiting for its ack; they come
back when `closing` says so, and send again what was not acknowledged. Others connect fifty times a second. In each of
ROUNDS (5) a new process takes over (relay serve --take-over); in as many the service manager restarts the relay, whose
socket stays open (LISTEN_FDS). The gap is the longest time between two acks of all senders. At the end each entry that
was acknowledged has to be stored, once.
"""
import asyncio
import json
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

import websockets

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Tests" / "EndToEndTests" / "Peers"))
from relay import MORTAL, wait  # noqa: E402

ROOMS = 500
LIMITS = ("limits: { connections_per_user: 0, sends_per_s: 0, burst: 0, requests_per_s: 0, bytes_per_s: 0, "
          "unauthenticated_per_s: 0, unauthenticated_per_address: 0, connections_per_address: 0 }")


def fill(program, data, count):
    """Imports entries as an export has them."""
    process = subprocess.Popen(
        [program, "import", "--data", data], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    text = "x" * 128
    for number in range(count):
        process.stdin.write(
            '{"type":"message","room":"room-%d","seq":%d,"epoch":"imported","from":"u%d","id":"i%d","at":1700000000000,'
            '"kind":"text","text":"%s"}\n'
            % (number % ROOMS, number // ROOMS + 1, number % 7, number, text))
    process.stdin.close()
    assert process.wait() == 0, "the import failed"


class Relay:
    """Processes that follow each other on one data folder."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.number, self.listener, self.process = 0, None, None

    def start(self, *flags):
        self.number += 1
        self.log = self.folder / f"relay-{self.number}.log"
        prefix, more = [], {}
        if self.listener:
            prefix = ["/bin/sh", "-c", 'LISTEN_PID=$$ LISTEN_FDS=1 exec "$@" 3<&%d' % self.listener.fileno(), "sh"]
            more = {"pass_fds": [self.listener.fileno()]}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [*prefix, *MORTAL, self.program, "serve", "--config", str(self.folder / "relay.yaml"), *flags],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, **more)

    def listens(self):
        assert self.process.poll() is None, self.log.read_text()
        return re.search(r"listening on ws://127.0.0.1:(\d+)/ws", self.log.read_text())

    async def until_it_listens(self):
        while not self.listens():
            await asyncio.sleep(0.005)


class Load:
    def __init__(self, port, name, senders):
        self.port, self.name, self.acks, self.acked, self.refused, self.connected = port, name, [], {}, 0, 0
        self.tasks = [asyncio.create_task(self.send(number)) for number in range(senders)]
        self.tasks.append(asyncio.create_task(self.knock()))

    async def send(self, number):
        sent = 0
        while True:
            pause = 0.05
            try:
                async with websockets.connect(
                        f"ws://127.0.0.1:{self.port}/ws?user=s{number}", compression=None, ping_interval=None,
                        open_timeout=60) as connection:
                    while True:
                        await connection.send(json.dumps(
                            {"type": "send", "room": f"{self.name}-{number}", "id": f"{sent}", "text": f"text {sent}"}))
                        while True:
                            message = json.loads(await connection.recv())
                            if message["type"] == "ack":
                                self.acks.append(time.monotonic())
                                self.acked[number, str(sent)] = message["seq"]
                                sent += 1
                                break
                            if message["type"] == "closing":
                                pause = message["reconnect_after_ms"] / 1000
            except (OSError, websockets.WebSocketException):
                pass
            await asyncio.sleep(pause)

    async def knock(self):
        while True:
            await asyncio.sleep(0.02)
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.connected += 1
                writer.close()
            except OSError:
                self.refused += 1

    async def gap(self, change):
        """The longest time between two acks, from a second before a change until a second after it, in ms."""
        await asyncio.sleep(1)
        self.acks.clear()
        await asyncio.sleep(1)
        usual = max(b - a for a, b in zip(self.acks, self.acks[1:]))
        await change()
        await asyncio.sleep(1.5)
        longest = max(b - a for a, b in zip(self.acks, self.acks[1:]))
        return round(longest * 1000), round(usual * 1000)

    def stop(self):
        for task in self.tasks:
            task.cancel()


def closing_of(log):
    return re.findall(r"after_ms\D+(\d+)", log.read_text())


async def take_overs(relay, load, rounds):
    for _ in range(rounds):
        old, log = relay.process, relay.log

        async def change():
            relay.start("--take-over")
            await relay.until_it_listens()

        longest, usual = await load.gap(change)
        assert await asyncio.to_thread(old.wait, 60) == 0, log.read_text()
        print(f"take-over: {longest} ms without an ack (before: {usual}); closing the store took "
              f"{closing_of(log)} ms; refused: {load.refused} of {load.connected + load.refused}", flush=True)


async def restarts(relay, load, rounds):
    for _ in range(rounds):
        async def change():
            relay.process.send_signal(signal.SIGTERM)
            assert await asyncio.to_thread(relay.process.wait, 60) == 0
            relay.start()
            await relay.until_it_listens()

        longest, usual = await load.gap(change)
        print(f"restart with the socket open: {longest} ms without an ack (before: {usual}); "
              f"refused: {load.refused} of {load.connected + load.refused}", flush=True)


def check(program, data, load):
    """Each acknowledged entry has to be stored, once, and nothing else."""
    stored = {}
    for number in {number for number, _ in load.acked}:
        lines = subprocess.run(
            [program, "export", "--data", data, "--room", f"{load.name}-{number}"], check=True, capture_output=True).stdout
        for line in map(json.loads, lines.splitlines()):
            if line["type"] == "message":
                assert (number, line["id"]) not in stored, line
                stored[number, line["id"]] = line["seq"]
    lost = [key for key, seq in load.acked.items() if stored.get(key) != seq]
    assert not lost, f"lost: {lost[:5]}"
    print(f"{len(load.acked)} acknowledged entries are stored once")


async def measure(program, folder, rounds, senders):
    for passes in False, True:
        relay = Relay(program, folder)
        if passes:
            relay.listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        relay.start()
        port = int(wait(relay.listens, relay.log.read_text)[1])
        load = Load(port, 'socket' if passes else 'gap', senders)
        await (restarts if passes else take_overs)(relay, load, rounds)
        load.stop()
        await asyncio.gather(*load.tasks, return_exceptions=True)
        relay.process.terminate()
        assert relay.process.wait(60) == 0
        check(program, f"{folder}/data", load)
        subprocess.run([program, "verify", "--data", f"{folder}/data"], check=True)


def main():
    program, (entries, rounds, senders) = sys.argv[1], [
        int(value) for value in [*sys.argv[2:], *["2000000", "5", "8"][len(sys.argv) - 2:]]]
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "relay.yaml").write_text(
            f"listen: 127.0.0.1:0\ndata: {folder}/data\nlog_format: text\n{LIMITS}\n")
        began = time.monotonic()
        fill(program, f"{folder}/data", entries)
        print(f"{entries} entries imported in {time.monotonic() - began:.0f} s", flush=True)
        asyncio.run(measure(program, folder, rounds, senders))


main()
