"""Three texts by Python's websockets: texts-websockets.py URL CA|- deflate|none. Prints what was agreed."""
import asyncio
import json
import ssl
import sys

import websockets
from websockets.extensions.permessage_deflate import PerMessageDeflate

from texts import TEXTS

# Of each text message that has come, whether it was compressed.
arrived = []
plain_decode = PerMessageDeflate.decode


def decode(self, frame, **options):
    if frame.opcode == 1:
        arrived.append(frame.rsv1)
    return plain_decode(self, frame, **options)


PerMessageDeflate.decode = decode


async def chat(url, authority, compression):
    tls = None if authority == "-" else ssl.create_default_context(cafile=authority)
    compressed, entries, received = 0, [], 0
    async with websockets.connect(
        url + "?user=ada", ssl=tls, subprotocols=["relay.v1"], max_size=None,
        compression=None if compression == "none" else compression
    ) as socket:
        agreed = socket.transport.get_extra_info("ssl_object")
        await socket.send(json.dumps({"type": "join", "room": "r", "after": 0}))
        joined = False
        while not joined:
            joined = json.loads(await socket.recv())["type"] == "joined"
            received += 1
        for number, text in enumerate(TEXTS):
            send = json.dumps({"type": "send", "room": "r", "id": str(number), "text": text})
            # In three frames.
            await socket.send([send[:7], send[7:50], send[50:]])
        while len(entries) < len(TEXTS):
            message = json.loads(await socket.recv())
            if message["type"] == "message":
                entries.append(message["text"])
                compressed += bool(arrived and arrived[received])
            received += 1
        assert entries == TEXTS
        extensions = ", ".join(extension.name for extension in socket.extensions) or "nothing"
    print(
        f"{agreed.version() if agreed else 'without TLS'}, {extensions}, {compressed} compressed,"
        f" closed with {socket.close_code}")


asyncio.run(asyncio.wait_for(chat(*sys.argv[1:]), 120))
