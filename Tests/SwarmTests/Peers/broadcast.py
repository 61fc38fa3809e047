"""A message sent at a path is returned to all clients connected at that path.

Says the port that it got on standard output.
"""
import asyncio
import sys

import websockets

rooms = {}


async def member(socket, *_):
    # Before version 13 and since.
    path = socket.path if hasattr(socket, "path") else socket.request.path
    room = rooms.setdefault(path, set())
    room.add(socket)
    try:
        async for message in socket:
            for other in list(room):
                await other.send(message)
    finally:
        room.discard(socket)


async def main():
    async with websockets.serve(member, "127.0.0.1", 0, compression=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        # Ends with the process that started it.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
