"""What the tests of the documented clients need: a client that can be killed, and a proxy between it and
the relay that counts, holds, answers and closes."""
import asyncio
import json
import os
import pathlib
import socket
import subprocess
import threading
import time
import urllib.parse

import websockets

from relay import MORTAL, PATIENCE_S, wait


class Pages(dict):
    """Listening sockets for the pages of users: they keep their origin while the client is killed."""

    def __missing__(self, user):
        self[user] = socket.create_server(("127.0.0.1", 0))
        return self[user]

    def origins(self, *users):
        """Admits the pages of these users, as configuration of a relay."""
        origins = [f"http://127.0.0.1:{self[user].getsockname()[1]}" for user in users]
        return f"auth: {{ origins: {json.dumps(origins)} }}"


PAGES = Pages()


class Client:
    """A documented client as a process. It gets the lines that it has not written to its journal again
    when it is started again, as a person would type them again."""

    def __init__(self, command, url, journal, rooms):
        self.command, self.url, self.rooms = command, url, rooms
        # A browser has a profile of its own, and mirrors its journal when it has opened it.
        self.is_browser = any("browser_client.py" in part for part in command)
        self.store, self.mirror = journal, f"{journal}.mirror" if self.is_browser else journal
        self.lines, self.fed = [], 0
        self.shown, self.warnings = {}, []
        self.process = None

    def start(self):
        if self.is_browser:
            pathlib.Path(self.mirror).unlink(missing_ok=True)
        self.journal, self.offset, self.shown = [], 0, {}
        self.process = subprocess.Popen(
            [*MORTAL, *self.command, self.url, self.store, *self.rooms], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            pass_fds=[PAGES[self.user].fileno()],
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PAGE_FD": str(PAGES[self.user].fileno())})
        self.threads = [
            threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self.warn, args=(self.process.stderr,), daemon=True)]
        for thread in self.threads:
            thread.start()
        if self.is_browser:
            wait(lambda: os.path.exists(self.mirror), self.explain)
        self.fed = len(self.said())
        self.feed()
        return self

    def read(self, stream):
        for line in stream:
            entry = json.loads(line)
            self.shown[entry["room"], entry["seq"]] = entry

    def warn(self, stream):
        for line in stream:
            self.warnings.append(line)

    def say(self, text=None, **fields):
        self.lines.append({"room": self.rooms[0], **({} if text is None else {"text": text}), **fields})
        self.feed()

    def feed(self):
        if self.process and self.process.poll() is None:
            for line in self.lines[self.fed:]:
                self.process.stdin.write(json.dumps(line) + "\n")
            self.process.stdin.flush()
            self.fed = len(self.lines)

    def kill(self):
        self.process.kill()
        self.end()

    def end(self):
        """Waits for the end, and for the last of its output."""
        code = self.process.wait(PATIENCE_S)
        for thread in self.threads:
            thread.join(PATIENCE_S)
        return code

    def finish(self):
        """Ends the input: the client ends when all of it is acknowledged and shown."""
        self.process.stdin.close()
        code = self.end()
        assert code == 0, self.explain()

    def explain(self):
        return f"exit {self.process.poll()}, journal {self.journal[-5:]}, {self.warnings[-20:]}"

    # What is in the journal.

    def record(self):
        """The whole lines of the journal, as far as it is written."""
        if os.path.exists(self.mirror):
            with open(self.mirror, "rb") as file:
                file.seek(self.offset)
                whole, newline, _ = file.read().rpartition(b"\n")
                self.offset += len(whole + newline)
                self.journal += [json.loads(line) for line in whole.splitlines()]
        return self.journal

    def said(self):
        return [line for line in self.record() if line["type"] == "send"]

    def entries(self, room):
        """The entries that it has, after all that it was told to drop."""
        entries = []
        for line in self.record():
            if line.get("room") != room:
                continue
            if line["type"] == "message":
                entries.append(line)
            if line["type"] == "joined" and line["resume"] in ("diverged", "reset"):
                keep = line["after"] if line["resume"] == "diverged" else 0
                entries = [entry for entry in entries if entry["seq"] <= keep]
        return entries

    def resumes(self, room):
        lines = [line for line in self.record() if line["type"] == "joined" and line["room"] == room]
        return [line["resume"] for line in lines]

    def acknowledged(self):
        return {line["id"] for line in self.record() if line["type"] == "ack"}

    def refused(self):
        return [line["id"] for line in self.record() if line["type"] == "error"]

    def unsettled(self):
        """How many of its lines have no outcome yet."""
        own = {line["id"] for line in self.said()}
        entries = {line["id"] for line in self.record()
                   if line["type"] == "message" and line["from"] == self.user}
        return len(self.lines) - len(own & (entries | self.acknowledged() | set(self.refused())))

    @property
    def user(self):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.url).query)["user"][0]


class Proxy:
    """Passes messages on between one client and a relay."""

    def __init__(self, relay):
        self.relay, self.received, self.answered = relay, [], []
        # Of a message from the client: a list answers it in the place of the relay, False holds it.
        self.intercept = lambda message: None
        self.connections = []  # when each began
        self.sockets = set()
        self.loop, ready = asyncio.new_event_loop(), threading.Event()

        async def serve():
            server = await websockets.serve(
                self.pass_on, "127.0.0.1", 0, subprotocols=["relay.v1"], ping_interval=None)
            self.port = server.sockets[0].getsockname()[1]
            ready.set()

        def run():
            asyncio.set_event_loop(self.loop)
            self.loop.create_task(serve())
            self.loop.run_forever()

        threading.Thread(target=run, daemon=True).start()
        assert ready.wait(PATIENCE_S)

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.port}/ws"

    async def pass_on(self, client, path):
        self.connections.append(time.monotonic())
        self.sockets.add(client)
        try:
            async with websockets.connect(
                    f"ws://127.0.0.1:{self.relay.port}{path}", subprotocols=["relay.v1"],
                    ping_interval=None) as relay:
                ways = [self.loop.create_task(self.requests(client, relay)),
                        self.loop.create_task(self.answers(relay, client))]
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
                for way in ways:
                    way.cancel()
                if relay.closed and relay.close_code != 1006:
                    await client.close(relay.close_code)
        except (OSError, websockets.WebSocketException):
            pass
        finally:
            self.sockets.discard(client)
            client.transport.abort()  # as it looks when the relay is killed

    async def requests(self, client, relay):
        async for text in client:
            message = json.loads(text)
            self.received.append(message)
            answers = self.intercept(message)
            if answers is None:
                await relay.send(text)
            for answer in answers or []:
                await client.send(json.dumps(answer))

    async def answers(self, relay, client):
        async for text in relay:
            self.answered.append((time.monotonic(), json.loads(text)))
            await client.send(text)

    def close(self, code=None, saying=None):
        """Closes all connections of clients, after a last message; without a code, breaks them."""
        async def close():
            for client in list(self.sockets):
                if saying:
                    await client.send(json.dumps(saying))
                if code:
                    await client.close(code)
                else:
                    client.transport.abort()

        asyncio.run_coroutine_threadsafe(close(), self.loop).result(PATIENCE_S)

    def count(self, kind):
        return sum(message["type"] == kind for message in self.received)

    def kinds(self, kind):
        return [(at, message) for at, message in self.answered if message["type"] == kind]
