"""Two clients in one room, one of which has offered permessage-deflate; usage: URL of the relay."""
import asyncio, json, sys

import websockets
from websockets.extensions.permessage_deflate import PerMessageDeflate

compressed = {}
plain_decode = PerMessageDeflate.decode


def decode(self, frame, **kwargs):
    if frame.rsv1:
        compressed[id(self)] = compressed.get(id(self), 0) + 1
    return plain_decode(self, frame, **kwargs)


PerMessageDeflate.decode = decode


async def until(socket, wanted):
    async for text in socket:
        message = json.loads(text)
        if message["type"] == wanted:
            return message


async def main(url):
    def connect(user, compression):
        return websockets.connect(
            f"{url}?user={user}", subprotocols=["relay.v1"], compression=compression)

    async with connect("ada", "deflate") as ada, connect("bo", None) as bo:
        assert [e.name for e in ada.extensions] == ["permessage-deflate"], ada.extensions
        deflate = ada.extensions[0]
        # Nothing is kept from message to message, so that an idle connection costs nothing.
        assert deflate.remote_no_context_takeover and deflate.local_no_context_takeover
        assert bo.extensions == []
        for socket in (ada, bo):
            await socket.send(json.dumps({"type": "join", "room": "r"}))
            await until(socket, "joined")
        before = compressed.get(id(deflate), 0)
        texts = ["short", "long " * 1000, "ünïcödé " * 500, "x" * 8000]
        for number, text in enumerate(texts):
            await ada.send(json.dumps(
                {"type": "send", "room": "r", "id": str(number), "kind": "text", "text": text}))
        for socket in (ada, bo):
            for text in texts:
                message = await until(socket, "message")
                assert message["text"] == text, message
        assert compressed[id(deflate)] - before == 3, compressed
        # A page of history is one long message.
        await ada.send(json.dumps({"type": "history", "room": "r", "limit": 4}))
        page = await until(ada, "history")
        assert [m["text"] for m in page["entries"]] == texts, page
        assert compressed[id(deflate)] - before == 4, compressed


asyncio.run(main(sys.argv[1]))
print("good")
