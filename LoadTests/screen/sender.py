#!/usr/bin/python3
"""Sends messages to a room: at a rate for some time, or a number of them as fast as they are
acknowledged. A separate process, so that it does not disturb a measurement."""

import asyncio
import json
import sys
import time
import uuid

import websockets

# The maximum number of unacknowledged messages.
WINDOW = 500


async def main(url, room, count, per_second, text=""):
    prefix = uuid.uuid4().hex
    async with websockets.connect(url, max_queue=None) as connection:
        acknowledged = 0
        room_for_more = asyncio.Semaphore(WINDOW)

        async def read():
            nonlocal acknowledged
            async for text in connection:
                message = json.loads(text)
                if message["type"] == "ack":
                    acknowledged += 1
                    room_for_more.release()
                    if acknowledged == count:
                        return
                elif message["type"] == "error":
                    sys.exit(f"sender.py: {message}")

        reading = asyncio.ensure_future(read())
        began = time.monotonic()
        for number in range(1, count + 1):
            if per_second:
                wait = began + number / per_second - time.monotonic()
                if wait > 0:
                    await asyncio.sleep(wait)
            await room_for_more.acquire()
            await connection.send(json.dumps({
                "type": "send", "room": room, "id": f"{prefix}-{number}",
                "text": text
                or f"message {number} of {count}, which is about as long as such messages are"}))
        await reading
        print(f"{count / (time.monotonic() - began):.0f}")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), *sys.argv[5:]))
