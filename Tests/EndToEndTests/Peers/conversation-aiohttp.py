"""A chat with the bot echo, by aiohttp: ends with status 0 if all went as it should."""
import asyncio
import json
import sys

import aiohttp


async def chat(url):
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(
            url + "?user=ada", protocols=["relay.v1"], compress=15, autoping=False
        ) as socket:
            await converse(socket)
        assert socket.close_code == 1000, socket.close_code


async def converse(socket):
    assert socket.protocol == "relay.v1", socket.protocol
    seen = []
    pongs = []

    async def until(matches):
        while True:
            frame = await socket.receive()
            if frame.type == aiohttp.WSMsgType.PONG:
                pongs.append(bytes(frame.data))
                message = {"type": "(pong)"}
            else:
                assert frame.type == aiohttp.WSMsgType.TEXT, frame
                message = json.loads(frame.data)
                seen.append(message)
            if matches(message):
                return message

    async def say(**message):
        await socket.send_json(message)

    welcome = await until(lambda m: True)
    assert welcome["type"] == "welcome" and welcome["user"] == "ada", welcome

    await say(type="join", room="dm:ada:echo", after=0)
    joined = await until(lambda m: m["type"] == "joined")
    assert joined["head"] == 0 and joined["resume"] == "ok", joined

    # Longer than what a frame's first length field holds, and worth being compressed.
    text = "hello, wörld \U0001f44b " + "and again " * 40
    await say(type="send", room="dm:ada:echo", id="a1", text=text)
    await until(lambda m: m["type"] == "message" and m["from"] == "echo")
    entries = [(m["seq"], m["from"], m["text"]) for m in seen if m["type"] == "message"]
    assert entries == [(1, "ada", text), (2, "echo", text)], entries
    acks = [(m["id"], m["seq"]) for m in seen if m["type"] == "ack"]
    assert acks == [("a1", 1)], acks

    await socket.ping(b"there?")
    await until(lambda m: m["type"] == "(pong)")
    assert pongs == [b"there?"], pongs

    await say(type="history", room="dm:ada:echo", after=0)
    page = await until(lambda m: m["type"] == "history")
    assert [entry["seq"] for entry in page["entries"]] == [1, 2], page


asyncio.run(asyncio.wait_for(chat(sys.argv[1]), 120))
print("good")
