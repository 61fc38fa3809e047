"""Two devices of ada and one of bo, by Python's websockets: what each is told of the others.

devices.py URL before          a conversation, its last state printed as JSON
devices.py URL after STATE     the relay has been killed since: all of it is as it was
"""
import asyncio
import json
import sys

import websockets

ROOM = "dm:ada:bo"


class Device:
    """One connection; what came and was not asked for yet is kept."""

    def __init__(self, socket):
        self.socket = socket
        self.kept = []

    @classmethod
    async def connect(cls, url, user):
        device = cls(await websockets.connect(url + "?user=" + user))
        await device.get("welcome")
        return device

    async def say(self, type, **fields):
        await self.socket.send(json.dumps({"type": type, **fields}))

    async def get(self, type, **fields):
        """The next message that is like this; others wait."""
        def fits(message):
            return message["type"] == type and all(
                message.get(name) == value for name, value in fields.items()
            )

        for message in self.kept:
            if fits(message):
                self.kept.remove(message)
                return message
        while True:
            message = json.loads(await self.socket.recv())
            if fits(message):
                return message
            self.kept.append(message)

    async def is_spared(self, type, **fields):
        """Nothing like this has come, or is on its way."""
        await self.say("ping", t="spared")
        await self.get("pong", t="spared")
        for message in self.kept:
            assert message["type"] != type or any(
                message.get(name) != value for name, value in fields.items()
            ), message

    async def send(self, id, **fields):
        await self.say("send", room=ROOM, id=id, **fields)
        return await self.get("ack", id=id)

    async def row(self):
        await self.say("rooms")
        rows = (await self.get("rooms"))["rooms"]
        return next(row for row in rows if row["room"] == ROOM)

    async def folded(self):
        await self.say("history", room=ROOM, fold=True)
        return (await self.get("history"))["entries"]


async def before(url):
    bo = await Device.connect(url, "bo")
    await bo.say("rooms")
    await bo.get("rooms")
    phone, desk = [await Device.connect(url, "ada") for _ in range(2)]
    for device in (phone, desk):
        await device.say("join", room=ROOM, after=0)
        await device.get("joined", room=ROOM)
        await device.get("presence", user="bo", presence="online")

    # What one device sends the other has too; bo, who is elsewhere, gets a hint.
    await phone.send("1", text="one")
    await desk.get("message", seq=1, text="one")
    hint = await bo.get("activity", room=ROOM)
    assert (hint["head"], hint["unread"], hint["last"]["text"]) == (1, 1, "one"), hint
    row = await bo.row()
    assert (row["unread"], row["peer"], row["presence"]) == (1, "ada", "online"), row

    # Delivered, typed, read.
    await bo.say("join", room=ROOM, after=0)
    await bo.get("message", seq=1)
    await bo.say("received", room=ROOM, seq=1)
    for device in (phone, desk):
        await device.get("receipt", user="bo", received=1, read=0)
    await bo.say("typing", room=ROOM, on=True)
    for device in (phone, desk):
        await device.get("typing", user="bo", on=True)
    await phone.say("typing", room=ROOM, on=True)
    await bo.get("typing", user="ada", on=True)
    await desk.is_spared("typing", user="ada")
    await bo.say("read", room=ROOM, seq=1)
    for device in (phone, desk):
        await device.get("receipt", user="bo", received=1, read=1)

    # A mark is the user's, whichever device sets it, and never goes back.
    await bo.send("2", text="tow")
    await bo.send("3", kind="edit", target=2, text="two")
    await phone.get("message", seq=3, kind="edit", target=2, text="two")
    assert (await desk.row())["unread"] == 1
    await phone.say("read", room=ROOM, seq=3)
    await desk.get("receipt", user="ada", read=3, received=3)
    await bo.get("receipt", user="ada", read=3)
    await desk.say("read", room=ROOM, seq=1)
    assert (await desk.row())["unread"] == 0
    await desk.send("4", kind="react", target=2, emoji="\U0001f44d", on=True)
    assert (await bo.row())["unread"] == 0, "a reaction is nothing to be read"
    await bo.send("5", text="for later")

    # Away when both are, gone a while after the last is.
    await phone.say("presence", presence="away")
    await bo.is_spared("presence", presence="away")
    await desk.say("presence", presence="away")
    await bo.get("presence", user="ada", presence="away")
    await phone.socket.close()
    await desk.socket.close()
    gone = await bo.get("presence", user="ada", presence="offline")
    return {"last_seen": gone["last_seen"], "folded": await bo.folded()}


async def after(url, state):
    ada = await Device.connect(url, "ada")
    row = await ada.row()
    assert (row["head"], row["read"], row["unread"]) == (5, 4, 1), row
    assert row["presence"] == "offline" and row["peer"] == "bo", row
    assert row["last_seen"] >= state["last_seen"] - 60_000, row
    assert await ada.folded() == state["folded"]
    texts = [(entry["text"], entry.get("reactions")) for entry in state["folded"]]
    assert texts == [("one", None), ("two", {"\U0001f44d": ["ada"]}), ("for later", None)], texts
    await ada.say("join", room=ROOM)
    joined = await ada.get("joined")
    marks = {member["user"]: (member["received"], member["read"]) for member in joined["members"]}
    # Between his mark and his last entry is hers.
    assert marks == {"ada": (4, 4), "bo": (3, 3)}, marks
    await ada.socket.close()

    # Now she is gone again, and that is what is known of her.
    bo = await Device.connect(url, "bo")
    row = await bo.row()
    if row["presence"] == "online":
        row = await bo.get("presence", user="ada", presence="offline")
    assert row["last_seen"] > state["last_seen"], row


async def main(url, part, *state):
    if part == "before":
        print(json.dumps(await before(url)))
    else:
        await after(url, json.loads(state[0]))
        print("good")


asyncio.run(asyncio.wait_for(main(*sys.argv[1:]), 120))
