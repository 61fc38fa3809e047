"""load.py URL ROOMS SENDS WINDOW [ACCESS MEMBERS]: SENDS direct messages in each of ROOMS rooms of two users; or as many
messages in rooms whose access is open or private, to MEMBERS other members."""
import asyncio, json, sys
import websockets

URL, (ROOMS, SENDS, WINDOW) = sys.argv[1], map(int, sys.argv[2:5])
ACCESS, MEMBERS = (sys.argv[5], int(sys.argv[6])) if len(sys.argv) > 5 else ("direct", 1)
TEXT = "x" * 128


async def connect(user, room):
    socket = await websockets.connect(
        f"{URL}?user={user}", compression=None, subprotocols=["relay.v1"], ping_interval=None)
    await socket.send(json.dumps({"type": "join", "room": room}))
    while json.loads(await socket.recv())["type"] != "joined":
        pass
    return socket


async def make(owner, room, members):
    socket = await websockets.connect(
        f"{URL}?user={owner}", compression=None, subprotocols=["relay.v1"], ping_interval=None)
    entries = [{"kind": "settings", "access": "private"}]
    entries += [{"kind": "member", "user": user, "role": "member"} for user in members]
    for index, entry in enumerate(entries):
        await socket.send(json.dumps({"type": "send", "room": room, "id": f"m{index}"} | entry))
        answer = ""
        while '"ack"' not in answer:
            answer = await socket.recv()
            if '"error"' in answer:
                sys.exit(f"this relay has no private rooms: {answer}")
    await socket.close()


async def talk(number):
    room = f"dm:a{number}:b{number}" if ACCESS == "direct" else f"room{number}"
    members = [f"b{number}"] + [f"c{number}.{member}" for member in range(1, MEMBERS)]
    if ACCESS == "private":
        await make(f"a{number}", room, members)
    sender, *receivers = [await connect(user, room) for user in [f"a{number}"] + members]

    async def receive(receiver):
        for _ in range(SENDS):
            while TEXT not in await receiver.recv():
                pass

    receiving = [asyncio.ensure_future(receive(receiver)) for receiver in receivers]
    free = asyncio.Semaphore(WINDOW)

    async def take_acks():
        for _ in range(SENDS):
            while '"ack"' not in await sender.recv():
                pass
            free.release()

    acks = asyncio.ensure_future(take_acks())
    for index in range(SENDS):
        await free.acquire()
        await sender.send(
            '{"type":"send","room":"%s","id":"%d-%d","text":"%s"}' % (room, number, index, TEXT))
    await asyncio.gather(acks, *receiving)
    await asyncio.gather(*(socket.close() for socket in [sender] + receivers))


async def main():
    await asyncio.gather(*(talk(number) for number in range(ROOMS)))


asyncio.run(main())
