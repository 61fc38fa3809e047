"""Three texts by aiohttp, which sends no fragments: texts-aiohttp.py URL CA|- deflate|none. Prints
what was agreed."""
import asyncio
import ssl
import sys

import aiohttp
from aiohttp.http_websocket import WebSocketReader

from texts import TEXTS

# Of each text message that has come, whether it was compressed.
arrived = []
plain_parse = WebSocketReader.parse_frame


def parse(self, data):
    frames = plain_parse(self, data)
    arrived.extend(compressed for _, opcode, _, compressed in frames if opcode == 1)
    return frames


WebSocketReader.parse_frame = parse


async def chat(url, authority, compression):
    tls = False if authority == "-" else ssl.create_default_context(cafile=authority)
    compressed, entries, received = 0, [], 0
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(
            url + "?user=ada", ssl=tls, protocols=["relay.v1"],
            compress=15 if compression == "deflate" else 0
        ) as socket:
            agreed = socket.get_extra_info("ssl_object")
            await socket.send_json({"type": "join", "room": "r", "after": 0})
            joined = False
            while not joined:
                joined = (await socket.receive_json())["type"] == "joined"
                received += 1
            for number, text in enumerate(TEXTS):
                await socket.send_json(
                    {"type": "send", "room": "r", "id": str(number), "text": text})
            while len(entries) < len(TEXTS):
                message = await socket.receive_json()
                if message["type"] == "message":
                    entries.append(message["text"])
                    compressed += bool(arrived[received])
                received += 1
            assert entries == TEXTS
            extensions = "permessage-deflate" if socket.compress else "nothing"
        print(
            f"{agreed.version() if agreed else 'without TLS'}, {extensions}, {compressed} compressed,"
            f" closed with {socket.close_code}")


asyncio.run(asyncio.wait_for(chat(*sys.argv[1:]), 120))
