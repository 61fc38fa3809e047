"""Attacks a relay without credentials, and prints how long another user waits for acks meanwhile.

strangers.py RELAY...    each a built `relay`; the figures of several are printed in one table

One process attacks from 127.0.0.1, as fast as answers come; this one sends an entry every 60 ms.
"""
import asyncio
import json
import multiprocessing
import os
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import time

import websockets

import bench

ATTACK_S = 8
LINES = b"a:\r\n" * 1900


def hello():
    """A ClientHello, which costs its sender nothing when it is sent again."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    sent = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), sent).do_handshake()
    except ssl.SSLWantReadError:
        return sent.read()


def request(path, lines=b"", end=b"\r\n"):
    return b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s%s" % (path, lines, end)


ATTACKS = {
    "heads of 1,900 lines of which bytes drip": (45, lambda: request(b"/healthz", LINES, b""), True),
    "requests of 1,900 lines": (64, lambda: request(b"/nothing", LINES), False),
    "requests without credentials": (64, lambda: request(b"/nothing"), False),
    "TLS handshakes": (64, hello, False),
}


def attack(port, name):
    """Opens a new connection for each one that is answered or closed."""
    count, make, drips = ATTACKS[name]
    bytes_, connections, poll = make(), {}, select.epoll()

    def connect():
        peer = socket.socket()
        peer.setblocking(False)
        peer.connect_ex(("127.0.0.1", port))
        connections[peer.fileno()] = peer
        poll.register(peer.fileno(), select.EPOLLOUT)

    for _ in range(count):
        connect()
    end = time.monotonic() + ATTACK_S
    while time.monotonic() < end:
        for descriptor, event in poll.poll(0.004, 256):
            peer = connections[descriptor]
            if event == select.EPOLLOUT:
                try:
                    peer.send(bytes_)
                except OSError:
                    pass
                poll.modify(descriptor, select.EPOLLIN)
                continue
            poll.unregister(descriptor)
            del connections[descriptor]
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.close()
            connect()
        if drips:
            for peer in connections.values():
                try:
                    peer.send(b"b")
                except OSError:
                    pass
            time.sleep(0.004)


def cpu(process):
    fields = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def p90(url, seconds):
    context = None
    if url.startswith("wss:"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    async with websockets.connect(f"{url}?user=ada", ssl=context, ping_interval=None) as client:
        await client.recv()
        waits, end = [], time.monotonic() + seconds
        while time.monotonic() < end:
            began = time.perf_counter()
            await client.send(json.dumps(
                {"type": "send", "room": "r", "id": str(time.monotonic_ns()), "text": "hi"}))
            await client.recv()
            waits.append(time.perf_counter() - began)
            await asyncio.sleep(0.06)
        return 1000 * sorted(waits)[len(waits) * 9 // 10]


def measure(binary, name):
    keys = {}
    if name == "TLS handshakes":
        folder = tempfile.mkdtemp()
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost",
             "-keyout", f"{folder}/key.pem", "-out", f"{folder}/chain.pem"],
            check=True, stderr=subprocess.DEVNULL)
        keys = {"RELAY_TLS_KEY": f"{folder}/key.pem", "RELAY_TLS_CERTIFICATE": f"{folder}/chain.pem"}
    os.environ.update(keys)
    relay = bench.LimitedRelay(binary)
    try:
        quiet = asyncio.run(p90(relay.socket, 4))
        attacker = multiprocessing.Process(target=attack, args=(relay.port, name))
        attacker.start()
        time.sleep(1)
        before = cpu(relay.process)
        under = asyncio.run(p90(relay.socket, 5))
        used = (cpu(relay.process) - before) / 5
        attacker.join()
        return f"{quiet:.1f} | {under:.1f} | {100 * used:.0f} %"
    finally:
        relay.stop()
        for key in keys:
            del os.environ[key]


if __name__ == "__main__":
    print("| attack | relay | p90 without, ms | p90, ms | CPU of the relay |\n| --- | --- | ---: | ---: | ---: |")
    for attack_name in ATTACKS:
        for relay_binary in sys.argv[1:]:
            print(f"| {attack_name} | {relay_binary} | {measure(relay_binary, attack_name)} |", flush=True)
