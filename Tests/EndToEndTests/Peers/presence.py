"""A crowd in one room, some of which watch who is there, all of them coming back at once.

presence.py PORT PID USERS WATCHERS: prints a line for each part, what it cost the relay with the
process id PID, and how many presence messages a watcher got. By plain sockets, since no library
carries ten thousand connections in one process.
"""
import json
import os
import resource
import select
import socket
import struct
import sys
import time

PORT, PID, USERS, WATCHERS = map(int, sys.argv[1:])
resource.setrlimit(
    resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
PATIENCE_S = 120
# The number of people that a connection is told of: those that it asked for last.
WATCHED = min(USERS, 2000)
PAGE = 200


def frame(message):
    payload = json.dumps(message).encode()
    head = b"\x81" + (
        bytes([0x80 | len(payload)]) if len(payload) < 126
        else struct.pack("!BH", 0x80 | 126, len(payload)))
    return head + bytes(4) + payload


class Peer:
    def __init__(self, number):
        self.number = number
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        self.socket.bind((f"127.0.1.{1 + number // 800}", 0))
        self.socket.connect(("127.0.0.1", PORT))
        self.socket.setblocking(False)
        self.rest = b""
        self.has_joined = False
        self.seen = set()
        self.presences = 0
        self.offline = 0
        self.next = None
        self.is_through = False
        self.say(
            f"GET /ws?user=user-{number} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
            + frame({"type": "join", "room": "plaza"}))

    def say(self, data):
        # What a client says here always fits into the kernel's buffer.
        assert self.socket.send(data) == len(data)

    def ask(self):
        request = {"type": "people", "limit": PAGE}
        if self.next:
            request["cursor"] = self.next
        self.say(frame(request))

    def read(self):
        self.rest += self.socket.recv(1 << 18)
        if not self.has_joined and b'"type":"joined"' in self.rest:
            self.has_joined = True
            # Behind the handshake come frames.
            self.rest = self.rest[self.rest.index(b"\r\n\r\n") + 4:]
        while self.has_joined and (payload := self.take()) is not None:
            if payload.startswith(b'{"type":"presence"'):
                self.presences += 1
                self.offline += b'"offline"' in payload
            elif payload.startswith(b'{"type":"people"'):
                page = json.loads(payload)
                self.seen.update(person["user"] for person in page["people"])
                self.next = page.get("next")
                if self.next and len(self.seen) < WATCHED:
                    self.ask()
                else:
                    self.is_through = True

    def take(self):
        if len(self.rest) < 2:
            return None
        length, start = self.rest[1], 2
        if length == 126:
            if len(self.rest) < 4:
                return None
            length, start = struct.unpack("!H", self.rest[2:4])[0], 4
        elif length == 127:
            if len(self.rest) < 10:
                return None
            length, start = struct.unpack("!Q", self.rest[2:10])[0], 10
        if len(self.rest) < start + length:
            return None
        payload = self.rest[start:start + length]
        self.rest = self.rest[start + length:]
        return payload


class Crowd:
    def __init__(self):
        self.peers = {}
        self.poll = select.epoll()

    def come(self, numbers):
        for number in numbers:
            peer = self.peers[number] = Peer(number)
            self.poll.register(peer.socket, select.EPOLLIN)
            self.by_descriptor = None
            self.pump(0)
        new = [self.peers[number] for number in numbers]
        self.until(lambda: all(peer.has_joined for peer in new), "not all have joined")

    def go(self, numbers):
        for number in numbers:
            peer = self.peers.pop(number)
            self.poll.unregister(peer.socket)
            peer.socket.close()
        self.by_descriptor = None

    def watch(self, numbers):
        for number in numbers:
            self.peers[number].ask()
        self.until(
            lambda: all(self.peers[number].is_through for number in numbers), "no people came")

    def pump(self, timeout):
        """Reads what is there; whether there was anything."""
        events = self.poll.poll(timeout)
        if events and self.by_descriptor is None:
            self.by_descriptor = {peer.socket.fileno(): peer for peer in self.peers.values()}
        for descriptor, _ in events:
            self.by_descriptor[descriptor].read()
        return bool(events)

    def until(self, is_done, complaint):
        deadline = time.monotonic() + PATIENCE_S
        while not is_done():
            assert time.monotonic() < deadline, complaint
            self.pump(0.1)

    def until_quiet(self, seconds):
        """Presence is told with a delay: so long nothing more has come."""
        since = time.monotonic()
        while time.monotonic() < since + seconds:
            if self.pump(0.1):
                since = time.monotonic()


def processor_seconds():
    with open(f"/proc/{PID}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def report(part, watchers, since):
    counts = sorted(peer.presences for peer in watchers)
    print(
        f"{part}: {counts[0]} to {counts[-1]} presence messages to each of {len(counts)} watchers, "
        f"processor {processor_seconds() - since:.2f} s", flush=True)
    return counts


def main():
    crowd = Crowd()
    everyone, watching = range(USERS), range(WATCHERS)
    since = processor_seconds()
    crowd.come(everyone)
    print(f"{USERS} come and join: processor {processor_seconds() - since:.2f} s", flush=True)
    since = processor_seconds()
    crowd.watch(watching)
    print(
        f"{WATCHERS} ask for {WATCHED} people each: processor {processor_seconds() - since:.2f} s",
        flush=True)
    crowd.until_quiet(2)

    # All lose their connection at once, and come back as fast as they can.
    since = processor_seconds()
    crowd.go(everyone)
    crowd.come(everyone)
    crowd.watch(watching)
    crowd.until_quiet(5)
    counts = report("all come back at once", [
        crowd.peers[number] for number in watching], since)
    assert counts[-1] <= 2 * WATCHED, "more than one change there and back"

    # All but the watchers are gone for long, and come back at once.
    since = processor_seconds()
    for number in watching:
        crowd.peers[number].presences = crowd.peers[number].offline = 0
    rest = range(WATCHERS, USERS)
    crowd.go(rest)
    watchers = [crowd.peers[number] for number in watching]
    gone = WATCHED - WATCHERS
    crowd.until(lambda: all(peer.offline >= gone for peer in watchers), "not all are told")
    crowd.until_quiet(2)
    assert all(peer.offline == gone for peer in watchers), sorted(
        {peer.offline for peer in watchers})
    crowd.come(rest)
    crowd.until(lambda: all(peer.presences >= 2 * gone for peer in watchers), "not all are told")
    crowd.until_quiet(3)
    counts = report("the others are gone for long, and come back", watchers, since)
    assert counts[0] == counts[-1] == 2 * gone, counts


main()
print("good")
