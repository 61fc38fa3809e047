#!/usr/bin/python3 -B
"""Measures what idle WebSockets cost behind the proxies of docs/proxies.md, with their configurations.

usage: measure.py RELAY [CONNECTIONS [PROXY...]]

Opens CONNECTIONS (9,500) through nginx, haproxy and Caddy in turn, and without a proxy. They answer pings for a minute,
which is more than two heartbeats of the relay; then each asks for an answer. A proxy has two descriptors for each: raise
`ulimit -n` for more. haproxy passes TLS on.
"""
import asyncio
import base64
import pathlib
import re
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import time

PROJECT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(PROJECT / "Tests" / "EndToEndTests" / "Peers"))
from relay import MORTAL, Relay, free_port, wait  # noqa: E402

IDLE_S = 60
AT_ONCE = 64
LIMITS = ("limits: { connections_per_address: 0, unauthenticated_per_address: 0, unauthenticated_per_s: 0, "
          "handshake_timeout_ms: 60000 }")
# nginx closes new connections to make room once fewer than a sixteenth of its own are free.
NGINX = """
daemon off; master_process off; pid nginx.pid; error_log stderr;
events {{ worker_connections {room}; }}
http {{
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {{ listen 127.0.0.1:{port} backlog=4096; {block} }}
}}
"""
CADDY = "{{\n  admin off\n  auto_https off\n}}\n{block}"


def block(language):
    text = (PROJECT / "docs" / "proxies.md").read_text()
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]


def memory(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"RssAnon:\s+(\d+)", status)[1])


class Idle:
    """A WebSocket that says nothing but pongs."""

    async def open(self, port, path, number, context):
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context, server_hostname="localhost" if context else None,
            local_addr=(f"127.0.1.{1 + number % 4}", 0), limit=4096)
        key = base64.b64encode(number.to_bytes(16, "big")).decode()
        self.writer.write(
            f"GET {path}?user=u{number} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 "), head
        self.answered = asyncio.Event()
        self.task = asyncio.create_task(self.read())

    async def read(self):
        while True:
            opcode, length = await self.reader.readexactly(2)
            if length == 126:
                length = int.from_bytes(await self.reader.readexactly(2), "big")
            content = await self.reader.readexactly(length)
            if opcode & 15 == 9:
                self.write(10, content)
            elif b'"type":"pong"' in content:
                self.answered.set()

    def write(self, opcode, content):
        self.writer.write(bytes([0x80 | opcode, 0x80 | len(content), 0, 0, 0, 0]) + content)

    async def answers(self):
        if self.task.done():
            return False
        self.write(1, b'{"type":"ping"}')
        try:
            await asyncio.wait_for(self.answered.wait(), 30)
        except asyncio.TimeoutError:
            return False
        return True


async def idle(count, port, path, context, weigh):
    """Returns the seconds until all were open, the memory then, and how many answer in the end."""
    began, gate, before = time.monotonic(), asyncio.Semaphore(AT_ONCE), weigh()
    connections = [Idle() for _ in range(count)]

    async def connect(number):
        async with gate:
            await connections[number].open(port, path, number, context)

    await asyncio.gather(*map(connect, range(count)))
    seconds = time.monotonic() - began
    await asyncio.sleep(IDLE_S)
    after = weigh()
    answered = sum(await asyncio.gather(*(one.answers() for one in connections)))
    for one in connections:
        one.task.cancel()
        one.writer.transport.abort()
    return seconds, [(end - start) / count for start, end in zip(before, after)], answered


def measure(name, program, folder, count):
    port, path, configuration, context = free_port(), "/ws", "trusted_proxies: [127.0.0.1]", None
    if name == "haproxy":
        subprocess.run([PROJECT / "Tests" / "certificates", folder], check=True)
        context = ssl.create_default_context(cafile=f"{folder}/ca.pem")
        configuration += (f"\nproxy_protocol: true\n"
                          f"tls: {{ certificate: '{folder}/server.pem', key: '{folder}/server.key' }}")
    if name == "caddy":
        path, configuration = "/chat/ws", configuration + "\npath_prefix: /chat"
    relay = Relay(program, folder, f"{configuration}\n{LIMITS}")
    text, room = "", 4 * count
    if name != "none":
        text = re.sub(r"127\.0\.0\.1:8(080|443)", f"127.0.0.1:{relay.port}", block(name))
    file = f"{folder}/proxy.conf"
    if name == "nginx":
        text, command = NGINX.format(**locals(), block=text), ["nginx", "-p", folder, "-e", "stderr", "-c", file]
    elif name == "haproxy":
        text, command = text.replace("0.0.0.0:443", f"127.0.0.1:{port}"), ["haproxy", "-db", "-f", file]
    elif name == "caddy":
        text = CADDY.format(block=text.replace("example.org", f"http://:{port}"))
        command = ["caddy", "run", "--config", file, "--adapter", "caddyfile"]
    else:
        port, proxy = relay.port, None
    if text:
        pathlib.Path(file).write_text(text)
        proxy = subprocess.Popen([*MORTAL, *command], env={"PATH": "/usr/sbin:/usr/bin:/bin", "HOME": folder},
                                 stdout=subprocess.DEVNULL, stderr=open(f"{folder}/proxy.log", "wb"))

        def listens():
            with socket.socket() as one:
                return one.connect_ex(("127.0.0.1", port)) == 0

        wait(listens, f"{name} does not listen")
    processes = [one for one in (proxy, relay.process) if one]
    seconds, costs, answered = asyncio.run(
        idle(count, port, path, context, lambda: [memory(one) for one in processes]))
    of_proxy = f"{costs[0]:.1f} KiB" if proxy else "–"
    print(f"| {name} | {count:,} | {seconds:.0f} s | {answered:,} | {of_proxy} | {costs[-1]:.1f} KiB |", flush=True)
    if proxy:
        proxy.terminate()
        proxy.wait()
    relay.stop()


def main():
    program, count = sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 9500
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    print("| proxy | connections | all open after | answer after a minute | memory of the proxy, each | of the relay |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in sys.argv[3:] or ("none", "nginx", "haproxy", "caddy"):
        with tempfile.TemporaryDirectory() as folder:
            measure(name, program, folder, count)


main()
