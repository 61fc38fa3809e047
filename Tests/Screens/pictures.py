#!/usr/bin/python3
"""Takes the pictures of wschat that the README shows: a relay, people and bots, and the command
itself in a terminal."""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from contextlib import AsyncExitStack, contextmanager

import websockets

from render import render, save

sys.path.append(os.path.join(os.path.dirname(__file__), "../EndToEndTests/Peers"))
from relay import Relay  # noqa: E402
from terminal import Terminal  # noqa: E402

# The name of each picture, its size and theme, further settings, and what is pressed and typed at the end.
SCENES = [
    *((f"{columns}x{rows}-{theme}", columns, rows, theme, "", None, "On Thursday ")
      for columns, rows in [(80, 24), (160, 48)] for theme in ["dark", "light"]),
    ("80x24-irc", 80, 24, "dark", "messages: irc\nlist: compact\nclock: 12h\n", None, "On Thursday "),
    ("80x24-search", 80, 24, "dark", "", "C-r", "thursday"),
]

CONFIGURATION = """
limits: {{ sends_per_s: 0, bytes_per_s: 0, burst: 0, requests_per_s: 0 }}
rooms: {{ listed: [{{ room: general, title: General }}, {{ room: launch, title: Launch }}] }}
directory: {{ kind: local, file: {folder}/people.yaml }}
bots:
  - {{ user: echo, name: Echo, behaviour: echo }}
  - {{ user: guide, name: The guide, behaviour: script, script: [Hello! I am a script., Ask me.] }}
"""

PEOPLE = {
    "ada": "Ada Lovelace", "mina": "Mina Okafor", "jules": "Jules Martin", "hanako": "山田 花子",
    "tomas": "Tomás Řezníček", "priya": "Priya Raman", "olek": "Oleksandr",
}


@contextmanager
def relay_with_people(built):
    """A relay in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/people.yaml", "w") as file:
            json.dump([{"user": user, "name": name} for user, name in PEOPLE.items()], file)
        relay = Relay(f"{built}/relay", folder, CONFIGURATION.format(folder=folder))
        try:
            yield relay
        finally:
            relay.stop()


class Person:
    """A user on another machine, who reads all messages."""

    def __init__(self, user, connection):
        self.user, self.connection = user, connection
        self.acks, self.count = {}, 0
        self.reading = asyncio.ensure_future(self.read())

    async def read(self):
        async for text in self.connection:
            message = json.loads(text)
            if message["type"] == "ack":
                self.acks.setdefault(message["id"], asyncio.Future()).set_result(message["seq"])
            elif message["type"] == "error":
                sys.exit(f"pictures.py: {message}")
            elif message["type"] == "message" and message["from"] != self.user:
                await self.tell("read", room=message["room"], seq=message["seq"])

    async def tell(self, type, **fields):
        await self.connection.send(json.dumps({"type": type, **fields}))

    async def say(self, room, text=None, **fields):
        """Sends an entry, and returns its number once it is stored."""
        self.count += 1
        name = f"{self.user}-{self.count}"
        if text is not None:
            fields["text"] = text
        self.acks[name] = asyncio.Future()
        await self.tell("send", room=room, id=name, **fields)
        return await self.acks[name]


async def wait(terminal, *texts):
    """Waits for texts on the screen; meanwhile people read what comes."""
    end = time.monotonic() + 20
    while not terminal.shows(*texts):
        if time.monotonic() > end:
            sys.exit(f"pictures.py: no {texts} on the screen:\n{terminal.screen()}")
        await asyncio.sleep(0.05)


def picture(terminal, theme):
    text, cursor = terminal.cells()
    return render(text, terminal.columns, terminal.rows, theme, cursor)


async def talk(people):
    """The messages sent before the pictures are taken."""
    ada, mina, jules = people["ada"], people["mina"], people["jules"]
    hanako, tomas, priya, olek = (people[user] for user in ("hanako", "tomas", "priya", "olek"))
    await olek.say("dm:ada:olek", "Дякую! Побачимось у четвер.")
    await mina.say("dm:ada:mina", "I have booked the small room.")
    await ada.say("dm:ada:mina", "You are quick.")
    await ada.say("dm:ada:tomas", "Could you proofread it once more?")
    await tomas.say("general", "Lunch at one? The new place by the river.")
    await hanako.say("dm:ada:hanako", "資料を送りました。ご確認ください 🙏")
    await ada.say("dm:ada:hanako", "Thank you, I will read them tonight.")
    await jules.say("dm:ada:jules", "Merci ! À demain.")
    await priya.say("dm:ada:priya", "The figures are in the sheet now.")
    await priya.say("dm:ada:priya", "Could you have a look before four?")

    await mina.say("launch", "Good morning! Who has seen the numbers of the night?")
    numbers = await jules.say(
        "launch", "I have. 18,000 clients on one machine, p99 of the acks at 9 ms, and not one"
        " message lost in twenty kills.")
    for person in (ada, mina, hanako, tomas):
        await person.say("launch", kind="react", target=numbers, emoji="🎉", on=True)
    await priya.say("launch", kind="react", target=numbers, emoji="👍", on=True)
    await ada.say("launch", "Then nothing is in the way. Shall we say Thursday?", reply_to=numbers)
    await hanako.say("launch", "木曜日で大丈夫です 👍")
    await olek.say("launch", "Thursday is good. What is left to do:\n- the page\n- the announcement\n"
                   "- cake")
    note = await tomas.say("launch", "I write the announcment today.")
    await tomas.say("launch", kind="edit", target=note, text="I write the announcement today.")
    mistake = await priya.say("launch", "The page is on the wrong host.")
    await priya.say("launch", kind="delete", target=mistake)
    await priya.say("launch", "The page is up, and the form works.")
    await mina.say("launch", "Please put the link in: https://relay.example.org/launch")
    await ada.say("launch", "Gladly. I also want a line about the people who leave their terminal"
                  " open all day 🙂")


@contextmanager
def wschat(built, relay, room, columns, rows, theme, settings=""):
    """A terminal with wschat as Ada uses it."""
    home = tempfile.mkdtemp(dir=relay.folder)
    os.makedirs(f"{home}/config/wschat")
    with open(f"{home}/config/wschat/config.yaml", "w") as file:
        file.write(f"theme: {theme}\n{settings}")
    terminal = Terminal(
        home, columns, rows,
        [f"{built}/wschat", relay.socket, "--user", "ada", "--room", room],
        {"HOME": home, "XDG_CONFIG_HOME": f"{home}/config", "XDG_STATE_HOME": f"{home}/state",
         "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8"})
    try:
        yield terminal
    finally:
        terminal.close()


async def scene(built, relay, people, columns, rows, theme, settings, key, text):
    with wschat(built, relay, "launch", columns, rows, theme, settings) as terminal:
        await wait(terminal, "Launch", "Gladly")
        await people["jules"].tell("typing", room="launch", on=True)
        await people["olek"].tell("typing", room="dm:ada:olek", on=True)
        if key:
            await wait(terminal, "typing", " ms")
            terminal.press(key)
        terminal.type(text)
        await wait(terminal, text.strip(), " ms", "Thursday" if key else "typing")
        return picture(terminal, theme)


async def members(built, relay):
    """The members of a room that Ada makes, with its commands."""
    with wschat(built, relay, "launch", 80, 24, "dark") as terminal:
        await wait(terminal, "Launch", "Gladly")
        for command, effect in [
            ("/create Harbour choir", "named the room"), ("/topic Thursdays at seven", "set the topic"),
            *((f"/invite {user}", PEOPLE[user].split()[-1] + " a member") for user in ("mina", "hanako", "jules", "olek")),
            ("/op mina", "a moderator"), ("/mute olek 2h noise", "noise"),
        ]:
            terminal.type(command)
            terminal.press("Enter")
            await wait(terminal, effect)
        terminal.press("M-n", "Down")
        await wait(terminal, "owner", "close", "mute")
        return picture(terminal, "dark")


async def take(built, pictures):
    with relay_with_people(built) as relay:
        async with AsyncExitStack() as stack:
            people = {}
            for user in PEOPLE:
                connection = await stack.enter_async_context(
                    websockets.connect(f"{relay.socket}?user={user}"))
                people[user] = Person(user, connection)
                for room in ("general", "launch", f"dm:ada:{user}"):
                    if room != "dm:ada:ada":
                        await people[user].tell("join", room=room, after=0)
            await talk(people)
            people["ada"].reading.cancel()
            await people["ada"].connection.close()
            taken = {name: lambda about=about: scene(built, relay, people, *about) for name, *about in SCENES}
            # Last: the others do not show the room.
            taken["80x24-members"] = lambda: members(built, relay)
            for name, taking in taken.items():
                path = f"{pictures}/{name}.png"
                save(await taking(), path)
                print(f"{path}: {os.path.getsize(path)} bytes")


def main():
    parser = argparse.ArgumentParser(description="Take the pictures of wschat.")
    parser.add_argument("built", help="the folder of relay and wschat")
    parser.add_argument("pictures", help="the folder that the pictures are written to")
    options = parser.parse_args()
    asyncio.run(take(os.path.abspath(options.built), options.pictures))


if __name__ == "__main__":
    main()
