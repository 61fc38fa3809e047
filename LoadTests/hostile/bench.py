"""Attacks a relay as one user, and prints how that affects another user.

bench.py RELAY...    each a built `relay`; the figures of several are printed in one table

It uses Python's websockets and two processes: one for the attackers, and this one for the honest
user, who sends 12 entries and 12 pings per second and records the longest wait for an answer.
"""
import asyncio
import json
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import websockets

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "Tests/EndToEndTests/Peers"))
from relay import NotStarted, Relay  # noqa: E402

ATTACK_S = 8
FREE = "sends_per_s: 0, requests_per_s: 0, bytes_per_s: 0, connections_per_user: 0"


class LimitedRelay(Relay):
    """A relay with these limits; those that an older build does not know are left out."""

    def __init__(self, binary, limits="", log=""):
        self.limits, self.log = limits, log
        super().__init__(binary, tempfile.mkdtemp())

    def start(self):
        while True:
            settings = ("limits", self.limits), ("log", self.log)
            self.configuration = "log_level: warning\n" + "".join(
                f"{name}: {{ {keys} }}\n" for name, keys in settings if keys)
            try:
                return super().start()
            except NotStarted as ended:
                parts = self.limits.split(", ")
                known = [part for part in parts if part.split(":")[0] not in str(ended)]
                if not self.limits or len(known) == len(parts):
                    raise
                self.limits = ", ".join(known)

    @property
    def is_alive(self):
        return self.process.poll() is None

    def files(self):
        return {file.name: file.read_bytes() for file in self.data.iterdir() if file.is_file()}


async def connect(url, user):
    connection = await websockets.connect(f"{url}?user={user}", max_size=None, ping_interval=None)
    await connection.recv()
    return connection


async def until(connection, kind):
    while True:
        message = json.loads(await connection.recv())
        if message["type"] in (kind, "error"):
            return message


def send(room, number, **fields):
    return json.dumps({"type": "send", "room": room, "id": f"{number}", **fields})


async def sends(connection, messages, window=200):
    """Sends messages with a bounded number in flight, and returns the last answer."""
    answer, waiting = None, 0
    for message in messages:
        await connection.send(message)
        waiting += 1
        while waiting >= window:
            answer = await until(connection, "ack")
            waiting -= 1
    while waiting:
        answer = await until(connection, "ack")
        waiting -= 1
    return answer


class Honest:
    """Measures the longest wait of another user while `body` runs."""

    def __init__(self, relay):
        self.relay, self.ack, self.ping = relay, 0.0, 0.0

    async def watch(self, body):
        connection = await connect(self.relay.socket, "honest")
        task, number = asyncio.create_task(body), 0
        while not task.done():
            began = time.monotonic()
            await connection.send(send("honest", number, text="hello"))
            await asyncio.wait_for(until(connection, "ack"), 120)
            self.ack = max(self.ack, time.monotonic() - began)
            began = time.monotonic()
            await connection.send('{"type":"ping"}')
            await asyncio.wait_for(until(connection, "pong"), 120)
            self.ping = max(self.ping, time.monotonic() - began)
            number += 1
            await asyncio.sleep(1 / 12)
        return await task


def attackers(name, url):
    return asyncio.create_subprocess_exec(
        sys.executable, __file__, "--attack", name, url, stdout=subprocess.PIPE)


async def attack(name, url):
    process = await attackers(name, url)
    return json.loads((await process.communicate())[0] or "{}")


# MARK: Attackers, in a process of their own


def raw(url, user, compresses=False):
    host, port = url.split("//")[1].split("/")[0].split(":")
    peer = socket.create_connection((host, int(port)))
    offer = "Sec-WebSocket-Extensions: permessage-deflate\r\n" if compresses else ""
    peer.sendall((
        f"GET /ws?user={user} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        f"Sec-WebSocket-Version: 13\r\n{offer}\r\n").encode())
    peer.setblocking(False)
    return peer


def frame(payload, compressed=False):
    first = 0xC1 if compressed else 0x81
    head = bytes([first, 0x80 | len(payload)]) if len(payload) < 126 else struct.pack(
        "!BBH", first, 0x80 | 126, len(payload))
    return head + bytes(4) + payload


def flood(url, frames, connections, compresses=False):
    """Sends as much as the relay accepts for some seconds; returns the number of acks in the answers."""
    peers = [raw(url, "mallory", compresses) for _ in range(connections)]
    time.sleep(0.5)
    acks, unsent, end = 0, [b""] * connections, time.monotonic() + ATTACK_S
    while time.monotonic() < end:
        for place, peer in enumerate(peers):
            try:
                acks += peer.recv(1 << 20).count(b'"type":"ack"')
            except (BlockingIOError, ConnectionError):
                pass
            try:
                unsent[place] = unsent[place] or b"".join(frames(place) for _ in range(50))
                unsent[place] = unsent[place][peer.send(unsent[place]):]
            except (BlockingIOError, ConnectionError):
                pass
    print(json.dumps({"acks": acks}))


def attack_connections(url):
    count = iter(range(1 << 40))
    flood(url, lambda place: frame(send("flood", f"{place}-{next(count)}", text="x").encode()), 120)


def attack_inflated(url):
    deflate = zlib.compressobj(9, wbits=-15)
    message = deflate.compress(b'{"type":"ping","x":"%s"}' % (b"x" * 65_000))
    message += deflate.flush(zlib.Z_SYNC_FLUSH)[:-4]
    flood(url, lambda _: frame(message, compressed=True), 10, compresses=True)


def attack_duplicates(url):
    same = frame(send("flood", "same", text="x").encode())
    flood(url, lambda _: same, 1)


def attack_rooms(url):
    async def ask():
        peers = [await connect(url, "member") for _ in range(50)]
        end, count = time.monotonic() + ATTACK_S, 0

        async def one(peer):
            nonlocal count
            while time.monotonic() < end:
                await peer.send('{"type":"rooms"}')
                await until(peer, "rooms")
                count += 1

        await asyncio.gather(*[one(peer) for peer in peers])
        print(json.dumps({"answers": count}))

    asyncio.run(ask())


# MARK: Rows


async def cursor(binary):
    relay = LimitedRelay(binary)
    peer = await connect(relay.socket, "mallory")
    await peer.send('{"type":"people","cursor":"nobody@9223372036854775807"}')
    try:
        answer = (await until(peer, "people")).get("code", "people")
    except websockets.ConnectionClosed:
        await asyncio.sleep(1)
        answer = "" if relay.is_alive else "the relay has ended"
    relay.stop()
    return answer


async def edits(binary):
    relay = LimitedRelay(binary, f"{FREE}, edits_per_entry: 0")
    peer, honest = await connect(relay.socket, "mallory"), Honest(relay)
    await sends(peer, [send("e", "t", text="text")])
    text = "e" * 4000
    await sends(peer, [send("e", n, kind="edit", target=1, text=text) for n in range(12_000)])
    began = time.monotonic()
    await honest.watch(sends(peer, [send("f", "f", forward={"room": "e", "seq": 1}),
                                    send("e", "d", kind="delete", target=1)]))
    seconds = time.monotonic() - began
    relay.stop()
    return f"others' ack {honest.ack * 1000:.0f} ms; forward and delete {seconds * 1000:.0f} ms"


async def reactions(binary):
    relay = LimitedRelay(binary, f"{FREE}")
    peer = await connect(relay.socket, "mallory")
    await sends(peer, [send("e", "t", text="text")])
    taken = await sends(peer, [send("e", n, kind="react", target=1, on=True, emoji=f"e{n}" + "x" * 50)
                               for n in range(40_000)])
    await peer.send('{"type":"history","room":"e","before":2,"fold":true}')
    while not (page := await peer.recv()).startswith('{"type":"history"'):
        pass
    relay.stop()
    return f"{len(page):,} bytes; the last was answered {taken.get('code', 'ack')}"


async def rooms(binary):
    relay = LimitedRelay(binary, f"{FREE}, rooms_per_user: 0")
    peer = await connect(relay.socket, "member")
    await sends(peer, [send(f"r-{n}", "1", text="x") for n in range(20_000)])
    relay.stop()
    relay.limits = "connections_per_user: 0"
    relay.start()
    honest = Honest(relay)
    answers = await honest.watch(attack("rooms", relay.socket))
    relay.stop()
    return f"others' ack {honest.ack * 1000:.0f} ms; {answers.get('answers', 0) / ATTACK_S:.0f} answers/s"


async def connections(binary):
    relay = LimitedRelay(binary)
    honest = Honest(relay)
    taken = await honest.watch(attack("connections", relay.socket))
    relay.stop()
    return f"{taken['acks'] / ATTACK_S:.0f} sends/s; others' ack {honest.ack * 1000:.0f} ms"


async def inflated(binary):
    relay = LimitedRelay(binary)
    honest = Honest(relay)
    await honest.watch(attack("inflated", relay.socket))
    relay.stop()
    return f"others' ping {honest.ping * 1000:.0f} ms"


async def duplicates(binary):
    relay = LimitedRelay(binary)
    taken = await attack("duplicates", relay.socket)
    relay.stop()
    return f"{taken['acks'] / ATTACK_S:.0f} acks/s"


async def deleted(binary):
    relay = LimitedRelay(binary, f"{FREE}, text_bytes: 20000")
    peer, secret = await connect(relay.socket, "mallory"), os.urandom(20).hex()
    await sends(peer, [send("e", "t", text=secret * 400)])
    await sends(peer, [send("e", "d", kind="delete", target=1)])
    began = time.monotonic()
    while any(secret.encode() in content for content in relay.files().values()):
        if time.monotonic() > began + 20:
            relay.stop()
            return "after 20 s still in " + ", ".join(
                sorted(name for name, content in relay.files().items() if secret.encode() in content))
        await asyncio.sleep(0.05)
    seconds = time.monotonic() - began
    relay.stop()
    return f"in no file after {seconds:.1f} s"


async def kept(binary):
    relay = LimitedRelay(binary, f"{FREE}", "keep_entries_per_room: 0")
    peer = await connect(relay.socket, "mallory")
    await sends(peer, [send("e", n, text=f"entry-{n}-{'y' * 20}") for n in range(2000)])
    relay.stop()
    relay.log = "keep_entries_per_room: 10"
    relay.start()
    began = time.monotonic()
    while True:
        content = b"".join(relay.files().values())
        left = sum(b"entry-%d-yy" % n in content for n in range(2000))
        if left <= 10 or time.monotonic() > began + 60:
            break
        await asyncio.sleep(1)
    seconds = time.monotonic() - began
    relay.stop()
    return f"{left} of 2,000 after {seconds:.0f} s"


ROWS = [
    ("1", "`people` with a cursor of 2^63 - 1", cursor),
    ("3", "12,000 edits of 4 KB of one text (limits off), then forward and delete", edits),
    ("4", "40,000 emoji on one entry: its folded history", reactions),
    ("5", "50 connections of a member of 20,000 rooms ask for `rooms` without end", rooms),
    ("6", "120 connections of one user send as fast as they can", connections),
    ("7", "10 connections send messages of about 100 bytes that inflate to 64 KiB", inflated),
    ("8", "one connection sends the same id without end", duplicates),
    ("9", "16 KB of text, deleted", deleted),
    ("10", "a start with `keep_entries_per_room: 10`", kept),
]


def main():
    binaries = sys.argv[1:]
    print("| # | what one user does | " + " | ".join(binaries) + " |")
    print("| --- | --- |" + " --- |" * len(binaries))
    for number, what, row in ROWS:
        cells = [asyncio.run(row(binary)) for binary in binaries]
        print(f"| {number} | {what} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--attack"]:
        globals()["attack_" + sys.argv[2]](sys.argv[3])
    else:
        main()
