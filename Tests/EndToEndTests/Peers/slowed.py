"""A user who sends too much, by Python's websockets: `slowed.py NAME URL`, as one of the functions below.
Prints "good" if the relay did what it should, and ends with a sentence if not."""
import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time

import websockets

URL = sys.argv[2]


SOCKETS = []


async def connect(user):
    socket = await websockets.connect(f"{URL}?user={user}", ping_interval=None)
    SOCKETS.append(socket)
    welcome = json.loads(await socket.recv())
    assert welcome["type"] == "welcome", welcome
    return socket


async def post(socket, *ids, text="x"):
    for id in ids:
        await socket.send(json.dumps({"type": "send", "room": "r", "id": id, "text": text}))


async def acks(socket, count):
    """The next acks; nothing but acks and entries may come."""
    found = []
    while len(found) < count:
        message = json.loads(await socket.recv())
        assert message["type"] in ("ack", "message"), message
        if message["type"] == "ack":
            found.append(message)
    return found


async def order():
    """The relay takes 40 sends a second, 20 at once."""
    socket, ids = await connect("ada"), [f"a{number}" for number in range(120)]
    began = time.monotonic()
    await post(socket, *ids)
    taken = await acks(socket, len(ids))
    seconds = time.monotonic() - began
    assert [ack["id"] for ack in taken] == ids
    assert [ack["seq"] for ack in taken] == list(range(1, 121))
    assert seconds > 2.4, seconds


async def listens():
    """The relay takes a send a second, two at once: whoever has sent more hears what others say."""
    ada, bo = await connect("ada"), await connect("bo")
    await ada.send(json.dumps({"type": "join", "room": "r"}))
    joined = json.loads(await ada.recv())
    assert joined["type"] == "joined", joined
    await post(ada, *[f"a{number}" for number in range(5)])
    assert len(await acks(ada, 2)) == 2
    await post(bo, "b1")
    while True:
        message = json.loads(await ada.recv())
        if message["type"] == "ack":
            # Before the last of ada's own.
            assert message["id"] != "a4"
        elif message["from"] == "bo":
            break


async def stays():
    """The relay takes a send a second, gives up after two of silence, and pings after one: a
    connection that waits for its turn is not silent."""
    socket = await connect("ada")
    await post(socket, *[f"a{number}" for number in range(8)])
    assert len(await acks(socket, 8)) == 8
    await socket.close()


async def stuffed():
    """As above, with more behind the next send than the relay keeps."""
    socket = await connect("ada")
    flood = asyncio.create_task(post(socket, *[f"a{number}" for number in range(500)], text="x" * 1000))
    assert len(await acks(socket, 8)) == 8
    flood.cancel()


def half():
    """What was sent before the end of sending still has its turn; with the end itself the connection
    ends. By a plain socket, since a library answers pings."""
    host, port = URL.split("/")[2].split(":")
    peer = socket.create_connection((host, int(port)), timeout=60)
    peer.sendall((
        f"GET /ws?user=ada HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Version: 13\r\n\r\n").encode())
    for number in range(6):
        message = b'{"type":"send","room":"r","id":"a%d","text":"x"}' % number
        # Masked with zeros.
        peer.sendall(bytes([0x81, 0x80 | len(message)]) + bytes(4) + message)
    peer.shutdown(socket.SHUT_WR)
    received = b""
    while received.count(b'"type":"ack"') < 5:
        news = peer.recv(1 << 16)
        assert news, received
        received += news


async def crowd():
    """The relay takes three connections of a user."""
    sockets = [await connect("ada") for _ in range(3)]
    refused = await websockets.connect(f"{URL}?user=ada")
    SOCKETS.append(refused)
    error = json.loads(await refused.recv())
    assert (error["type"], error["code"], error["field"]) == (
        "error", "limit_reached", "connections_per_user"), error
    try:
        await refused.recv()
        raise AssertionError("the connection goes on")
    except websockets.ConnectionClosed as closed:
        assert closed.code == 1013, closed
    await connect("bo")
    await sockets[0].close()
    deadline = time.monotonic() + 30
    while True:
        # The relay may yet have to see the end of the other one.
        try:
            await connect("ada")
            return
        except AssertionError:
            assert time.monotonic() < deadline


async def flood():
    """Sends without end, until it is killed."""
    socket, number = await connect("ada"), 0
    print("floods", flush=True)
    while True:
        await post(socket, f"{os.getpid()}-{number}")
        number += 1


def gone():
    """A process that floods is killed: its connection ends with it, though none of what it has sent
    is read for minutes."""
    async def connections():
        reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
        writer.write(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
                     b"Authorization: Bearer the-token-of-tests\r\n\r\n")
        text = (await reader.read()).decode()
        writer.close()
        return int(text.split("\nrelay_connections ")[1].split("\n")[0])

    PORT = int(URL.split(":")[2].split("/")[0])
    floods = subprocess.Popen([sys.executable, __file__, "flood", URL], stdout=subprocess.PIPE)
    assert floods.stdout.readline() == b"floods\n"
    # As much as the system takes; then it waits.
    time.sleep(1)
    floods.send_signal(signal.SIGKILL)
    floods.wait()
    deadline = time.monotonic() + 20
    # The one that asks is the only one.
    while asyncio.run(connections()) > 1:
        assert time.monotonic() < deadline, "the connection of a process that is gone stays"
        time.sleep(0.1)


async def played(case):
    try:
        await case()
    finally:
        # The library would wait ten seconds for the relay to close what is left open.
        for opened in SOCKETS:
            opened.transport.abort()


if __name__ == "__main__":
    case = globals()[sys.argv[1]]
    asyncio.run(played(case)) if asyncio.iscoroutinefunction(case) else case()
    print("good")
