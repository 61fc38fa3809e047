"""accounts.py CASE RELAY [MORE]: plays a case of people who sign in, with a relay of its own."""
import asyncio
import json
import re
import subprocess
import sys
import time

import websockets

from accounts_support import ACCOUNTS, Person, closed, first, first_code, play, welcomed
from relay import wait


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


if __name__ == "__main__":
    play(globals()[sys.argv[1]], sys.argv[2])
    print("good")
