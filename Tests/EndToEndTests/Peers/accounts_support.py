"""People who sign in, as cases see them: what they ask for over HTTP and WebSocket, as programs and in browsers."""
import asyncio
import json
import pathlib
import re
import sys
import tempfile
import urllib.error
import urllib.request

import websockets

from relay import Relay, wait
from service import opener

ACCOUNTS = "auth: { mode: accounts }"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body, self.text = status, headers, body, body.decode(errors="replace")
        self.json = json.loads(self.text) if self.text[:1] in ("{", "[") else None
        self.cookies = headers.get_all("Set-Cookie") or []

    def __repr__(self):
        return f"{self.status} {self.text}"


class Person:
    """A browser or program, with a token, a cookie or neither."""

    def __init__(self, relay, token=None, cookie=None, **headers):
        self.relay, self.headers = relay, {name.replace("_", "-"): text for name, text in headers.items()}
        self.token, self.cookie = token, cookie

    def ask(self, method, path, content=None, headers={}, form=False):
        fields = dict(self.headers, **headers)
        if self.token:
            fields["Authorization"] = f"Bearer {self.token}"
        if self.cookie:
            fields["Cookie"] = self.cookie
        data = None
        if content is not None:
            data = content.encode() if form else json.dumps(content).encode()
            fields.setdefault(
                "Content-Type", "application/x-www-form-urlencoded" if form else "application/json")
        request = urllib.request.Request(self.relay.url + path, data, fields, method=method)
        try:
            with opener.open(request, timeout=30) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, content, **more):
        return self.ask("POST", path, content, **more)

    def open(self, code, user=None, **fields):
        """Opens an invitation."""
        content = dict(fields, **({"user": user} if user else {}))
        answer = Person(self.relay).post(f"/v1/invites/{code}", content)
        assert answer.status == 201, answer
        return Person(self.relay, token=answer.json["token"]), answer

    def invite(self, **fields):
        answer = self.post("/v1/invites", fields)
        assert answer.status == 201, answer
        return answer.json["code"]


def first_code(relay):
    log = (relay.folder / "relay.log").read_text()
    return wait(lambda: re.search(r"/join/(\S+)", (relay.folder / "relay.log").read_text()), log)[1]


def first(relay, user="ada"):
    return Person(relay).open(first_code(relay), user, device="first")[0]


async def welcomed(relay, person, **more):
    headers = {"Authorization": f"Bearer {person.token}"} if person.token else {}
    if person.cookie:
        headers["Cookie"] = person.cookie
    socket = await websockets.connect(
        relay.socket, subprotocols=["relay.v1"], extra_headers=dict(headers, **more))
    message = json.loads(await socket.recv())
    return socket, message


async def closed(socket, patience_s=10):
    """The close code of a socket, and the code of the last error before it."""
    code = None
    try:
        while True:
            message = json.loads(await asyncio.wait_for(socket.recv(), patience_s))
            if message["type"] == "error":
                code = message["code"]
    except websockets.ConnectionClosed:
        return socket.close_code, code


class Browser(Person):
    """A browser that keeps its cookies, and follows redirects to the relay and back from a provider."""

    def __init__(self, relay):
        super().__init__(relay)
        self.jar = {}

    def ask(self, method, path, content=None, headers={}, form=False):
        self.cookie = "; ".join(f"{name}={value}" for name, value in self.jar.items()) or None
        answer = super().ask(method, path, content, headers, form)
        for cookie in answer.cookies:
            name, _, value = cookie.split(";")[0].partition("=")
            self.jar[name] = value
            if "Max-Age=0" in cookie:
                del self.jar[name]
        return answer

    def go(self, path):
        """Goes to a provider and back; returns the address where that ends."""
        answer = self.get(path)
        assert answer.status == 302, answer
        provider = answer.headers["Location"]
        assert not provider.startswith(self.relay.url), provider
        return self.back(redirected(provider).headers["Location"])

    def back(self, address):
        assert address.startswith(self.relay.url), address
        answer = self.get(
            address.removeprefix(self.relay.url), headers={"Sec-Fetch-Site": "cross-site"})
        assert answer.status == 302, answer
        return answer.headers["Location"]


def redirected(address):
    try:
        return opener.open(address, timeout=30)
    except urllib.error.HTTPError as error:
        assert error.code == 302, error
        return error


def play(case, program):
    with tempfile.TemporaryDirectory() as folder:
        relays = []

        def start(configuration, port=0):
            own = pathlib.Path(folder) / str(len(relays))
            own.mkdir()
            relays.append(Relay(program, own, configuration, port=port))
            return relays[-1]

        try:
            asyncio.run(case(start))
        except BaseException:
            for relay in relays:
                print((relay.folder / "relay.log").read_text(), file=sys.stderr)
            raise
        finally:
            for relay in relays:
                if relay.process.poll() is None:
                    relay.kill()
