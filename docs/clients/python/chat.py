"""chat.py URL JOURNAL ROOM...: such as
chat.py 'ws://127.0.0.1:8080/ws?user=ada' ada.journal general

A line of the input goes to the first room; one that begins with `{` has the fields of a `send`.
Every text is printed as JSON, and again when it is edited, deleted or reacted to. After the last
line the program waits until all are acknowledged and shown. TOKEN_FILE may name a file that
contains a token.
"""
import asyncio, json, os, sys, threading
from client import Client


def show(entry):
    print(json.dumps(entry), flush=True)


def warn(text):
    print(f"-- {text}", file=sys.stderr, flush=True)


def token():
    if path := os.environ.get("TOKEN_FILE"):
        with open(path) as file:
            return file.read().strip()


async def send(client, room, lines):
    while (line := await lines.get()) is not None:
        fields = json.loads(line) if line.startswith("{") else {"text": line}
        await client.say(**{"room": room, **fields})
    while client.outbox or any(client.rooms[n].own > client.rooms[n].last for n in client.wanted):
        await asyncio.sleep(0.05)


async def main(url, journal, *rooms):
    client = Client(url, journal, rooms, show, warn, token)
    for room in client.rooms.values():
        for entry in room.shown.values():
            show(entry)

    loop, lines = asyncio.get_running_loop(), asyncio.Queue()

    def read():
        for line in sys.stdin:
            if line.strip():
                loop.call_soon_threadsafe(lines.put_nowait, line.rstrip("\n"))
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    run = asyncio.create_task(client.run())
    sent = asyncio.create_task(send(client, rooms[0], lines))
    done, _ = await asyncio.wait([run, sent], return_when=asyncio.FIRST_COMPLETED)
    error = done.pop().exception() or run.done() and f"closed with {run.result()}"
    if error:
        warn(error)
    elif client.socket:
        await client.socket.close()
    os._exit(1 if error else 0)  # the thread may still be waiting for input


asyncio.run(main(*sys.argv[1:]))
