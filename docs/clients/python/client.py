"""A client of relay.v1 that loses no message and sends none twice, even if it is killed."""
import asyncio, contextlib, json, os, random, secrets, time
import websockets


class Room:
    def __init__(self):
        self.log, self.shown = [], {}  # the entries as they came; texts and data by seq, folded
        self.last, self.place = 0, {}  # the last seq, and the epoch or lineage that it belongs to
        self.own = 0  # the last seq that an ack named

    def fold(self, entry):
        """Takes an entry. Returns what to show: the entry, or the one that it changes."""
        self.log.append(entry)
        kind, shown = entry["kind"], self.shown.get(entry.get("target"))
        if kind in ("text", "data"):
            shown = self.shown[entry["seq"]] = dict(entry)
        elif shown and kind == "edit":
            shown.update(text=entry["text"], edited_at=entry["at"])
        elif shown and kind == "react":
            reactions, user, on = shown.pop("reactions", {}), entry["from"], entry["on"]
            users = [other for other in reactions.pop(entry["emoji"], []) if on or other != user]
            users += [user] if on and user not in users else []
            reactions.update({entry["emoji"]: users} if users else {})
            shown.update({"reactions": reactions} if reactions else {})
        elif shown and kind == "delete":
            for field in ("reply_to", "forward", "edited_at", "reactions"):
                shown.pop(field, None)
            shown.update({"data": None} if "data" in shown else {"text": ""}, deleted=True)
        else:
            return None  # another kind, or its target is not kept
        return shown

    def rewind(self, after):
        """Drops the entries after `after`, and what they changed."""
        kept, self.log, self.shown, self.own = self.log, [], {}, 0
        for entry in kept:
            if entry["seq"] <= after:
                self.fold(entry)


class Client:
    """`show` gets each entry that is new or has changed, `warn` what a person should know.
    `token` returns a token, or None for an open relay. A journal serves one process at a time."""

    def __init__(self, url, journal, rooms, show, warn, token=lambda: None):
        self.url, self.show, self.warn, self.token = url, show, warn, token
        self.rooms, self.wanted = {name: Room() for name in rooms}, list(rooms)
        self.outbox = {}  # sends by id, in order, until acknowledged or refused
        self.user = self.session = self.socket = self.wait = None
        self.prefix, self.count = secrets.token_hex(12), 0
        self.journal, end = open(journal, "ab+"), 0
        self.journal.seek(0)
        for line in self.journal:
            try:
                self.apply(json.loads(line[: line.rindex(b"\n")]))
            except ValueError:
                break  # torn when the client was killed: neither sent nor shown yet
            end += len(line)
        self.journal.truncate(end)

    def apply(self, line):
        """Changes the state by a line of the journal: the state is what all lines make of it."""
        if line["type"] == "welcome":
            self.user = line["user"]
            return None
        room = self.rooms.setdefault(line["room"], Room())
        if line["type"] == "send":
            self.outbox[line["id"]] = line
        elif line["type"] == "joined":
            if line["resume"] not in ("ok", "truncated"):
                room.rewind(line["after"] if line["resume"] == "diverged" else 0)
            field = "lineage" if line.get("lineage") else "epoch"
            room.last, room.place = line["after"], {field: line[field]}
        elif line["type"] == "message":
            room.last = line["seq"]
            if line["from"] == self.user:  # its id alone proves nothing: other users may use it
                self.outbox.pop(line["id"], None)
            return room.fold(line)
        else:  # ack, error
            room.own = max(room.own, line.get("seq", 0))
            self.outbox.pop(line["id"], None)

    def store(self, line):
        """Appends a line to the journal, then applies it. A send is synced before it is sent."""
        self.journal.write(json.dumps(line).encode() + b"\n")
        self.journal.flush()
        if line["type"] == "send":
            os.fsync(self.journal.fileno())
        return self.apply(line)

    async def say(self, room, **fields):
        """Sends a message, now or once there is a connection: `say("general", text="hi")`."""
        self.count += 1
        self.store({"type": "send", "room": room, "id": f"{self.prefix}-{self.count}", **fields})
        if len(self.outbox) == 1:
            await self.flush()

    async def flush(self):
        """Sends the first line of the outbox. One at a time: so a refusal does not reorder them."""
        if self.session and self.outbox:
            line = next(iter(self.outbox.values()))
            await self.send({**line, "ref": line["id"]})

    async def join(self, names):
        for some in (names[i : i + 16] for i in range(0, len(names), 16)):  # within frame_bytes
            rooms = [{"room": n, "after": self.rooms[n].last, **self.rooms[n].place} for n in some]
            await self.send({"type": "join", "rooms": rooms})

    async def send(self, message):
        with contextlib.suppress(websockets.ConnectionClosed):  # the outbox has it
            await self.socket.send(json.dumps(message))

    async def receive(self, m):
        first = next(iter(self.outbox), None)
        if m["type"] == "welcome" and m["session"] != self.session:
            if self.user not in (None, m["user"]):
                raise ValueError(f"the journal belongs to {self.user}, not to {m['user']}")
            self.store({"type": "welcome", "user": m["user"]})
            await self.join(self.wanted)
            self.session, first = m["session"], ""
        elif m["type"] == "joined":
            self.store({field: m[field] for field in m if field != "members"})
            if m["resume"] != "ok":  # what was dropped may have changed what was kept
                self.warn(f"{m['room']}: {m['resume']}, continues after entry {m['after']}")
                for entry in self.rooms[m["room"]].shown.values():
                    self.show(entry)
        elif m["type"] == "ack":
            self.store(m)
        elif m["type"] == "message" and m["seq"] == self.rooms[m["room"]].last + 1:
            if shown := self.store(m):
                self.show(shown)
        elif m["type"] == "error":
            asyncio.create_task(self.fail(m, self.session))
        elif m["type"] == "closing":
            self.wait = m["reconnect_after_ms"] / 1000
        if first is not None and first not in self.outbox:
            await self.flush()

    async def fail(self, m, session):
        line, join = self.outbox.get(m.get("ref")), m.get("re") == "join" and m.get("room")
        if "retry_after_ms" in m and (line or join):
            await asyncio.sleep(m["retry_after_ms"] / 1000)
            if session == self.session:
                await (self.flush() if line else self.join([join]))
        elif line:  # permanent, as is every code that this client does not know
            await self.refuse(line, m["message"])
        elif m["code"] != "superseded":
            self.warn(m["message"])
            self.wanted = [name for name in self.wanted if name != join]

    async def refuse(self, line, reason):
        self.warn(f"not sent to {line['room']}: {reason}")
        self.store({"type": "error", "room": line["room"], "id": line["id"], "message": reason})
        await self.flush()

    async def run(self):
        """Connects, and connects again, until the relay forbids it. Returns the close code."""
        failures = 0
        while True:
            start, token, self.wait, self.socket = time.monotonic(), self.token(), None, None
            with contextlib.suppress(OSError, asyncio.TimeoutError, websockets.WebSocketException):
                connection = websockets.connect(self.url, subprotocols=["relay.v1"], max_size=2**20)
                async with connection as self.socket:
                    if token:
                        await self.send({"type": "auth", "token": token})
                    async for text in self.socket:
                        await self.receive(json.loads(text))
            code, self.session = self.socket and self.socket.close_code, None
            if code in (1000, 4403) or code == 4401 and self.token() == token:
                return code
            if code == 1009 and self.outbox:
                await self.refuse(next(iter(self.outbox.values())), "it is too large")
            limit = min(10, 0.2 * 2**failures)
            failures = min(failures + 1, 6) if time.monotonic() - start < limit else 0
            await asyncio.sleep(random.uniform(0, limit) if self.wait is None else self.wait)
