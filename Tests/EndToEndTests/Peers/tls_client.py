"""Python's ssl and websockets against the relay's TLS: tls_client.py TEST PORT CA, "good" if it went as it should."""
import asyncio
import os
import random
import socket
import ssl
import struct
import sys

import websockets

port, authority = int(sys.argv[2]), sys.argv[3]


def context(version=None):
    made = ssl.create_default_context(cafile=authority)
    if version:
        made.minimum_version = made.maximum_version = version
    return made


def connect(path, tls=None):
    # Compressed, the megabytes below would be a few kilobytes.
    return websockets.connect(
        f"wss://localhost:{port}{path}", ssl=tls or context(), max_size=None, compression=None)


async def one_version(version, name):
    tls = context(version)
    tls.set_alpn_protocols(["h2", "http/1.1"])
    async with connect("/echo", tls) as ws:
        agreed = ws.transport.get_extra_info("ssl_object")
        assert agreed.version() == name, agreed.version()
        assert agreed.selected_alpn_protocol() == "http/1.1"
        for size in (1, 16_384, 16_385, 100_000, 300_000):
            message = bytes(i * 7 % 256 for i in range(size))
            await ws.send(message)
            assert await ws.recv() == message, size
    assert ws.close_code == 1000, ws.close_code
    # The second session is resumed by the ticket of the first.
    session = healthz(tls, None)
    assert healthz(tls, session, reused=True)


def healthz(tls, session, reused=False):
    with socket.create_connection(("127.0.0.1", port)) as raw:
        with tls.wrap_socket(raw, server_hostname="localhost", session=session) as line:
            assert line.session_reused == reused, line.session_reused
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            # An end without close_notify would be an error here.
            while chunk := line.recv(4096):
                answer += chunk
            assert answer.startswith(b"HTTP/1.1 200") and answer.endswith(b"ok\n"), answer
            return line.session


async def versions():
    await one_version(ssl.TLSVersion.TLSv1_2, "TLSv1.2")
    await one_version(ssl.TLSVersion.TLSv1_3, "TLSv1.3")
    old = context()
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = ssl.TLSVersion.TLSv1
    old.maximum_version = ssl.TLSVersion.TLSv1_1
    other = context()
    other.set_alpn_protocols(["h2"])
    for tls, reason in ((old, "alert protocol version"), (other, "no application protocol")):
        try:
            healthz(tls, None)
        except ssl.SSLError as error:
            assert reason in str(error).lower(), error
        else:
            raise AssertionError(reason)


async def stall():
    """Sends until nothing moves any more, since nobody reads the echoes; then all of them are there."""
    count, message = 400, bytes(range(256)) * 400
    async with connect("/echo") as ws:
        async def send_all():
            for _ in range(count):
                await ws.send(message)
        sending = asyncio.create_task(send_all())
        done, _ = await asyncio.wait([sending], timeout=1)
        assert not done, "40 MB went somewhere"
        for number in range(count):
            assert await ws.recv() == message, number
        await sending


class Wire:
    """A client whose ciphertext is carried by hand."""

    def __init__(self):
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context().wrap_bio(
            self.incoming, self.outgoing, server_hostname="localhost")
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.until(self.tls.do_handshake)

    def until(self, step):
        while True:
            try:
                result = step()
                self.socket.sendall(self.outgoing.read())
                return result
            except ssl.SSLWantReadError:
                self.socket.sendall(self.outgoing.read())
                received = self.socket.recv(65_536)
                assert received, "the relay hung up"
                self.incoming.write(received)

    def read(self):
        received = self.until(lambda: self.tls.read(65_536))
        assert received, "the relay said that nothing more comes"
        return received

    def record(self, plaintext):
        self.tls.write(plaintext)
        return self.outgoing.read()

    def open(self):
        self.socket.sendall(self.record(opening("/echo")))
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += self.read()
        assert answer.startswith(b"HTTP/1.1 101"), answer


async def cut():
    frame = b"\x82\xfe" + struct.pack(">H", 1000) + bytes(4) + bytes(1000)
    for number in range(50):
        wire = Wire()
        wire.open()
        record = wire.record(frame)
        wire.socket.sendall(record[: 1 + number * 20])
        if number % 2:
            # Closes with a reset.
            wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wire.socket.close()
    # A byte at a time is only slow.
    wire = Wire()
    wire.open()
    for byte in wire.record(frame):
        wire.socket.sendall(bytes([byte]))
    echo = b""
    while len(echo) < 1004:
        echo += wire.read()
    assert echo == b"\x82\x7e" + struct.pack(">H", 1000) + bytes(1000)
    # A record that is none ends it with an alert, and no more.
    wire.socket.sendall(b"\x17\x03\x03\x00\x20" + bytes(32))
    try:
        wire.read()
    except ssl.SSLError as error:
        assert "bad record mac" in str(error).lower(), error
    else:
        raise AssertionError("no alert")
    assert wire.socket.recv(1) == b""


async def idle():
    """Holds connections at rest until it is told to go."""
    lines = []
    for count in (50, 350):
        # One after the other: what handshakes take for a moment is not the question.
        while len(lines) < count:
            lines.append(await connect(f"/ws?user=u{len(lines)}"))
            assert "welcome" in await lines[-1].recv()
        print("open", count, flush=True)
        sys.stdin.readline()
    await asyncio.gather(*[ws.close() for ws in lines])


def opening(path):
    return (
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode()


def shake_hands(tls):
    return asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname="localhost")


async def crowd():
    """Two hundred at once of one address, as after a restart, each a third of a second away. Who is
    refused comes back, as clients do."""
    tls = context()

    async def come(number):
        for attempt in range(10):
            try:
                reader, writer = await shake_hands(tls)
            except OSError:
                # In the middle of TLS's handshake nothing can be said.
                pass
            else:
                await asyncio.sleep(0.3)
                writer.write(opening(f"/ws?user=u{number}"))
                try:
                    answer = await reader.readuntil(b"\r\n\r\n")
                except (asyncio.IncompleteReadError, ConnectionError) as end:
                    # A client of TLS 1.3 is through the handshake before the relay is.
                    assert not getattr(end, "partial", b""), end
                else:
                    if answer.startswith(b"HTTP/1.1 101 "):
                        return writer
                    assert answer.startswith(b"HTTP/1.1 503 "), answer
                writer.close()
            await asyncio.sleep(random.uniform(0, 0.2 * 2**attempt))
        raise AssertionError(f"{number} did not get in")

    await asyncio.gather(*map(come, range(200)))


async def late():
    """Two hundred of one address that shake hands and say nothing more: fifty are waited for."""
    tls = context()

    async def come(_):
        reader, _writer = await shake_hands(tls)
        return await reader.read()

    answers = await asyncio.gather(*map(come, range(200)))
    told = [answer for answer in answers if answer]
    # On a busy machine the first of them are through when the last ones come.
    assert 50 <= len(told) <= 150, f"{len(told)} were told to try later"
    for answer in told:
        assert answer.startswith(b"HTTP/1.1 503 "), answer
        assert b"too many unauthenticated connections from this address (limit: 50)" in answer, answer


async def expect_refusal(tls):
    try:
        await shake_hands(tls)
    except ssl.SSLError as error:
        assert "alert internal error" in str(error).lower(), error
    else:
        raise AssertionError("let in")


async def refused():
    """Where five of an address may come, the others are told by an alert, since nothing else can be
    said before the handshake."""
    tls = context()
    lines = [await shake_hands(tls) for _ in range(5)]
    for _ in range(20):
        await expect_refusal(tls)
    for _, writer in lines:
        writer.close()


async def memory():
    """While there is a file, OpenSSL has no memory for another session; see no_memory.c."""
    tls, file = context(), sys.argv[4]
    async with connect("/echo", tls) as ws:
        open(file, "w").close()
        for _ in range(3):
            await expect_refusal(tls)
        await ws.send("still there?")
        assert await ws.recv() == "still there?"
        os.unlink(file)
        async with connect("/echo", tls) as other:
            await other.send("there again")
            assert await other.recv() == "there again"


tests = {
    "versions": versions, "stall": stall, "cut": cut, "idle": idle, "crowd": crowd, "late": late,
    "refused": refused, "memory": memory}
asyncio.run(asyncio.wait_for(tests[sys.argv[1]](), 120))
print("good")
