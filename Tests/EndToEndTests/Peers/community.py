"""community.py evening RELAY: plays the evening of a community that gets rid of a spammer, and prints "good".

ada has a private room on the page, bo moderates it in a terminal, cy is on the page and on a phone, a bot and a script
take part, and mallory sends spam. olga operates the relay."""
import asyncio
import base64
import contextlib
import hashlib
import hmac
import itertools
import json
import pathlib
import re
import subprocess
import threading
import time
import urllib.parse

import websockets

from accounts_support import Person
from terminal import Terminal
from web_accounts import WRITES, choose, elsewhere, press
from web_rooms import actions, members, pick, title_is, wait_for_notice
from web_support import ONLINE, PATIENCE_S, RELAY, Relay, check, play, quiet, until, wait_for_text, write

SECRET = "0123456789abcdef0123456789abcdef"
CONFIGURATION = f"auth: {{ mode: jwt, secret: {SECRET}, operators: [olga] }}"
HOUR_MS = 3_600_000
FREE = "r-no-one-has-this-name"
refs = itertools.count(1)
loop = asyncio.new_event_loop()


def token(user):
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=").decode()

    claims = f'{part(json.dumps({"alg": "HS256"}).encode())}.{part(json.dumps({"sub": user}).encode())}'
    return f"{claims}.{part(hmac.digest(SECRET.encode(), claims.encode(), hashlib.sha256))}"


def now():
    return time.time_ns() // 1_000_000


class Connection:
    """A WebSocket of a user, which keeps all that arrives, as it arrives."""

    def __init__(self, relay, user, hear=lambda connection, message: None):
        self.user, self.hear, self.received, self.code = user, hear, [], None
        self._do(self._open(relay.socket))
        asyncio.run_coroutine_threadsafe(self._read(), loop)

    async def _open(self, address):
        self.socket = await websockets.connect(
            address, subprotocols=["relay.v1"], compression=None,
            extra_headers={"Authorization": f"Bearer {token(self.user)}"})

    async def _read(self):
        with contextlib.suppress(websockets.ConnectionClosed):
            async for text in self.socket:
                self.received.append(text)
                self.hear(self, json.loads(text))
        self.code = self.socket.close_code

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE_S)

    def say(self, **message):
        """Sends a message, from the loop or any other thread."""
        return asyncio.run_coroutine_threadsafe(self.socket.send(json.dumps(message)), loop)

    def since(self, place=0):
        return [json.loads(text) for text in self.received[place:]]

    def wait(self, place=0, **fields):
        """The first message since a place that has these fields."""
        def found():
            return next((one for one in self.since(place) if fields.items() <= one.items()), None)

        until(found, lambda: f"{self.user}: no {fields} in {self.since(place)}")
        return found()

    def ask(self, type, **fields):
        """What a request is answered."""
        ref = f"r{next(refs)}"
        self.say(type=type, ref=ref, **fields).result(PATIENCE_S)
        return self.wait(ref=ref)

    def send(self, room, kind="text", **fields):
        return self.ask("send", room=room, id=f"{self.user}-{next(refs)}", kind=kind, **fields)

    def settle(self):
        """Waits for what was on its way; returns how much has arrived."""
        check(self.ask("ping")["type"] == "pong", "a pong")
        return len(self.received)

    def close(self):
        self._do(self.socket.close())


class Program(Person):
    """A client over HTTP, which keeps all that it is answered."""

    def __init__(self, relay, user):
        super().__init__(relay, token=token(user))
        self.received = []

    def ask(self, *request, **more):
        answer = super().ask(*request, **more)
        self.received.append(answer.text)
        return answer

    def send(self, room, **fields):
        return self.post(f"/v1/rooms/{room}/messages", {"id": f"http-{next(refs)}", **fields})


def acked(answer):
    check(answer["type"] == "ack", answer)
    return answer["seq"]


def refused(answer, code="no_such_room"):
    check(answer["type"] == "error" and answer["code"] == code, answer)
    return answer


def opened(browser, relay, user):
    page = elsewhere(browser, f"{relay.url}/?room=general#token={token(user)}")
    page.wait(f"{ONLINE} && {WRITES}")
    return page


def say(page, text):
    page.evaluate("document.querySelector('textarea').focus()")
    write(page, text)
    wait_for_text(page, text, ".own")


def command(relay, *arguments):
    done = subprocess.run([RELAY, *arguments, "--config", f"{relay.folder}/relay.yaml"], capture_output=True, text=True,
                          timeout=PATIENCE_S)
    check(done.returncode == 0, f"{arguments}: {done.stderr}")
    return done.stdout


def audit(relay):
    """The entries of the audit, by the relay's command."""
    lines = map(json.loads, command(relay, "export", "--room", "sys:audit").splitlines())
    return [line for line in lines if "data" in line]


def wschat(relay, folder, user, room):
    get = f"{RELAY} token --user {user} --ttl 1h --config {relay.folder}/relay.yaml"
    home = folder / "home"
    home.mkdir()
    return Terminal(folder, 130, 36, [f"{pathlib.Path(RELAY).parent}/wschat", relay.socket, "--room", room,
                                      "--token-command", get],
                    {"HOME": f"{home}", "XDG_CONFIG_HOME": f"{home}/config", "XDG_STATE_HOME": f"{home}/state",
                     "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8", "TZ": "UTC"})


def tune(connection, message):
    """The bot: it plays what it is asked for."""
    if message.get("type") == "message" and message.get("text", "").startswith("!play "):
        connection.say(type="send", room=message["room"], id=f"tune-{message['seq']}",
                       text=f"Now playing {message['text'][6:]}")


def evening(browser, folder):
    folder = pathlib.Path(folder)
    with contextlib.ExitStack() as stack:
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        relay = Relay(RELAY, folder, CONFIGURATION)
        stack.callback(relay.process.kill)
        play_evening(browser, folder, relay, stack)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(PATIENCE_S)


def play_evening(browser, folder, relay, stack):
    secrets = []  # what is said in the private room by its members

    def secret(text):
        secrets.append(text)
        return text

    # MARK: ada makes a private room, and people come.
    ada, cy = opened(browser, relay, "ada"), opened(browser, relay, "cy")
    choose(ada, "New room…")
    ada.wait("document.activeElement?.id === 'new-room-title'")
    ada.type(secret("Harbour choir"))
    ada.press("Tab")
    ada.type(secret("Rehearsal on Thursday"))
    ada.press("Tab")
    ada.press("Tab")
    ada.type("@bo, @cy, @mallory, @jukebox, @door")
    ada.press("Enter")
    title_is(ada, "Harbour choir")
    ada.wait(f"document.querySelector('dialog') === null && {WRITES}")
    room = urllib.parse.parse_qs(ada.evaluate("location.search")[1:])["room"][0]
    check(re.fullmatch(r"r-\S{20,}", room), room)
    ada.wait("document.querySelector('.members').textContent === '6 members'")
    ada.evaluate("document.querySelector('.members').focus()")
    ada.press("Enter")
    ada.wait("document.querySelectorAll('.room-members li').length === 6")
    actions(ada, "bo")
    pick(ada, "Make a moderator")
    until(lambda: "bo Moderator" in members(ada), "bo is a moderator")
    ada.press("Escape")

    row = "[...document.querySelectorAll('.conversation')].find(one => one.querySelector('.title').textContent === 'Harbour choir')"
    cy.wait(row)
    cy.evaluate(f"{row}.click()")
    title_is(cy, "Harbour choir")
    terminal = wschat(relay, folder, "bo", room)
    stack.callback(terminal.close)
    terminal.wait("Harbour choir", "ada made bo a moderator")
    bo, jukebox, phone = Connection(relay, "bo"), Connection(relay, "jukebox", tune), Connection(relay, "cy")
    mallory, script, door = Connection(relay, "mallory"), Program(relay, "mallory"), Program(relay, "door")
    for one in bo, jukebox, phone, mallory:
        check(one.ask("join", room=room, after=0)["type"] == "joined", "joined")
        check(one.ask("rooms")["type"] == "rooms", "rooms")
    say(ada, secret("Welcome, everyone!"))
    say(cy, "!play The Wellerman")
    secrets.append("The Wellerman")
    terminal.wait("Now playing The Wellerman")
    check(door.send(room, text=secret("Someone is at the door.")).status == 201, "the script posts")
    terminal.wait("Someone is at the door.")
    terminal.type(secret("I let them in."))
    terminal.wait("I let them in.")
    terminal.press("Enter")
    for page in ada, cy:
        for text in "Welcome, everyone!", "Now playing The Wellerman", "Someone is at the door.", "I let them in.":
            wait_for_text(page, text)
    mallory.wait(text="I let them in.")

    # MARK: mallory sends spam, is muted, and then removed.
    spam = [acked(mallory.send(room, text=f"cheap watches {number}")) for number in range(3)]
    terminal.wait("cheap watches 2")
    mute_ends = now() + HOUR_MS
    acked(bo.send(room, "member", user="mallory", role="muted", until=mute_ends, reason="noise"))
    terminal.wait("mallory was muted by bo until")
    mallory.wait(kind="member", user="mallory", role="muted")
    for kind, fields in ("text", {"text": "more watches"}), ("react", {"target": spam[0], "emoji": "👍", "on": True}):
        check(refused(mallory.send(room, kind, **fields), "forbidden").get("until") == mute_ends, "when the mute ends")
    answer = script.send(room, text="more watches")
    check(answer.status == 403 and answer.json["until"] == mute_ends, answer)

    place = mallory.settle()
    acked(bo.send(room, "member", user="mallory", role="none", reason="spam"))
    entry = mallory.wait(place, kind="member")
    check((entry["from"], entry["user"], entry["role"], entry["reason"]) == ("bo", "mallory", "none", "spam"), entry)
    left = mallory.wait(place, type="left")
    check(left == {"type": "left", "room": room, "seq": entry["seq"], "by": "bo", "role": "none", "reason": "spam"}, left)
    last = mallory.since(place)
    check([one["type"] for one in last[last.index(entry):]] == ["message", "left"], last)
    removal, script.received = len(mallory.received), []
    before = "".join(mallory.received)
    check(all(text in before for text in secrets), "a member gets what is said")
    terminal.wait("mallory was removed by bo: spam")
    for page in ada, cy:
        wait_for_notice(page, "Mallory was removed by bo: spam")
    say(ada, secret("Thank you, bo."))
    say(cy, "!play Sea shanties")
    secrets.append("Sea shanties")
    check(door.send(room, text=secret("The door is closed.")).status == 201, "the script posts")
    terminal.wait("Thank you, bo.", "Now playing Sea shanties", "The door is closed.")
    mallory.settle()
    check([one["type"] for one in mallory.since(removal)] == ["pong"], mallory.since(removal))

    # MARK: For mallory the room does not exist, on any device.
    def is_gone(*connections):
        for one in connections:
            refused(one.ask("join", room=room))
            refused(one.send(room, text="hello?"))
            refused(one.send("dm:cy:mallory", forward={"room": room, "seq": spam[0]}), "no_such_entry")
            for request in ({"type": "history"}, {"type": "read", "seq": 1}, {"type": "report", "seq": spam[0], "reason": "x"},
                            {"type": "send", "id": "e", "kind": "delete", "target": spam[0]}):
                real, free = ({key: value for key, value in one.ask(**request, room=name).items() if key != "ref"}
                              for name in (room, FREE))
                check(json.dumps(real).replace(room, FREE) == json.dumps(free), (real, free))
            check(room not in json.dumps(one.ask("rooms")), "the room is listed")
        answer = script.send(room, text="hello?")
        check((answer.status, answer.json["code"]) == (404, "no_such_room"), answer)
        answer = script.get(f"/v1/rooms/{room}/messages")
        check(answer.status == 200 and (answer.json["entries"], answer.json["head"]) == ([], 0), answer)
        for path in (f"/v1/stream?room={room}", f"/v1/rooms/{room}/messages/{spam[0]}/trace"):
            check(script.get(path).status == 404, path)
        check(room not in script.get("/v1/rooms").text, "the room is listed")

    device = Connection(relay, "mallory")
    is_gone(mallory, device)
    ada.evaluate("document.querySelector('.members').focus()")
    ada.press("Enter")
    ada.wait("document.activeElement?.id === 'invited'")
    ada.type("mallory")
    press(ada, "Ban…")
    ada.wait("document.activeElement?.id === 'reason'")
    write(ada, "a spammer")
    wait_for_notice(ada, "Mallory was banned by you: a spammer")
    ada.press("Escape")
    terminal.wait("mallory was banned by ada: a spammer")
    is_gone(mallory, device)

    # MARK: mallory writes to cy, who blocks, and reports.
    direct = "dm:cy:mallory"
    check(mallory.ask("join", room=direct, after=0)["type"] == "joined", "joined")
    mallory.wait(removal, type="presence", user="cy", presence="online")
    first = mallory.send(direct, text="why did they do that?")
    acked(first)
    cy.wait("document.querySelectorAll('.requests li').length === 1")
    check(cy.evaluate("document.querySelector('.requests').textContent.includes('why did they do that?')"), "what is said")
    check(phone.wait(type="activity", room=direct).get("request") is True, "a request")
    check(phone.ask("join", room=direct, after=0)["type"] == "joined", "joined")
    phone.wait(room=direct, seq=1, text="why did they do that?")
    blocked = mallory.settle()
    cy.evaluate("document.querySelector('.requests [aria-label=\"Block mallory\"]').click()")
    cy.wait("document.querySelector('dialog.question')")
    cy.press("Enter")
    phone.wait(type="blocks", users=["mallory"])
    cy.wait("document.querySelector('.requests').hidden")
    for number in range(2):
        answer = mallory.send(direct, text=f"answer me {number}")
        check(answer.keys() == first.keys(), (answer, first))
        hidden = phone.wait(room=direct, seq=answer["seq"])
        check(hidden == {"type": "message", "room": direct, "seq": answer["seq"], "at": answer["at"], "kind": "hidden"}, hidden)
        check(mallory.wait(blocked, room=direct, kind="text", seq=answer["seq"])["text"] == f"answer me {number}", "the own one")
    for message in ({"type": "read", "seq": 3}, {"type": "typing", "on": True}):
        phone.say(**message, room=direct).result(PATIENCE_S)
    phone.settle()
    mallory.wait(blocked, type="presence", user="cy", presence="offline")
    mallory.settle()
    told = [one for one in mallory.since(blocked)
            if one["type"] not in ("ack", "pong") and (one["type"], one.get("from")) != ("message", "mallory")]
    check([(one["type"], one["user"], one["presence"]) for one in told] == [("presence", "cy", "offline")], told)
    check(room not in json.dumps(told), told)

    # In the room, what mallory sent is closed until one wants to see it.
    wait_for_notice(cy, "You have blocked mallory: show this message")
    cy.evaluate("[...document.querySelectorAll('.row.change button')].find(one => one.textContent.startsWith('You have blocked')).click()")
    wait_for_text(cy, "cheap watches 0")
    cy.evaluate("[...document.querySelectorAll('.row')].find(one => one.innerText.includes('cheap watches 0')).focus()")
    cy.press("Enter")
    cy.wait("document.querySelector('.menu') && document.activeElement.getAttribute('role') === 'menuitem'")
    pick(cy, "Report…")
    cy.wait("document.activeElement?.id === 'report-reason'")
    write(cy, "an advertisement")
    cy.wait("document.querySelector('.toast')?.textContent.includes('It was reported')")

    def reports(**where):
        return [(one["room"], one["seq"], one["by"], one["reason"], one.get("copy", {}).get("text"))
                for one in bo.ask("reports", **where)["reports"]]

    check(reports(room=room) == [(room, spam[0], "cy", "an advertisement", "cheap watches 0")], reports(room=room))
    refused(bo.ask("reports"), "forbidden")

    # MARK: olga bans mallory from the relay, and deletes a message.
    began = now()
    command(relay, "ban", "mallory", "--until", "2h")
    for one in mallory, device:
        until(lambda one=one: one.code == 4403, lambda one=one: f"close {one.code}")
        refused(one.since()[-1], "forbidden")
    third = Connection(relay, "mallory")
    until(lambda: third.code == 4403, lambda: f"close {third.code}")
    ban_ends = refused(third.since()[-1], "forbidden")["until"]
    check(script.get("/v1/rooms").status == 403, "a request of a banned user")
    banned = now()
    olga = Program(relay, "olga")
    answer = olga.send(room, kind="delete", target=spam[0])
    check(answer.status == 201, answer)
    deleted = now()
    entry = phone.wait(room=room, kind="delete", target=spam[0])
    check(entry["from"] == "olga", entry)
    ada.wait("document.querySelector('relay-timeline').innerText.includes('olga')")
    check(ada.evaluate("!document.querySelector('relay-timeline').innerText.includes('cheap watches 0')"), "it is shown")
    entries = door.get(f"/v1/rooms/{room}/messages?fold").json["entries"]
    entry, = (one for one in entries if one["seq"] == spam[0])
    check((entry["text"], entry["deleted"], entry["deleted_by"]) == ("", True, "olga"), entry)
    check(reports(room=room) == [(room, spam[0], "cy", "an advertisement", None)], reports(room=room))

    # MARK: What is on record, also after the relay was killed.
    def check_audit():
        acts = audit(relay)
        check([act["data"] for act in acts] == [
            {"by": "sys", "verb": "ban", "user": "mallory", "until": ban_ends},
            {"by": "olga", "verb": "delete", "room": room}], acts)
        check(all(act["from"] == "sys" and act["room"] == "sys:audit" for act in acts), acts)
        check(began <= acts[0]["at"] <= banned <= acts[1]["at"] <= deleted, [began, banned, deleted, acts])
        check(began <= ban_ends - 2 * HOUR_MS <= banned, ban_ends)
        check([act["seq"] for act in acts] == [1, 2], acts)

    check_audit()
    for page in ada, cy:
        quiet(page)
        page.close()
    terminal.press("C-c")
    for one in bo, jukebox, phone:
        one.close()
    relay.kill()
    relay.start()
    stack.callback(relay.process.kill)
    check_audit()
    again = Connection(relay, "mallory")
    until(lambda: again.code == 4403, lambda: f"close {again.code}")
    check(refused(again.since()[-1], "forbidden")["until"] == ban_ends, "when the ban ends")
    check(door.get(f"/v1/rooms/{room}/messages?fold").json["entries"] == entries, "what was said")

    # MARK: Nothing of the room has reached mallory since.
    bytes_since = "".join(mallory.received[removal:] + device.received + third.received + again.received + script.received)
    check(len(bytes_since) > 1000, "what mallory has received")
    found = [text for text in secrets if text in bytes_since]
    check(not found, f"mallory has received {found}")
    relay.stop()


if __name__ == "__main__":
    play(globals())
