"""A chat with the bot echo, by Python's websockets: ends with status 0 if all went as it should."""
import asyncio
import json
import sys

import websockets


async def chat(url):
    async with websockets.connect(url + "?user=ada", subprotocols=["relay.v1"]) as socket:
        assert socket.subprotocol == "relay.v1", socket.subprotocol
        seen = []

        async def until(matches):
            while True:
                message = json.loads(await socket.recv())
                seen.append(message)
                if matches(message):
                    return message

        async def say(**message):
            await socket.send(json.dumps(message))

        welcome = await until(lambda m: True)
        assert welcome["type"] == "welcome" and welcome["protocol"] == "relay.v1", welcome
        assert welcome["user"] == "ada", welcome

        await say(type="join", room="dm:ada:echo", after=0)
        joined = await until(lambda m: m["type"] == "joined")
        assert joined["head"] == 0 and joined["resume"] == "ok", joined

        text = "hello, wörld \U0001f44b"
        await say(type="send", room="dm:ada:echo", id="p1", text=text)
        await until(lambda m: m["type"] == "message" and m["from"] == "echo")
        entries = [m for m in seen if m["type"] == "message"]
        assert [(m["seq"], m["from"], m["text"]) for m in entries] == [
            (1, "ada", text),
            (2, "echo", text),
        ], entries
        acks = [m for m in seen if m["type"] == "ack"]
        assert len(acks) == 1 and acks[0]["id"] == "p1" and acks[0]["seq"] == 1, acks
        assert any(m["type"] == "typing" and m["user"] == "echo" and m["on"] for m in seen), seen

        await say(type="send", room="dm:ada:echo", id="p1", text=text)
        again = await until(lambda m: m["type"] == "ack")
        assert again["seq"] == 1 and again["duplicate"] is True, again
        await say(type="send", room="dm:ada:echo", id="p1", text="again")
        other = await until(lambda m: m["type"] == "error")
        assert (other["code"], other["id"], other["seq"]) == ("id_conflict", "p1", 1), other

        # In two frames, with a ping between them.
        async def halves():
            request = json.dumps({"type": "history", "room": "dm:ada:echo", "after": 0})
            yield request[:10]
            await (await socket.ping())
            yield request[10:]

        await socket.send(halves())
        page = await until(lambda m: m["type"] == "history")
        assert [entry["seq"] for entry in page["entries"]] == [1, 2], page
    assert socket.close_code == 1000, socket.close_code


asyncio.run(asyncio.wait_for(chat(sys.argv[1]), 120))
print("good")
