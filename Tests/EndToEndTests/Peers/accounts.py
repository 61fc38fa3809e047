"""accounts.py CASE RELAY [MORE]: plays a case of people who sign in, with a relay of its own."""
import asyncio
import contextlib
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import websockets

from files import png
from github import GitHub
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


# MARK: Cases

async def signing_in(start):
    relay = start(ACCOUNTS)
    how = Person(relay).get("/v1/sign-in").json
    assert (how["mode"], how["methods"]) == ("accounts", [{"method": "invite"}]), how
    assert how["url"] == f"{relay.url}/" and len(how["qr"]) == len(how["qr"][0]), how
    ada = first(relay)
    assert ada.get("/v1/me").json["operator"] is True
    socket, message = await welcomed(relay, ada)
    assert message["type"] == "welcome" and message["user"] == "ada", message
    assert ada.post("/v1/rooms/dev/messages", {"id": "1", "text": "hi"}).status == 201
    code = ada.invite(rooms=["dev", "general"])
    bo, answer = ada.open(code, "bo", name="Bo", device="phone")
    assert answer.json["rooms"] == ["dev", "general"]
    # Whoever has stolen the link comes too late, and learns nothing from it; its maker sees who was first.
    assert Person(relay).get(f"/v1/invites/{code}").status == 404
    assert Person(relay).post(f"/v1/invites/{code}", {"user": "thief"}).status == 404
    assert [row["used_by"] for row in ada.get("/v1/invites").json["invites"]] == [["bo"]]
    rooms = {row["room"] for row in bo.get("/v1/rooms").json["rooms"]}
    assert {"dev", "general"} <= rooms, f"an invitation makes a member of its rooms: {rooms}"
    assert bo.get("/v1/me").json == {
        "user": "bo", "name": "Bo", "operator": False, "may_invite": False,
        "session": answer.json["session"]}
    # Who has an account is in people, with the name, before ever having connected.
    people = {row["user"]: row["name"] for row in ada.get("/v1/people").json["people"]}
    assert people == {"ada": "ada", "bo": "Bo"}, people
    # The token in the first message, and while it is being verified messages wait in their order.
    async with websockets.connect(relay.socket, subprotocols=["relay.v1"]) as late:
        await late.send(json.dumps({"type": "auth", "token": bo.token, "ref": "1"}))
        await late.send(json.dumps({"type": "ping", "t": 7}))
        first_answer, second = [json.loads(await late.recv()) for _ in range(2)]
        assert (first_answer["type"], first_answer["ref"]) == ("welcome", "1"), first_answer
        assert second["type"] == "pong", second
    for token, expected in [("x", "unauthorized"), ("A" * 43, "unauthorized")]:
        socket, message = await welcomed(relay, Person(relay, token=token))
        assert message["code"] == expected, message
        assert (await closed(socket))[0] == 4401
    assert Person(relay).get("/v1/rooms").status == 401
    assert Person(relay, token="A" * 43).get("/v1/rooms").status == 401


async def other_modes(start):
    """The other modes say what they are, and have no accounts."""
    relay = start("")
    assert Person(relay).get("/v1/sign-in").json == {"mode": "open"}
    for method, path, content in [
            ("GET", "/v1/me", None), ("POST", "/v1/invites", {}), ("POST", "/v1/device", {}),
            ("GET", "/join/x", None), ("GET", "/sign-in/github", None)]:
        assert Person(relay).ask(method, path, content).status == 404, path


async def kept(start):
    """Sessions survive a restart, and a link of an earlier start does not."""
    relay = start(ACCOUNTS)
    old = first_code(relay)
    relay.stop()
    relay.start()
    assert Person(relay).get(f"/v1/invites/{old}").status == 404
    ada = first(relay)
    relay.kill()
    relay.start()
    assert "/join/" not in (relay.folder / "relay.log").read_text(), "there is an account"
    socket, message = await welcomed(relay, ada)
    assert message["type"] == "welcome", message
    # Many at once, all of which have to be looked up, on a relay that has just started.
    relay.kill()
    relay.start()
    sockets = await asyncio.gather(*(welcomed(relay, ada) for _ in range(50)))
    assert all(message["type"] == "welcome" for _, message in sockets)


async def ended(start):
    """An ended session is out within a second: on each loop, over HTTP, and in streams."""
    relay = start(f"{ACCOUNTS}\nloops: 3\n")
    ada = first(relay)
    phone, answer = ada.open(ada.invite(user="ada"), device="phone")
    own = ada.get("/v1/sessions").json["sessions"]
    assert [session["device"] for session in own if session.get("current")] == ["first"]
    sockets = [(await welcomed(relay, phone))[0] for _ in range(6)]
    mine = [(await welcomed(relay, ada))[0] for _ in range(6)]
    bearer = ["-H", f"Authorization: Bearer {phone.token}"]
    stream = subprocess.Popen(
        ["curl", "-sN", *bearer, f"{relay.url}/v1/stream?rooms=general"], stdout=subprocess.PIPE)
    poll = subprocess.Popen(
        ["curl", "-s", *bearer, "-w", "%{http_code}",
         f"{relay.url}/v1/rooms/general/messages?after=0&wait_s=50"], stdout=subprocess.PIPE)
    stream.stdout.readline()
    wait(lambda: ada.get("/v1/rooms").status == 200, "the relay answers")
    await asyncio.sleep(0.3)
    began = time.monotonic()
    assert ada.ask("DELETE", f"/v1/sessions/{answer.json['session']}").status == 204
    for socket in sockets:
        assert await closed(socket) == (4401, "unauthorized")
    assert phone.get("/v1/rooms").status == 401
    stream.wait(5)
    poll.wait(5)
    assert poll.stdout.read().endswith(b"401")
    # At once; the rest is what a busy machine takes.
    assert time.monotonic() - began < 10, f"{time.monotonic() - began} s"
    for socket in mine:
        await socket.send(json.dumps({"type": "ping", "t": 1}))
        assert json.loads(await asyncio.wait_for(socket.recv(), 10))["type"] == "pong"
    assert phone.ask("DELETE", "/v1/sessions/current").status == 401
    out = ada.ask("DELETE", "/v1/sessions/current")
    assert out.status == 204 and "Max-Age=0" in out.cookies[0], out
    for socket in mine:
        assert (await closed(socket))[0] == 4401


async def cookies(start):
    """A cookie counts last, and only for the relay's own page."""
    relay = start(ACCOUNTS)
    own = {"Origin": relay.url}
    made = Person(relay).post(f"/v1/invites/{first_code(relay)}", {"user": "ada"}, headers=own)
    cookie, = made.cookies
    assert re.search("; HttpOnly; SameSite=Lax$", cookie) and "; Path=/;" in cookie, cookie
    ada = Person(relay, cookie=cookie.split(";")[0])
    assert ada.get("/v1/me").json["user"] == "ada"
    assert ada.get("/metrics").status == 200, "an operator's session"
    # A bad token beside a good cookie.
    for bad in [{"Authorization": "Bearer x"}]:
        assert ada.get("/v1/me", headers=bad).status == 401
    assert ada.get("/v1/me?token=x").status == 401
    # Cross-site requests.
    evil = [{"Origin": "https://evil.example"}, {"Origin": "null"},
            {"Origin": relay.url.replace("127.0.0.1", "127.0.0.1.evil.example")},
            {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
            {"Sec-Fetch-Site": "none"}]
    for headers in evil:
        for method, path, content in [
                ("GET", "/v1/me", None), ("POST", "/v1/invites", {}), ("PATCH", "/v1/me", {"name": "x"}),
                ("DELETE", "/v1/sessions/current", None), ("GET", "/v1/stream?rooms=general", None)]:
            answer = ada.ask(method, path, content, headers=headers)
            assert answer.status == 403, f"{method} {path} {headers}: {answer}"
            assert not answer.cookies
    # Without either header only reading is allowed.
    assert ada.post("/v1/invites", {}).status == 403
    assert ada.ask("DELETE", "/v1/sessions/current").status == 403
    assert ada.post("/v1/invites", {}, headers=own).status == 201
    for headers, expected in [
            (own, 101), ({}, 403), ({"Origin": "https://evil.example"}, 403),
            ({"Sec-Fetch-Site": "same-origin"}, 101)]:
        try:
            socket, message = await welcomed(relay, ada, **headers)
            assert expected == 101 and message["type"] == "welcome", (headers, message)
            await socket.close()
        except websockets.InvalidStatusCode as error:
            assert error.status_code == expected, (headers, error)
    # Navigations have it, whatever they come from.
    assert ada.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status == 200
    assert ada.get("/join/x", headers={"Sec-Fetch-Site": "cross-site"}).status == 200
    # A page of another origin that may connect never has a cookie set.
    relay.stop()
    relay.configuration = "auth: { mode: accounts, origins: [https://other.example] }"
    relay.start()
    other = {"Origin": "https://other.example"}
    code = Person(relay, cookie=ada.cookie).post("/v1/invites", {}, headers=own).json["code"]
    answer = Person(relay).post(f"/v1/invites/{code}", {"user": "bo"}, headers=other)
    assert answer.status == 201 and not answer.cookies, answer.headers
    assert ada.get("/v1/me", headers=other).status == 403, "auth.origins does not count for cookies"


async def tls(start):
    """Over https the cookie is bound to the host."""
    relay = start(ACCOUNTS + "\n")
    relay.stop()
    relay.configuration = "auth: { mode: accounts, public_url: 'https://chat.example.org' }"
    relay.start()
    code = first_code(relay)
    answer = Person(relay).post(f"/v1/invites/{code}", {"user": "ada"})
    cookie, = answer.cookies
    assert cookie.startswith("__Host-relay=") and cookie.endswith("; Secure"), cookie
    log = (relay.folder / "relay.log").read_text()
    assert "https://chat.example.org/join/" in log, log
    ada = Person(relay, cookie=cookie.split(";")[0])
    assert ada.get("/v1/me", headers={"Origin": "https://chat.example.org"}).status == 200
    assert ada.get("/v1/me", headers={"Origin": relay.url}).status == 403


async def operators(start):
    """What operators do from a shell beside the running relay, and without one."""
    relay = start(f"{ACCOUNTS}\nloops: 2\n")
    file = str(relay.folder / "relay.yaml")

    def shell(*arguments, status=0):
        done = subprocess.run(
            [relay.program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == status, (arguments, done)
        return done.stdout + done.stderr

    first(relay)
    bo = Person(relay).open(shell("invite", "--config", file).strip().split("/")[-1], "bo")[0]
    cy = Person(relay).open(
        shell("invite", "--config", file, "--user", "cy", "--name", "Cy D").strip().split("/")[-1])[0]
    assert cy.get("/v1/me").json["name"] == "Cy D"
    listed = shell("users", "--config", file)
    assert all(name in listed for name in ["ada", "bo", "cy", "operator"]), listed
    socket, message = await welcomed(relay, bo)
    began = time.monotonic()
    shell("users", "--config", file, "--disable", "bo")
    assert await closed(socket) == (4403, "forbidden")
    assert time.monotonic() - began < 2
    assert bo.get("/v1/me").status == 403
    socket, message = await welcomed(relay, bo)
    assert message["code"] == "forbidden" and (await closed(socket))[0] == 4403
    shell("users", "--data", str(relay.data), "--enable", "bo")
    wait(lambda: bo.get("/v1/me").status == 200, "bo is enabled again")
    socket, message = await welcomed(relay, bo)
    shell("users", "--config", file, "--end-sessions", "bo")
    assert await closed(socket) == (4401, "unauthorized")
    assert "last operator" in shell("users", "--config", file, "--disable", "ada", status=1)
    shell("users", "--config", file, "--operator", "cy")
    wait(lambda: cy.get("/v1/me").json["operator"], "cy is an operator")
    assert cy.get("/metrics").status == 200
    shell("users", "--config", file, "--disable", "ada")
    assert "no account" in shell("users", "--config", file, "--disable", "nn", status=1)
    relay.stop()
    assert "disabled" in shell("users", "--config", file)
    shell("users", "--config", file, "--enable", "ada")


async def administration(start):
    """What operators do with accounts over HTTP, and from a shell beside the running relay, is in the audit."""
    token = "t" * 32
    relay = start(f"{ACCOUNTS}\nloops: 2\nadmin: {{ token: {token} }}\n")
    file = str(relay.folder / "relay.yaml")
    ada, admin = first(relay), Person(relay, token=token)

    def shell(*arguments):
        return subprocess.run(
            [relay.program, *arguments, "--config", file], stdout=subprocess.PIPE, check=True, text=True).stdout

    bo, opened = ada.open(ada.invite(), "bo")
    listed = admin.get("/v1/accounts").json["accounts"]
    assert [(one["user"], one.get("operator"), len(one["sessions"])) for one in listed] == [
        ("ada", True, 1), ("bo", None, 1)], listed
    assert ada.get("/v1/accounts?after=ada").json["accounts"][0]["user"] == "bo"
    for method, path, content in [
            ("GET", "/v1/accounts", None), ("PATCH", "/v1/accounts/ada", {"disabled": True}),
            ("DELETE", "/v1/accounts/ada/sessions", None), ("DELETE", "/v1/accounts/ada/sessions/x", None)]:
        assert bo.ask(method, path, content).status == 403, path
        assert Person(relay).ask(method, path, content).status == 401, path
    assert admin.get("/v1/me").status == 401, "it is no user's"
    for content, status in [
            ({}, 400), ({"disabled": True, "operator": True}, 400), ({"disabled": 1}, 400), ([], 400)]:
        assert admin.ask("PATCH", "/v1/accounts/bo", content).status == status, content
    assert admin.ask("PATCH", "/v1/accounts/nn", {"disabled": True}).status == 404
    assert admin.ask("PATCH", "/v1/accounts/ada", {"operator": False}).status == 403, "the last operator"
    # One device of two.
    phone = Person(relay).open(admin.invite(user="bo"))[0]
    socket, message = await welcomed(relay, phone)
    [session] = [one["session"] for one in phone.get("/v1/sessions").json["sessions"] if one.get("current")]
    assert session in shell("users", "--sessions", "bo")
    assert admin.ask("DELETE", f"/v1/accounts/ada/sessions/{session}").status == 404, "another user's"
    assert ada.ask("DELETE", f"/v1/accounts/bo/sessions/{session}").status == 204
    assert (await closed(socket))[0] == 4401
    assert phone.get("/v1/me").status == 401 and bo.get("/v1/me").status == 200
    socket, message = await welcomed(relay, bo)
    shell("users", "--end-session", opened.json["session"])
    assert (await closed(socket))[0] == 4401
    shell("users", "--disable", "bo")
    assert admin.ask("PATCH", "/v1/accounts/bo", {"disabled": False}).json["user"] == "bo"
    cy = ada.open(ada.invite(), "cy")[0]
    assert admin.ask("DELETE", "/v1/accounts/cy/sessions").json == {"ended": 1}
    assert cy.get("/v1/me").status == 401
    shell("users", "--operator", "cy")
    [audit] = admin.post("/v1/requests", [{"type": "history", "room": "sys:audit"}]).json
    acts = [tuple(entry["data"].values()) for entry in audit["entries"]]
    assert acts == [
        ("ada", "end_session", "bo", session), ("sys", "end_session", "bo", opened.json["session"]),
        ("sys", "disable", "bo"), ("sys", "enable", "bo"), ("sys", "end_sessions", "cy"),
        ("sys", "operator", "cy")], acts
    relay.stop()
    shell("users", "--no-operator", "cy")


async def exported(start):
    """An export carries accounts without sessions."""
    relay = start(ACCOUNTS)
    ada = first(relay)
    ada.open(ada.invite(), "bo", name="Bo")
    assert ada.post("/v1/rooms/general/messages", {"id": "1", "text": "hi"}).status == 201
    relay.stop()
    lines = subprocess.run(
        [relay.program, "export", "--data", str(relay.data)], stdout=subprocess.PIPE, check=True).stdout
    assert ada.token.encode() not in lines
    other = start(ACCOUNTS)
    other.stop()
    subprocess.run(
        [relay.program, "import", "--data", str(other.data)], input=lines, check=True,
        stderr=subprocess.DEVNULL)
    other.start()
    assert "/join/" not in (other.folder / "relay.log").read_text(), "there are accounts"
    assert Person(other, token=ada.token).get("/v1/me").status == 401
    listed = subprocess.run(
        [relay.program, "users", "--data", str(other.data)], stdout=subprocess.PIPE, text=True).stdout
    assert "ada" in listed and "Bo" in listed, listed
    again = subprocess.run(
        [relay.program, "export", "--data", str(other.data)], stdout=subprocess.PIPE, check=True).stdout
    assert again == lines


async def cluster(start):
    """Several relays with one PostgreSQL, whose URL is the last argument: accounts, sessions and codes are
    those of all."""
    shared = f"{ACCOUNTS}\nlog: {{ engine: postgresql, durability: os, url: '{sys.argv[3]}' }}\n"
    relays = [start(shared) for _ in range(3)]
    # The last start has made the link that counts.
    ada = first(relays[2])
    assert Person(relays[0]).get(f"/v1/invites/{first_code(relays[0])}").status == 404
    # A session is good at another relay a moment later.
    for relay in relays:
        assert Person(relay, token=ada.token).get("/v1/me").status == 200
    phone, answer = Person(relays[0]).open(Person(relays[1], token=ada.token).invite(user="ada"))
    sockets = [(await welcomed(relay, phone))[0] for relay in relays for _ in range(3)]
    began = time.monotonic()
    path = f"/v1/sessions/{answer.json['session']}"
    assert Person(relays[1], token=ada.token).ask("DELETE", path).status == 204
    for socket in sockets:
        assert await closed(socket) == (4401, "unauthorized")
    took = time.monotonic() - began
    assert took < 10, f"{took} s"
    print(f"ended on three relays after {took:.2f} s", file=sys.stderr)
    for relay in relays:
        assert Person(relay, token=phone.token).get("/v1/me").status == 401
    # A code of one relay is confirmed at another, and polled at the third.
    code = Person(relays[0]).post("/v1/device", {"device": "x"}).json
    allowed = Person(relays[1], token=ada.token).post(f"/v1/device/{code['user_code']}", {"allow": True})
    assert allowed.status == 204, allowed
    signed = Person(relays[2]).post("/v1/device/token", {"device_code": code["device_code"]})
    assert signed.json["user"] == "ada", signed
    # Two at once with the same name: one gets it.
    codes = [Person(relays[1], token=ada.token).invite() for _ in range(8)]
    loop = asyncio.get_running_loop()
    answers = await asyncio.gather(*(
        loop.run_in_executor(None, Person(relays[index % 3]).post, f"/v1/invites/{code}", {"user": "bo"})
        for index, code in enumerate(codes)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7, answers
    # One link, used at once: once.
    code = Person(relays[1], token=ada.token).invite()
    answers = await asyncio.gather(*(
        loop.run_in_executor(None, Person(relays[index % 3]).post, f"/v1/invites/{code}", {"user": f"u{index}"})
        for index in range(9)))
    assert sorted(answer.status for answer in answers) == [201] + [404] * 8, answers


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


def by_github(service, more=""):
    return (f"auth:\n  mode: accounts\n  sign_in: [invite, github]\n  github: {{ client_id: app, "
            f"client_secret: app-secret, base_url: '{service.url}', api_url: '{service.url}'{more} }}\n")


async def github(start):
    """Signing in at GitHub, and what goes wrong there."""
    service = GitHub()
    relay = start(by_github(service))
    assert Person(relay).get("/v1/sign-in").json["methods"] == [
        {"method": "invite"}, {"method": "github", "title": "GitHub"}]
    mona = Browser(relay)
    assert mona.go("/sign-in/github?return=/join/x") == "/join/x"
    me = mona.get("/v1/me").json
    assert (me["user"], me["name"]) == ("mona", "Mona L"), me
    assert list(mona.jar) == [f"relay-{relay.port}"], mona.jar
    socket, message = await welcomed(relay, mona, Origin=relay.url)
    assert message["user"] == "mona"
    # Renamed, it is the same account; the login taken by another is another account.
    service.user.update(login="lisa")
    again = Browser(relay)
    again.go("/sign-in/github")
    assert again.get("/v1/me").json["user"] == "mona"
    service.user.update(login="mona", id=6)
    other = Browser(relay)
    other.go("/sign-in/github")
    assert other.get("/v1/me").json["user"] == "mona-2"
    # The browser of a victim is not signed in to the attacker's account.
    attacker = Browser(relay)
    address = redirected(attacker.get("/sign-in/github").headers["Location"]).headers["Location"]
    victim = Browser(relay)
    assert victim.back(address) == "/?sign_in_error=state_mismatch"
    assert not victim.jar
    # Nor does the state work again for the attacker, who has let it be used.
    assert attacker.back(address) == "/?sign_in_error=expired"
    # A code and a state are used once.
    twice = Browser(relay)
    address = redirected(twice.get("/sign-in/github").headers["Location"]).headers["Location"]
    assert twice.back(address) == "/"
    assert twice.back(address) == "/?sign_in_error=expired"
    # An open redirect.
    for path in ["//evil.example", "https://evil.example", "/%5Cevil.example", "%2F%2Fevil.example"]:
        assert Browser(relay).go(f"/sign-in/github?return={path}") == "/"
    # Refused by the person.
    denied = Browser(relay)
    location = denied.get("/sign-in/github").headers["Location"]
    state = re.search("state=([^&]+)", location)[1]
    assert denied.back(
        f"{relay.url}/sign-in/github/callback?error=access_denied&state={state}"
    ) == "/?sign_in_error=access_denied"
    token, user = "/login/oauth/access_token", "/user"
    for path, fault, expected in [
            (token, (200, {"error": "bad_verification_code"}, {}), "provider_refused"),
            (token, (503, b"", {}), "provider_unavailable"),
            (token, (302, b"", {"Location": "http://169.254.169.254/"}), "provider_refused"),
            (token, (200, b"x" * (2 << 20), {}), "provider_unavailable"),
            (user, (200, {"login": "mona"}, {}), "provider_refused"),
            (user, (302, b"", {"Location": "http://127.0.0.1:1/user"}), "provider_refused"),
            (user, (500, b"", {}), "provider_unavailable")]:
        service.faults = {path: fault}
        browser = Browser(relay)
        assert browser.go("/sign-in/github") == f"/?sign_in_error={expected}", (path, fault[:1])
        assert not browser.jar, "no cookie"
    service.faults = {}
    # While the provider stands still, the relay answers others.
    slow = Browser(relay)
    address = redirected(slow.get("/sign-in/github").headers["Location"]).headers["Location"]
    service.stall()
    waiting = asyncio.get_running_loop().run_in_executor(None, slow.back, address)
    began = time.monotonic()
    assert mona.get("/v1/me", headers={"Origin": relay.url}).status == 200
    assert time.monotonic() - began < 5
    assert await waiting == "/?sign_in_error=provider_unavailable"
    log = (relay.folder / "relay.log").read_text()
    assert "app-secret" not in log and not any(token in log for token in service.tokens), log


async def github_organization(start):
    """Only members of the organization enter."""
    service = GitHub()
    relay = start(by_github(service, ", organization: org"))
    for state, expected in [(None, "not_a_member"), ("pending", "not_a_member"), ("active", None)]:
        service.members = {5: state}
        end = Browser(relay).go("/sign-in/github")
        assert end == (f"/?sign_in_error={expected}" if expected else "/"), (state, end)
    service.fail(
        "/user/memberships/orgs/org", 403, {"message": "Resource protected by organization SAML"},
        X_GitHub_SSO="required; url=https://github.example/orgs/org/sso")
    assert Browser(relay).go("/sign-in/github") == "/?sign_in_error=organization_refused"


async def github_gone(start):
    """Who has left the organization, or revoked the application, is out; a GitHub that is down signs out no one."""
    service = GitHub()
    service.members = {5: "active"}
    relay = start(by_github(service, ", organization: org"))
    mona = Browser(relay)
    asked = f"/applications/{service.client}/token"

    def sign_in():
        assert mona.go("/sign-in/github") == "/"

    def ask_now():
        """Makes the next question due, instead of in eight hours, and waits until it has been asked."""
        count = sum(path == asked for path, *_ in service.requests)
        with relay.open_accounts() as database:
            database.execute("UPDATE account_provider_tokens SET ask_at = 0")
        wait(lambda: sum(path == asked for path, *_ in service.requests) > count, "the question", 60)

    def tokens():
        """The tokens, whether their questions fail, and whether they are asked again in about an hour."""
        soon = (time.time() + 2 * 3600) * 1000
        with contextlib.closing(sqlite3.connect(relay.data / "accounts.db")) as database:
            return database.execute(
                "SELECT token, failing_since IS NOT NULL, ask_at BETWEEN 1 AND ? "
                "FROM account_provider_tokens", [soon]).fetchall()

    def log():
        return (relay.folder / "relay.log").read_text()

    sign_in()
    ((token, *_),) = tokens()
    assert token in service.tokens
    assert (relay.data / "accounts.db").stat().st_mode & 0o077 == 0
    lines = subprocess.run(
        [relay.program, "export", "--data", str(relay.data)], stdout=subprocess.PIPE, text=True).stdout
    assert '"mona"' in lines and token not in lines, lines
    ask_now()
    # The secret of the relay itself is wrong, or GitHub is down.
    for status in [401, 503]:
        service.fail(asked, status)
        ask_now()
        wait(lambda: tokens() == [(token, 1, 1)], "the failure")
        assert mona.get("/v1/me").status == 200
    assert log().count("Asking a provider whether people may still sign in fails") == 1, log()
    service.faults = {}
    ask_now()
    wait(lambda: tokens() == [(token, 0, 0)], "the answer")
    wait(lambda: "Asking a provider whether people may still sign in works again" in log(), "the report")
    socket, _ = await welcomed(relay, mona, Origin=relay.url)
    service.members = {}
    ask_now()
    assert await closed(socket) == (4401, "unauthorized")
    assert mona.get("/v1/me").status == 401 and tokens() == []
    assert "mona is signed out (sessions: 1): GitHub says that they are no member of org" in log(), log()
    assert mona.go("/sign-in/github") == "/?sign_in_error=not_a_member"
    service.members = {5: "active"}
    sign_in()
    assert mona.get("/v1/me").status == 200
    service.tokens.clear()
    socket, _ = await welcomed(relay, mona, Origin=relay.url)
    ask_now()
    assert await closed(socket) == (4401, "unauthorized")
    assert "they have revoked what they had granted" in log(), log()
    assert not any(token in log() for token in [token, *service.tokens]) and "app-secret" not in log()


async def github_directory(start):
    """People of the directory, which is the organization's, sign in: the number decides who is who."""
    service = GitHub()
    service.listed = [(5, "mona"), (7, "Lisa"), (9, "rex")]
    service.pictures = {f"/u/{name}": png(int(name, 16), 1) for name in ("5", "20", "20b", "7")}
    relay = start(
        by_github(service, ", organization: org")
        + "  operators: [rex]\ndirectory: { kind: github, refresh_s: 1 }\n")

    def sign_in(number, login, picture=None, **more):
        service.members[number] = "active"
        service.user = {"login": login, "id": number, "name": None,
                        "avatar_url": picture or f"{service.url}/u/{number}", **more}
        browser = Browser(relay)
        assert browser.go("/sign-in/github") == "/"
        return browser

    def user(browser):
        return browser.get("/v1/me").json["user"]

    def width(answer):
        assert answer.body.startswith(b"\x89PNG"), answer
        return int.from_bytes(answer.body[16:20], "big")

    def people():
        answer = ada.get("/v1/people")
        assert '"id"' not in answer.text and "subject" not in answer.text, answer
        return {row["user"]: row for row in answer.json["people"]}

    ada = first(relay)
    wait(lambda: {"mona", "lisa", "rex"} <= people().keys(), "the directory")
    # Mona is written to before she has an account.
    room = "/v1/rooms/dm:ada:mona/messages"
    assert ada.post(room, {"id": "1", "text": "welcome"}).status == 201
    # The login is recycled: another person has it by now.
    recycled = sign_in(6, "mona")
    assert user(recycled) == "mona-2"
    # Hers was renamed, which the directory does not know yet.
    mona = sign_in(5, "monalisa", name="Mona L")
    assert user(mona) == "mona"
    assert "welcome" in mona.get(room).text
    assert recycled.get(room).status == 403
    # A name of auth.operators is given by no provider.
    assert user(sign_in(9, "rex")) == "rex-2"
    # Not in the directory: name and picture are those of GitHub, through the relay.
    otto = sign_in(20, "otto", name="Otto O")
    row = wait(lambda: people().get("otto"), "otto")
    assert (row["name"], row["avatar"]) == ("Otto O", f"{service.url}/u/20"), row
    picture = ada.get("/v1/avatars/otto")
    assert (picture.status, width(picture)) == (200, 0x20), picture
    assert otto.ask("PATCH", "/v1/me", {"name": "Ot"}, headers={"Origin": relay.url}).status == 200
    sign_in(20, "otto", f"{service.url}/u/20b", name="Otto O")
    wait(lambda: people()["otto"]["avatar"].endswith("/u/20b"), "the new picture")
    assert people()["otto"]["name"] == "Ot", "the name that was chosen here"
    assert width(ada.get("/v1/avatars/otto")) == 128, "one of 523 pixels is scaled"
    # Pictures lead to no other host of the relay's network.
    other = GitHub()
    other.pictures = {"/u/30": png(3, 3)}
    for number, url in [(30, f"{other.url}/u/30"), (31, other.url.replace("http", "https") + "/u/30"),
                        (32, f"http://127.0.0.1:1@{other.url[7:]}/u/30")]:
        name = user(sign_in(number, f"user{number}", url))
        assert ada.get(f"/v1/avatars/{name}").status == 404, url
    assert not other.requests, other.requests
    # The directory learns of the new logins: each person is listed once, under the name of the account.
    service.listed = [(6, "mona"), (5, "monalisa"), (9, "rex"), (7, "Lisa")]
    rows = wait(lambda: (rows := people()).get("mona", {}).get("name") == "monalisa" and rows, people)
    assert rows["mona-2"]["name"] == "mona" and rows["rex-2"]["name"] == "rex", rows
    assert not {"monalisa", "rex"} & rows.keys(), rows
    # After a restart without the service, and with accounts of before there were pictures.
    relay.stop()
    with relay.open_accounts() as database:
        database.executescript(
            "ALTER TABLE accounts DROP COLUMN picture; DROP TABLE account_provider_tokens;"
            "PRAGMA user_version = 1")
    state = json.loads((relay.data / "directory.json").read_text())
    assert {person["id"] for person in state["pages"][0]["people"]} == {"5", "6", "7", "9"}, state
    service.fail("/orgs/org/members", 503)
    relay.start()
    assert wait(lambda: people().get("mona-2"), "the kept list")["name"] == "mona"
    assert "monalisa" not in people()
    assert user(sign_in(7, "elisabeth")) == "lisa"
    assert "avatar" not in people()["otto"]
    lines = subprocess.run(
        [relay.program, "export", "--data", str(relay.data)], stdout=subprocess.PIPE, text=True).stdout
    assert f'"picture":"{service.url}/u/7"' in lines.replace("\\/", "/"), lines


async def rooms(start):
    """Owners and moderators invite people to their rooms, also to private ones, and to no others."""
    relay = start(ACCOUNTS)
    ada = first(relay)
    bo, _ = ada.open(ada.invite(), "bo")
    made = bo.post("/v1/rooms/den/messages", {"id": "1", "kind": "settings", "access": "private"})
    assert made.status == 201, made
    assert bo.post("/v1/invites", {}).status == 403
    assert bo.post("/v1/invites", {"rooms": ["den", "general"]}).status == 403
    assert bo.post("/v1/invites", {"rooms": ["attic"]}).status == 403
    code = bo.invite(rooms=["den"], uses=3)
    cy, answer = ada.open(code, "cy")
    assert answer.json["rooms"] == ["den"], answer
    row = [row for row in cy.get("/v1/rooms").json["rooms"] if row["room"] == "den"]
    assert [row["role"] for row in row] == ["member"], row
    entry = bo.get("/v1/rooms/den/messages?limit=1").json["entries"][0]
    assert (entry["from"], entry["user"], entry["role"]) == ("bo", "cy", "member"), entry
    assert cy.post("/v1/invites", {"rooms": ["den"]}).status == 403
    # What its maker may do when a link is opened counts.
    left = bo.post("/v1/rooms/den/messages", {"id": "2", "kind": "member", "user": "cy", "role": "owner"})
    assert left.status == 201, left
    assert cy.post("/v1/rooms/den/messages", {"id": "3", "kind": "member", "user": "bo", "role": "member"}).status == 201
    dee, _ = ada.open(code, "dee")
    assert "den" not in {row["room"] for row in dee.get("/v1/rooms").json["rooms"]}


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


if __name__ == "__main__":
    play(globals()[sys.argv[1]], sys.argv[2])
    print("good")
