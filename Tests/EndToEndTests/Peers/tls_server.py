"""As much of a relay as wschat needs, by Python's websockets with TLS: tls_server.py CERTIFICATE KEY [1.2].

The first connection that is let in is closed at once; prints of each whether its session was resumed."""
import asyncio
import json
import ssl
import sys

import websockets

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
if sys.argv[3:] == ["1.2"]:
    context.maximum_version = ssl.TLSVersion.TLSv1_2
connections = 0


async def serve(ws):
    global connections
    connections += 1
    print("resumed", ws.transport.get_extra_info("ssl_object").session_reused, flush=True)

    async def say(**message):
        await ws.send(json.dumps(message))

    await say(
        type="welcome", protocol="relay.v1", user="ada", session="s", server="test/1",
        time=1, heartbeat_s=25, limits={
            "frame_bytes": 65536, "text_bytes": 8192, "rooms": 9, "sends_per_s": 0, "burst": 0})
    if connections == 1:
        await ws.close(1012)
        return
    async for text in ws:
        message = json.loads(text)
        if message["type"] == "join":
            await say(
                type="joined", room=message["room"], epoch="e", head=0, first=1, after=0,
                resume="ok", read=0, received=0, members=[])
        elif message["type"] == "send":
            await say(type="ack", room=message["room"], id=message["id"], seq=1, at=1)


async def main():
    async with websockets.serve(
        serve, "127.0.0.1", 0, ssl=context, subprotocols=["relay.v1"]
    ) as server:
        print("port", server.sockets[0].getsockname()[1], flush=True)
        await asyncio.Future()


asyncio.run(main())
