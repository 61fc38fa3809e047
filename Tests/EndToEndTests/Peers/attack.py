"""Attacks a relay: `attack.py NAME PORT`. Ends with status 0 if the relay did what it should, and
with a sentence if not. By plain sockets, since what it sends no library would.

All attackers come from addresses of their own in 127.0.0.0/8, so that limits per address meet them
and not the honest client of the test.
"""
import concurrent.futures
import itertools
import os
import re
import resource
import select
import socket
import struct
import sys
import threading
import time
import zlib

PATIENCE_S = 120
PORT = int(sys.argv[2])
resource.setrlimit(
    resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
DEFLATE_OFFER = b"Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def frame(opcode, payload=b"", fin=True, masked=True, declared=None):
    """One frame of a client. A mask of zeros is a mask like any other."""
    length = len(payload) if declared is None else declared
    head = bytes([(0x80 if fin else 0) | opcode])
    mask = 0x80 if masked else 0
    if length < 126:
        head += bytes([mask | length])
    elif length < 65536:
        head += struct.pack("!BH", mask | 126, length)
    else:
        head += struct.pack("!BQ", mask | 127, length)
    return head + (bytes(4) if masked else b"") + payload


def request(user, path="/ws"):
    return (
        f"GET {path}{'?user=' + user if user else ''} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode()


class Peer:
    """A connection that does as it is told."""

    def __init__(self, source="127.0.0.2", receive_buffer=None):
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE_S)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        # The port is chosen when the other end is known: one serves many connections.
        self.socket.setsockopt(socket.SOL_IP, 24, 1)  # IP_BIND_ADDRESS_NO_PORT
        self.socket.bind((source, 0))
        self.socket.connect(("127.0.0.1", PORT))
        self.received = b""
        self.is_over = False

    def send(self, data):
        """`False` where the relay has ended the connection."""
        try:
            self.socket.sendall(data)
            return True
        except (ConnectionResetError, BrokenPipeError):
            return False

    def read(self):
        try:
            news = self.socket.recv(65536)
        except ConnectionResetError:
            news = b""
        self.received += news
        self.is_over = not news
        return news

    def until(self, mark):
        while mark not in self.received and not self.is_over:
            self.read()
        assert mark in self.received, f"no {mark} in {self.received[-300:]}"

    def to_the_end(self):
        """All that came until the relay hung up."""
        while not self.is_over:
            self.read()
        return self.received

    def opened(self, user="mallory", path="/ws"):
        """Shakes hands, and is welcomed if it says who it is."""
        self.send(request(user, path))
        self.until(b'"type":"welcome"' if user else b"\r\n\r\n")
        return self

    def close_code(self):
        """The code of the close frame that the relay says last."""
        found = re.findall(rb"\x88[\x02-\x7d](..)", self.to_the_end(), re.DOTALL)
        assert found, f"no close: {self.received[-200:]}"
        return struct.unpack("!H", found[-1])[0]

    def expect_close(self, code):
        found = self.close_code()
        assert found == code, f"expected a close with {code}, not {found}: {self.received[-200:]}"

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def everyone(count, act):
    """This number of attackers at once."""
    with concurrent.futures.ThreadPoolExecutor(min(count, 64)) as pool:
        return list(pool.map(act, range(count)))


# MARK: Before the handshake is over


def slow_handshake():
    """Forty connections say a byte a second."""
    peers = [Peer() for _ in range(40)]
    began, text = time.monotonic(), request("mallory")
    for byte in text:
        for peer in peers:
            peer.send(bytes([byte]))
        # Not a wait that the first end ends: the others would say the rest at once, and get in.
        time.sleep(1)
        ended = select.select(peers_sockets(peers), [], [], 0)[0]
        if len(ended) == len(peers):
            break
        assert time.monotonic() - began < PATIENCE_S, "the relay waits on"
    for peer in peers:
        assert peer.to_the_end() == b"", peer.received


def peers_sockets(peers):
    return [peer.socket for peer in peers]


def endless_headers():
    """Header lines, until the relay has enough: 64 MiB at most, of each of twenty."""

    def act(_):
        peer = Peer()
        peer.send(request("mallory")[:-2])
        lines = b"".join(b"X-%d: %s\r\n" % (n, b"x" * 100) for n in range(64))
        for _ in range(8192):
            if not peer.send(lines):
                break
            if select.select([peer.socket], [], [], 0)[0]:
                break
        else:
            raise AssertionError("64 MiB of headers were taken")
        assert peer.to_the_end().startswith(b"HTTP/1.1 431 "), peer.received

    everyone(20, act)


def header_lines():
    """Heads of as many short lines as fit, of which all but the last bytes come at once: five hundred."""

    def act(_):
        peer = Peer()
        peer.send(request("mallory")[:-2] + b"a:\r\n" * 1900)
        assert peer.to_the_end().startswith(b"HTTP/1.1 431 "), peer.received

    everyone(500, act)


def uncredentialed():
    """Requests that have no credentials, as fast as they come, from one address: at least five hundred are
    refused, whatever they ask for."""
    targets = ["GET /nothing", "GET /v1/rooms", "GET /metrics", "POST /healthz", "GET /v1/rooms?token=x"]
    refused = threading.Semaphore(0)

    def act(number):
        for turn in range(1000):
            peer = Peer()
            peer.send(f"{targets[turn % len(targets)]} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            if peer.to_the_end().startswith(b"HTTP/1.1 429 "):
                assert b"\r\nRetry-After: " in peer.received, peer.received
                refused.release()
                if refused._value >= 500:
                    return

    everyone(20, act)
    assert refused._value >= 500, refused._value


def unauthenticated():
    """Two hundred connections of one address that shake hands and never say who they are."""
    peers = [Peer().opened(None) for _ in range(200)]
    codes = [peer.close_code() for peer in peers]
    late = codes.count(4408)
    # On a busy machine the first of them are through when the last ones come.
    assert 50 <= late <= 150, f"{late} were waited for, a crowd of 50 at once may be"
    assert codes.count(1013) == 200 - late, codes


def silent():
    """Two hundred connections of one address that say nothing at all."""
    peers = [Peer() for _ in range(200)]
    for peer in peers:
        peer.to_the_end()
    refused = [peer for peer in peers if peer.received.startswith(b"HTTP/1.1 503 ")]
    assert 50 <= len(refused) <= 150, f"{len(refused)} were told to try later"


def too_many():
    """Three hundred connections from thirty addresses, where a hundred fit in all."""
    peers = [Peer(source=f"127.0.2.{1 + number % 30}") for number in range(300)]
    for peer in peers:
        peer.send(request("mallory"))
    served = 0
    for peer in peers:
        while b"\r\n\r\n" not in peer.received and not peer.is_over:
            peer.read()
        if peer.received.startswith(b"HTTP/1.1 101 "):
            served += 1
        else:
            assert b"The limit of 100 connections is reached" in peer.received, peer.received
    # One of the hundred is the honest one.
    assert served == 99, f"{served} were served"


def one_address():
    """Three thousand connections from one address; a thousand are its share."""
    peers = [Peer() for _ in range(3000)]
    for peer in peers:
        peer.send(request("mallory"))
    served = 0
    for peer in peers:
        while b"\r\n\r\n" not in peer.received and not peer.is_over:
            peer.read()
        served += peer.received.startswith(b"HTTP/1.1 101 ")
    assert served == 1000, f"{served} were served"


# MARK: Frames


def oversized():
    """Frames that declare far more than they may have."""

    def act(number):
        peer = Peer().opened()
        declared = [65537, 2**32, 2**62][number % 3]
        peer.send(frame(TEXT, b"{", declared=declared))
        peer.expect_close(1009)

    everyone(99, act)


def fragments():
    """A message in a million fragments of one byte."""

    def act(_):
        peer = Peer().opened()
        peer.send(frame(TEXT, b" ", fin=False))
        block = frame(CONTINUATION, b" ", fin=False) * 10_000
        for _ in range(100):
            if not peer.send(block):
                break
        peer.expect_close(1008)

    everyone(10, act)


def bombs():
    """Messages of 60 kB that inflate to 60 MB."""
    deflate = zlib.compressobj(9, wbits=-15)
    bomb = deflate.compress(bytes(60_000_000)) + deflate.flush(zlib.Z_SYNC_FLUSH)[:-4]
    assert 50_000 < len(bomb) < 65_536

    def act(_):
        peer = Peer()
        peer.send(request("mallory")[:-2] + DEFLATE_OFFER)
        # What follows may be compressed.
        peer.until(b"\r\n\r\n")
        assert b"permessage-deflate" in peer.received
        header = frame(TEXT, bomb)
        peer.send(bytes([header[0] | 0x40]) + header[1:])
        peer.expect_close(1009)

    everyone(50, act)


def pings(user="mallory", path="/ws"):
    """A hundred thousand pings, as fast as they are taken, of each of ten."""

    def act(_):
        peer = Peer().opened(user, path)
        peer.send(frame(PING, b"one"))
        peer.until(b"\x8a\x03one")
        block = frame(PING, b"x" * 125) * 1000
        for _ in range(100):
            if not peer.send(block):
                break
        peer.expect_close(4429)

    everyone(10, act)


def echo_pings():
    pings(None, "/echo")


def unmasked(user="mallory", path="/ws"):
    """Frames without a mask."""

    def act(_):
        peer = Peer().opened(user, path)
        peer.send(frame(TEXT, b'{"type":"ping"}', masked=False))
        peer.expect_close(1002)

    everyone(100, act)


def echo_unmasked():
    unmasked(None, "/echo")


# How long a flood lasts.
FLOOD_S = 3


def flood(
        messages, answer, at_least=0, attackers=10, user=lambda number: f"u{number}", compresses=False):
    """Connections say what `messages` yields, as fast as it is taken, for some seconds, on a slow machine
    until each has `at_least` answers, and are gone. How many came, and in how many seconds, by each."""

    def act(number):
        peer = Peer()
        if compresses:
            peer.send(request(user(number))[:-2] + DEFLATE_OFFER)
            peer.until(b"\r\n\r\n")
        else:
            peer.opened(user(number))
        peer.socket.setblocking(False)
        began = time.monotonic()
        source, unsent, served, tail = messages(number), memoryview(b""), 0, b""
        while (now := time.monotonic()) < began + FLOOD_S or served < at_least:
            assert now < began + PATIENCE_S, f"{served} answers"
            if not unsent:
                unsent = memoryview(b"".join(itertools.islice(source, 100)))
            ready, writable, _ = select.select(
                [peer.socket], [peer.socket] if unsent else [], [], max(0.1, began + FLOOD_S - now))
            if writable:
                unsent = unsent[peer.socket.send(unsent):]
            if ready:
                news = peer.socket.recv(1 << 20)
                assert news, "the relay hung up"
                assert b'"type":"error"' not in news, news
                # An answer that two pieces share is counted once.
                length = len(answer) - 1
                served += (tail[-length:] + news).count(answer)
                tail = (tail + news)[-100:]
        return served, time.monotonic() - began

    return everyone(attackers, act)


# Whatever has been sent before, in an earlier round, is no limit's business.
ROUND = "%d-%f" % (os.getpid(), time.time())


def send_frames(number):
    """Sends without end, each with an id of its own."""
    for count in itertools.count():
        yield frame(TEXT, b'{"type":"send","room":"flood","id":"%s-%d-%d","text":"x"}' % (
            ROUND.encode(), number, count))


def sends():
    """Ten users say more than they may: 40, and 20 a second, are taken, and none is refused."""
    for served, seconds in flood(send_frames, b'"type":"ack"', at_least=40):
        assert served <= 41 + 20 * seconds, f"{served} in {seconds} s"


def sends_by_one():
    """One user says more than may be said, on fifty connections: the limit is the user's."""
    began = time.monotonic()
    results = flood(send_frames, b'"type":"ack"', attackers=50, user=lambda _: "mallory")
    served, seconds = sum(count for count, _ in results), time.monotonic() - began
    assert served <= 41 + 20 * seconds, f"{served} in {seconds} s"


def duplicates():
    """Ten users say the same again and again: a duplicate is a request."""
    def same(number):
        return itertools.repeat(frame(
            TEXT, b'{"type":"send","room":"flood","id":"%s-%d","text":"x"}' % (ROUND.encode(), number)))

    for served, seconds in flood(same, b'"type":"ack"'):
        # Those on their way when the first is answered are charged when they are.
        assert served <= 50 + 40 + 50 + 50 * seconds, f"{served} in {seconds} s"


def requests():
    """Ten users ask for more than they may: 50 a second are answered."""
    writer = Peer().opened("writer")
    writer.send(frame(TEXT, b'{"type":"send","room":"flood","id":"1","text":"x"}'))
    writer.until(b'"type":"ack"')
    ask = frame(TEXT, b'{"type":"history","room":"flood","limit":1}')
    for served, seconds in flood(lambda _: itertools.repeat(ask), b'"type":"history"', at_least=50):
        assert served <= 51 + 50 * seconds, f"{served} in {seconds} s"


def inflated():
    """Ten users say little that inflates to 60 kB each: 256 KiB a second are taken."""
    deflate = zlib.compressobj(9, wbits=-15)
    message = deflate.compress(b'{"type":"ping","x":"%s"}' % (b"x" * 60_000))
    message += deflate.flush(zlib.Z_SYNC_FLUSH)[:-4]
    assert len(message) < 200
    header = frame(TEXT, message)
    ping = bytes([header[0] | 0x40]) + header[1:]
    for served, seconds in flood(
            lambda _: itertools.repeat(ping), b'"type":"pong"', at_least=4, compresses=True):
        assert served <= 1 + (1 + seconds) * 262_144 / 60_000, f"{served} in {seconds} s"


def resets():
    """A thousand connections that are reset in the middle of a frame."""

    def act(_):
        peer = Peer().opened()
        peer.send(frame(TEXT, b"x" * 100, declared=4096))
        peer.reset()

    everyone(1000, act)


# MARK: Those who stay


def half_open():
    """Two hundred connections whose owner is stopped by the test, and answers no ping."""
    peers = [Peer().opened(f"u{number}") for number in range(200)]
    print("ready", flush=True)
    sys.stdin.readline()
    for peer in peers:
        peer.to_the_end()


def never_reads():
    """Twenty connections that ask on and on, and read no answer."""
    ask = frame(TEXT, b'{"type":"history","room":"general","after":0,"limit":500}') * 500
    writer = Peer().opened("writer")
    for number in range(16):
        writer.send(frame(TEXT, b'{"type":"send","room":"general","id":"%d","text":"%s"}' % (
            number, b"x" * 8000)))
    writer.until(b'"id":"15","seq":16')
    writer.socket.close()
    peers = [Peer(receive_buffer=4096).opened(f"u{number}") for number in range(20)]
    waiting, taken, quiet_since = peers, {peer: 0 for peer in peers}, time.monotonic()
    for peer in peers:
        peer.socket.setblocking(False)
    while time.monotonic() - quiet_since < 1:
        _, writable, _ = select.select([], waiting and peers_sockets(waiting), [], 0.1)
        for peer in peers:
            if peer.socket in writable:
                taken[peer] += peer.socket.send(ask)
                quiet_since = time.monotonic()
        assert max(taken.values()) < 256 << 20, "the relay takes everything"
    print("ready", flush=True)
    sys.stdin.readline()


def strangers():
    """As storm, but nobody joins anything."""
    storm(joins=False)


def storm(joins=True):
    """Ten thousand at once in a hundred rooms, half of which leave by a reset, half by an end."""
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 200
    count = min(10_000, allowed)
    print(f"{count} connections", flush=True)
    peers = []
    for first in range(0, count, 500):
        group = []
        for number in range(first, min(first + 500, count)):
            peer = Peer(source=f"127.0.1.{1 + number // 800}")
            join = frame(TEXT, b'{"type":"join","room":"storm-%d"}' % (number % 100))
            peer.send(request(f"u{number}") + (join if joins else b""))
            group.append(peer)
        for peer in group:
            peer.until(b'"type":"joined"' if joins else b'"type":"welcome"')
        peers += group
    for number, peer in enumerate(peers):
        if number % 2:
            peer.socket.setsockopt(
                socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    print("ready", flush=True)
    sys.stdin.readline()
    # The kernel closes all of them at once: that is the storm.


def descriptors():
    """Three hundred connections to a relay that does not have enough descriptors."""
    peers = [Peer() for _ in range(300)]
    for peer in peers:
        peer.send(request("mallory"))
    deadline = time.monotonic() + PATIENCE_S
    turned_away = served = 0
    for peer in peers:
        peer.socket.settimeout(max(0.1, deadline - time.monotonic()))
        peer.read()
        served += peer.received.startswith(b"HTTP/1.1 101 ")
        # A reset may overtake the sentence that goes with it.
        turned_away += peer.is_over or peer.received.startswith(b"HTTP/1.1 503 ")
    assert served > 0 and turned_away > 0, f"{served} were served, {turned_away} turned away"
    assert served + turned_away == 300, f"{300 - served - turned_away} wait without an answer"


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")]()
