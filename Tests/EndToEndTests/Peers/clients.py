"""clients.py CASE RELAY COMMAND...: tests a documented client, run as COMMAND URL JOURNAL ROOM...

Every case waits for conditions, never for a time, and ends with status 0 if all is as it should be."""
import asyncio
import json
import pathlib
import random
import shutil
import sys
import tempfile
import time

import websockets

from client_harness import PAGES, Client, Proxy
from relay import WITHOUT_LIMITS, Relay, wait

CASE, PROGRAM, COMMAND = sys.argv[1], sys.argv[2], sys.argv[3:]


def new_relay(folder, configuration=""):
    return Relay(PROGRAM, folder, f"{configuration}\n{PAGES.origins('ada', 'bo')}")


def client(user, folder, url, *rooms):
    return Client(COMMAND, f"{url}?user={user}", str(folder / f"{user}.journal"), rooms)


def send_as(user, relay, *messages):
    """Sends as another member, and waits for the acks."""
    async def send():
        async with websockets.connect(f"{relay.socket}?user={user}") as socket:
            for message in messages:
                await socket.send(json.dumps({"type": "send", **message}))
                while (answer := json.loads(await socket.recv()))["type"] not in ("ack", "error"):
                    pass
                assert answer["type"] == "ack", answer

    asyncio.run(send())


def place(entry):
    """An entry without its content, which a deletion takes away."""
    return {key: entry[key] for key in ("room", "seq", "id", "from", "at", "kind")}


def check_record(member, relay):
    """The client has what the log has, and the log has what the client has sent, in order, once."""
    for room in member.rooms:
        log = relay.history(room, user=member.user)
        assert [entry["seq"] for entry in log] == list(range(1, len(log) + 1)), room
        assert [place(e) for e in member.entries(room)] == [place(e) for e in log], room
        said = [line["id"] for line in member.said() if line["room"] == room]
        stored = [entry["id"] for entry in log if entry["from"] == member.user]
        assert stored == [id for id in said if id not in member.refused()], room
        texts = {line["id"]: line for line in member.said()}
        for entry in log:
            if entry["from"] == member.user and entry.get("text"):
                assert entry["text"] == texts[entry["id"]]["text"], entry
        check_shown(member, relay, room)
    fields = [{key: line[key] for key in line if key not in ("type", "id")} for line in member.said()]
    assert fields == member.lines, "a line was said twice, or in another order"


def check_shown(member, relay, room):
    """What it shows is what the relay folds, text for text."""
    folded = relay.history(room, user=member.user, fold="true")
    for entry in folded:
        wait(lambda: member.shown.get((room, entry["seq"])) == entry,
             lambda: f"{member.shown.get((room, entry['seq']))} is shown, {entry} is right")


def check_again(member, relay, *rooms):
    """Killed and started again, it shows what the relay folds, and nothing else."""
    member.kill()
    member.start()
    for room in rooms:
        check_shown(member, relay, room)
        kept = {(room, entry["seq"]) for entry in relay.history(room, user=member.user, fold="true")}
        assert {place for place in member.shown if place[0] == room} == kept, member.shown


def has_all(member, relay):
    return all(len(member.entries(room)) == len(relay.history(room, user=member.user))
               for room in member.rooms)


# MARK: Chaos


def chaos30(folder):
    """As `chaos`, for longer."""
    chaos(folder, kills=30)


def chaos(folder, kills=10):
    """Kills of the relay, and some of its clients, while they send and receive."""
    rooms = ("general", "__proto__", "dm:ada:bo")
    relay = new_relay(folder, WITHOUT_LIMITS)
    members = [client(user, folder, relay.socket, *rooms).start() for user in ("ada", "bo")]
    chance, count = random.Random(7), 0

    def shown(member, room, prefix, users):
        return [entry["seq"] for entry in list(member.shown.values())
                if entry["room"] == room and entry["from"] in users
                and entry.get("text", "").startswith(prefix)]

    def speak(member):
        """Says something new, or changes what is shown: never what another line may delete."""
        nonlocal count
        count += 1
        room = chance.choice(rooms)
        kept = shown(member, room, "text", [member.user])
        anyone = shown(member, room, "text", ["ada", "bo"])[-5:]
        gone = [seq for seq in shown(member, room, "gone", [member.user])
                if not any(line.get("kind") == "delete" and line["room"] == room
                           and line["target"] == seq for line in member.lines)]
        if count % 5 == 0 and kept:
            member.say(room=room, kind="edit", target=chance.choice(kept), text=f"text {count} edited")
        elif count % 5 == 1 and anyone:
            member.say(room=room, kind="react", target=chance.choice(anyone),
                       emoji=chance.choice(["👍", "__proto__"]), on=chance.random() < 0.7)
        elif count % 5 == 2 and gone:
            member.say(room=room, kind="delete", target=gone[0])
        elif count % 7 == 0:
            member.say(room=room, kind="data", data={"__proto__": [count, None]})
        else:
            member.say(f"{'gone' if count % 5 == 3 else 'text'} {count} wörld 👋", room=room)

    def settled():
        for member in members:
            if member.unsettled() < 6:
                speak(member)
        return sum(len(member.lines) - member.unsettled() for member in members)

    for kill in range(kills):
        goal = settled() + chance.randint(4, 14)
        wait(lambda: settled() >= goal, lambda: [member.explain() for member in members])
        relay.kill()
        if kill % 5 == 4:
            victim = members[kill // 5 % 2]
            victim.kill()
            relay.start()
            victim.start()
        else:
            relay.start()
    for member in members:
        wait(lambda: member.unsettled() == 0, member.explain)
    for member in members:
        wait(lambda: has_all(member, relay), member.explain)
        assert member.refused() == []
        check_record(member, relay)
        check_again(member, relay, *rooms)
        assert len(member.said()) > kills
        member.finish()
    # Started again without a relay, it shows the same from its journal.
    folded = {room: relay.history(room, user="ada", fold="true") for room in rooms}
    relay.kill()
    again = members[0].start()
    for room in rooms:
        wait(lambda: [again.shown.get((room, e["seq"])) for e in folded[room]] == folded[room],
             again.explain)
    again.finish()
    return f"{sum(len(member.said()) for member in members)} lines"


# MARK: The outbox


def offline(folder):
    """200 lines that were written offline cost 200 sends, although the relay slows the client down, and
    so do lines that are written faster than they are acknowledged."""
    relay = new_relay(folder, "limits: { sends_per_s: 60, burst: 20 }")
    relay.kill()
    proxy = Proxy(relay)
    ada = client("ada", folder, proxy.url, "general").start()
    for number in range(200):
        ada.say(f"line {number}")
    wait(lambda: len(ada.said()) == 200, ada.explain)
    ada.kill()  # what it has accepted survives
    relay.start()
    ada.start()
    wait(lambda: ada.unsettled() == 0 and has_all(ada, relay), ada.explain)
    check_record(ada, relay)
    assert proxy.count("send") == 200, proxy.count("send")
    for number in range(200, 250):
        ada.say(f"line {number}")
    wait(lambda: ada.unsettled() == 0 and has_all(ada, relay), ada.explain)
    check_record(ada, relay)
    assert proxy.count("send") == 250, proxy.count("send")
    assert proxy.kinds("error") == []
    ada.finish()


def guessed(folder):
    """A member who sends an entry with the id of a line does not settle that line."""
    relay = new_relay(folder, WITHOUT_LIMITS)
    proxy = Proxy(relay)
    held = []
    proxy.intercept = lambda m: held.append(m) or False if m["type"] == "send" else None
    ada = client("ada", folder, proxy.url, "general").start()
    ada.say("mine")
    ada.say("also mine")
    wait(lambda: held, ada.explain)
    id = held[0]["id"]
    random_bits = 4 * sum(character in "0123456789abcdef" for character in id.split("-")[0])
    assert random_bits >= 96, id
    send_as("mallory", relay, *({"room": "general", "id": line["id"], "text": "not hers"}
                                for line in wait(lambda: len(ada.said()) == 2 and ada.said(), "two")))
    wait(lambda: len(ada.entries("general")) == 2, ada.explain)
    assert ada.unsettled() == 2, ada.explain()
    proxy.intercept = lambda message: None
    proxy.close()
    wait(lambda: ada.unsettled() == 0 and has_all(ada, relay), ada.explain)
    check_record(ada, relay)
    texts = [(entry["from"], entry["text"]) for entry in ada.entries("general")]
    assert texts == [("mallory", "not hers")] * 2 + [("ada", "mine"), ("ada", "also mine")], texts
    ada.finish()


def refused(folder):
    """A refusal is permanent unless it says when to retry, and the next line follows it."""
    relay = new_relay(folder, WITHOUT_LIMITS)
    proxy = Proxy(relay)
    times = {"later": 2, "wait": 3}

    def intercept(message):
        if message["type"] != "send" or message.get("text") not in ("new", "later", "wait"):
            return None
        error = {"type": "error", "re": "send", "room": message["room"], "id": message["id"],
                 "ref": message["ref"], "message": "no"}
        if message["text"] == "new":
            return [{**error, "code": "invented_later"}]
        if times[message["text"]] == 0:
            return None
        times[message["text"]] -= 1
        code = "unavailable" if message["text"] == "wait" else "also_invented_later"
        return [{**error, "code": code, "retry_after_ms": 20}]

    proxy.intercept = intercept
    ada = client("ada", folder, proxy.url, "general", "sys:secret").start()
    for text in ("one", "new", "later", "two", "wait", "three"):
        ada.say(text)
    ada.say("of the relay's own", room="sys:secret")
    ada.say("settled by its ack alone", room="elsewhere")
    ada.say("x" * 9000)  # beyond text_bytes
    ada.say("x" * 70_000)  # beyond frame_bytes
    ada.say("four")
    wait(lambda: ada.unsettled() == 0, ada.explain)
    assert len(ada.refused()) == 4, ada.explain()
    texts = [entry["text"] for entry in relay.history("general")]
    assert texts == ["one", "later", "two", "wait", "three", "four"], texts
    assert proxy.count("send") == 11 + 2 + 3, proxy.count("send")
    ada.finish()


# MARK: Rooms and logs


def rooms(folder):
    """256 rooms are joined again after a kill, without an error. Prints how long it took."""
    names = [f"room-{number}" for number in range(255)] + ["__proto__"]
    relay = new_relay(folder)
    proxy = Proxy(relay)
    ada = client("ada", folder, proxy.url, *names).start()
    wait(lambda: len(proxy.kinds("joined")) == 256, ada.explain)
    for name in names[::16]:
        ada.say("hello", room=name)
    wait(lambda: ada.unsettled() == 0, ada.explain)
    relay.kill()
    relay.start()
    wait(lambda: len(proxy.kinds("joined")) == 512, ada.explain)
    assert proxy.kinds("error") == [], proxy.kinds("error")
    assert {m["room"] for _, m in proxy.kinds("joined")[256:]} == set(names)
    assert all(m["resume"] == "ok" for _, m in proxy.kinds("joined"))
    requests = [len(m["rooms"]) for m in proxy.received if m["type"] == "join"]
    assert sum(requests) == 512 and len(requests) == 32, requests
    wait(lambda: all(len(ada.entries(name)) == 1 for name in names[::16]), ada.explain)
    ada.finish()
    return (proxy.kinds("joined")[-1][0] - proxy.kinds("welcome")[-1][0]) * 1000


def resume(folder):
    """Every outcome of resume leaves the client with what the log has."""
    relay = new_relay(folder, WITHOUT_LIMITS)
    ada = client("ada", folder, relay.socket, "general").start()

    def settle():
        wait(lambda: ada.unsettled() == 0, ada.explain)
        wait(lambda: has_all(ada, relay), ada.explain)

    def entries(relay, *texts):
        send_as("bo", relay, *({"room": "general", "id": f"bo-{text}", "text": text} for text in texts))

    ada.say("one")
    settle()
    # The backup is taken while the relay runs: of the epoch that the client knows.
    backup = folder / "backup"
    relay.kill()
    # A killed relay leaves its socket, which Python does not copy.
    shutil.copytree(relay.data, backup, ignore=shutil.ignore_patterns("operator.sock"))
    relay.start()
    wait(lambda: len(ada.resumes("general")) == 2, ada.explain)
    ada.say("two")
    ada.say(kind="edit", target=1, text="one and a half")
    ada.say(kind="react", target=1, emoji="👍", on=True)
    settle()
    check_shown(ada, relay, "general")
    relay.kill()
    shutil.rmtree(relay.data)
    shutil.copytree(backup, relay.data)
    relay.start()
    wait(lambda: ada.resumes("general")[2:], ada.explain)
    diverged = ada.resumes("general")[2]
    assert diverged == "diverged", diverged
    # The edit and the reaction went with the entries that were lost.
    ada.say("three")
    settle()
    check_shown(ada, relay, "general")
    assert [entry["text"] for entry in ada.entries("general")] == ["one", "three"]

    # Another log.
    relay.kill()
    shutil.rmtree(relay.data)
    relay.start()
    wait(lambda: ada.resumes("general")[3:] == ["reset"], ada.explain)
    ada.say("four")
    settle()
    assert [entry["text"] for entry in ada.entries("general")] == ["four"]
    check_again(ada, relay, "general")

    # Entries that it did not get are deleted while it is away.
    ada.kill()
    relay.kill()
    relay.configuration += "\nlog: { keep_entries_per_room: 5 }"
    relay.start()
    entries(relay, *"abcdefghij")
    wait(lambda: relay.get("/v1/rooms/general/messages", user="bo", after=0)["first"] > 2, "truncation")
    ada.start()
    wait(lambda: ada.resumes("general")[-1] == "truncated", ada.explain)
    ada.say("five")
    wait(lambda: ada.unsettled() == 0, ada.explain)
    page = relay.get("/v1/rooms/general/messages", user="bo", after=0)
    wait(lambda: ada.entries("general")[-1]["seq"] == page["head"], ada.explain)
    kept = [entry["seq"] for entry in ada.entries("general")]
    assert kept[0] == 1 and kept[1:] == list(range(kept[1], page["head"] + 1)), kept
    assert "truncated" in "".join(ada.warnings) and "reset" in "".join(ada.warnings)
    ada.finish()
    return diverged


# MARK: Closing


def codes(folder):
    """After 1000, 4403, and 4401 with the same token, the client does not come back; otherwise it does."""
    relay = new_relay(folder, WITHOUT_LIMITS)
    for code in (1000, 4401, 4403):
        proxy = Proxy(relay)
        ada = client("ada", folder, proxy.url, "general").start()
        wait(lambda: proxy.kinds("joined"), ada.explain)
        proxy.close(code)
        assert ada.end() != 0, code
        assert str(code) in "".join(ada.warnings), ada.warnings
        assert len(proxy.connections) == 1
    proxy = Proxy(relay)
    ada = client("ada", folder, proxy.url, "general").start()
    for number, code in enumerate((None, 1001, 1008, 1013, 4999), 1):
        wait(lambda: len(proxy.kinds("joined")) == number, ada.explain)
        proxy.close(code)
    wait(lambda: len(proxy.kinds("joined")) == 6, ada.explain)
    relay.stop()
    relay.start()
    wait(lambda: len(proxy.kinds("joined")) == 7, ada.explain)
    ada.say("still here")
    wait(lambda: ada.unsettled() == 0, ada.explain)
    ada.finish()
    # A client that has not failed yet would come back within 200 ms.
    proxy = Proxy(relay)
    ada = client("ada", folder, proxy.url, "general").start()
    wait(lambda: proxy.kinds("joined"), ada.explain)
    end = time.monotonic()
    proxy.close(1012, saying={"type": "closing", "reason": "a test", "reconnect_after_ms": 1500})
    wait(lambda: len(proxy.kinds("joined")) == 2, ada.explain)
    assert proxy.connections[1] - end >= 1.5, proxy.connections[1] - end
    ada.finish()


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    cases = {case.__name__: case for case in (chaos, chaos30, offline, guessed, refused, rooms, resume, codes)}
    result = cases[CASE](pathlib.Path(folder))
    print("good" if result is None else f"good: {result}")
