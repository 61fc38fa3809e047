"""An echo, by Python's websockets, and a fault of it: the word that follows.

Says the port that it got on standard output.
"""
import asyncio
import sys

import websockets

fault = sys.argv[1] if len(sys.argv) > 1 else ""
count = 0


async def echo(socket, *_):
    global count
    held = None
    async for message in socket:
        count += 1
        turn = count == 100
        if turn and fault == "drop":
            continue
        if turn and fault == "alter":
            message = message[:-1] + "?"
        if turn and fault == "binary":
            message = message.encode()
        if turn and fault == "swap":
            held = message
            continue
        if turn and fault == "close":
            await socket.close()
            return
        await socket.send(message)
        if turn and fault == "double":
            await socket.send(message)
        if turn and fault == "invent":
            await socket.send("something else")
        if held is not None:
            await socket.send(held)
            held = None


async def main():
    async with websockets.serve(echo, "127.0.0.1", 0, compression=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        # Ends with the process that started it.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
