"""logged_secrets.py RELAY FORMAT: presents every secret that a client can have, in every place where it
can be, to a relay that logs at the level trace, and looks for each of them in the log."""
import json
import sys
import urllib.parse

import websockets

from accounts_support import ACCOUNTS, Person, first_code, play, welcomed

WRONG = "W" * 43
TEXT = "words-that-must-not-be-logged"


async def presented(relay, token):
    """Presents a token to a WebSocket: in its address, its head and its first message."""
    quoted = urllib.parse.quote(token)
    for query, fields, message in [
            (f"?token={quoted}", {}, None), ("", {"Authorization": f"Bearer {token}"}, None),
            ("", {}, {"type": "auth", "token": token})]:
        async with websockets.connect(
                relay.socket + query, subprotocols=["relay.v1"], extra_headers=fields) as socket:
            if message:
                await socket.send(json.dumps(message))
            answer = json.loads(await socket.recv())
            if answer["type"] == "welcome":
                await socket.send(json.dumps({"type": "auth", "token": token}))
                assert json.loads(await socket.recv())["type"] in ("renewed", "error"), "an answer"
                await socket.send(json.dumps({"type": "send", "room": "tea", "id": "1", "text": TEXT}))
                while json.loads(await socket.recv())["type"] != "ack":
                    pass
    for path in f"/v1/rooms?token={quoted}", f"/v1/nothing?token={quoted}":
        Person(relay).get(path)
    Person(relay, token=token).get("/v1/me")


async def secrets(start):
    relay = start(
        f"{ACCOUNTS}\nlog_level: trace\nlog_format: {FORMAT}\nmetrics: {{ token: metrics-{WRONG} }}\n"
        f"admin: {{ token: admin-{WRONG} }}\n")
    code = first_code(relay).rstrip('"}')
    answer = Person(relay).post(f"/v1/invites/{code}", {"user": "ada"})
    assert answer.status == 201, answer
    token, cookie = answer.json["token"], answer.cookies[0].split(";")[0]
    ada = Person(relay, token=token)
    await presented(relay, token)
    await presented(relay, WRONG)
    socket, message = await welcomed(relay, Person(relay, cookie=cookie), Origin=relay.url)
    assert message["type"] == "welcome", message
    await socket.close()
    invitation = ada.invite()
    for path in f"/join/{invitation}", f"/v1/invites/{invitation}", f"/v1/invites/{WRONG}":
        Person(relay).get(path)
    bo, _ = ada.open(invitation, "bo")
    device = Person(relay).post("/v1/device", {"device": "x"}).json
    assert ada.get(f"/v1/device/{device['user_code']}").status == 200
    assert ada.post(f"/v1/device/{device['user_code']}", {"allow": True}).status in (200, 204)
    signed = Person(relay).post("/v1/device/token", {"device_code": device["device_code"]})
    assert signed.status == 200, signed
    Person(relay, token=f"metrics-{WRONG}").get("/metrics")
    assert Person(relay, token=f"admin-{WRONG}").get("/v1/connections").status == 200
    relay.stop()
    log = (relay.folder / "relay.log").read_text()
    assert log.count("A message is received.") >= 4, "the level is trace"
    # Who starts the relay needs the first link, which may be a line of its own.
    lines = log.splitlines()
    [place] = [place for place, line in enumerate(lines) if code in line]
    assert "Open this link" in lines[place] + lines[place - 1], lines[place]
    for secret in [
            token, cookie.partition("=")[2], WRONG, TEXT, invitation, bo.token,
            device["user_code"], device["device_code"], signed.json["token"], "token="]:
        lines = [line for line in log.splitlines() if secret in line]
        assert not lines, (secret, lines)


if __name__ == "__main__":
    FORMAT = sys.argv[2]
    play(secrets, sys.argv[1])
    print("good")
