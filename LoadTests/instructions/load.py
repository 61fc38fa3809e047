"""load.py URL ROOMS SENDS WINDOW: SENDS direct messages in each of ROOMS rooms of two users."""
import asyncio, json, sys
import websockets

URL, (ROOMS, SENDS, WINDOW) = sys.argv[1], map(int, sys.argv[2:])


async def connect(user, room):
    socket = await websockets.connect(
        f"{URL}?user={user}", compression=None, subprotocols=["relay.v1"], ping_interval=None)
    await socket.send(json.dumps({"type": "join", "room": room}))
    while json.loads(await socket.recv())["type"] != "joined":
        pass
    return socket


async def talk(number):
    room = f"dm:a{number}:b{number}"
    sender, receiver = [await connect(f"{side}{number}", room) for side in "ab"]

    async def receive():
        for _ in range(SENDS):
            while '"message"' not in await receiver.recv():
                pass

    receiving = asyncio.ensure_future(receive())
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
            '{"type":"send","room":"%s","id":"%d-%d","text":"%s"}' % (room, number, index, "x" * 128))
    await asyncio.gather(acks, receiving)
    await asyncio.gather(sender.close(), receiver.close())


async def main():
    await asyncio.gather(*(talk(number) for number in range(ROOMS)))


asyncio.run(main())
