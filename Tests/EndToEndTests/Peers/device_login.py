"""A relay with accounts, as far as a device login and a chat need it: `device_login.py FAULTS [CERTIFICATE KEY]`
prints its port. FAULTS is a JSON object. Commands come on standard input, a line each:

    allow USER     whoever asks with the code of the last request gets a session of that user
    deny, expire   the answer to the next requests for the token
    end USER       ends the sessions of that user, with their connections
    isAsked        whether the token was asked for with the last code
    seen KIND      what was seen of that kind, as JSON

Each is answered by a line.

HTTP and the WebSocket share a port, as the relay's do."""
import asyncio
import http
import json
import ssl
import sys
import time

# The QR code of "https://chat.example.org/sign-in/device?code=WDJB-MJHT" (33 modules, level M), a hexadecimal
# number for each row; made by another implementation.
QR = """
1fce0f27f 104f24d41 175557e5d 175a02e5d 1758f9f5d 105c48c41 1fd55557f 001e52c00 17ceca57c 0e2992f6d
0dd6f1596 052295c9f 08f874d3b 1c0aa52cf 195c3d9d6 0a98658ec 186cea4b1 148bd7a6d 19e2f4cf4 0394659fd
10cfc6dbb 1b1335a4d 124bc980e 142151efd 13530e7fa 00121f115 1fcef8356 105accb1e 1752b0df9 17592e19f
175ff8c60 104e22c1c 1fd4397e2
"""

FAULTS = json.loads(sys.argv[1])
# By token: {"user", "session", "device"}.
SESSIONS = {}
CODES = {}
SEEN = {"polls": [], "devices": [], "deleted": [], "sends": [], "authorizations": []}
STATE = {"answer": "authorization_pending", "user": "", "port": 0, "asked": False,
         "slow": FAULTS.get("slow_downs", 0)}
CONNECTIONS = []
COUNT = iter(range(1, 1_000_000))


def answer(status, body, kind="application/json", length=None):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    if FAULTS.get("chunk") and status != 204:
        # As a proxy may send it: with extensions of chunks and a trailer.
        size = FAULTS["chunk"]
        parts = [data[start:start + size] for start in range(0, len(data), size)]
        chunks = b"".join(b"%X;x=y\r\n%s\r\n" % (len(part), part) for part in parts)
        head = (f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\nContent-Type: {kind}\r\n"
                "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        return head.encode() + chunks + b"0\r\nX-Trailer: 1\r\n\r\n"
    head = (f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\nContent-Type: {kind}\r\n"
            f"Content-Length: {len(data) if length is None else length}\r\nConnection: close\r\n\r\n")
    return head.encode() + data


def problem(status, code, detail):
    return answer(status, {"type": "about:blank", "title": "x", "status": status, "detail": detail, "code": code},
                  "application/problem+json")


def oauth(error):
    return answer(400, {"error": error, "error_description": "as RFC 8628 says"})


def origin():
    scheme = "https" if len(sys.argv) > 2 else "http"
    return FAULTS.get("public_url", f"{scheme}://127.0.0.1:{STATE['port']}")


def device(body):
    number = next(COUNT)
    code = FAULTS.get("user_code", f"WDJB-MJ{number:02d}")
    secret = f"code-{number}"
    CODES[secret] = json.loads(body)["device"]
    SEEN["devices"].append(CODES[secret])
    STATE.update(answer="authorization_pending", asked=False)
    link = FAULTS.get("verification_uri", f"{origin()}/sign-in/device")
    complete = f"{link}?code={code}"
    given = {"device_code": secret, "user_code": code, "verification_uri": link,
             "verification_uri_complete": complete, "interval": FAULTS.get("interval", 1),
             "expires_in": FAULTS.get("expires_in", 600), "qr": [f"{int(row, 16):033b}" for row in QR.split()]}
    for name in FAULTS.get("without", []):
        del given[name]
    if FAULTS.get("long"):
        given["padding"] = "x" * 10_000_000
    return answer(200, given)


def token(body):
    SEEN["polls"].append(round(time.monotonic() * 1000))
    STATE["asked"] = True
    if STATE["slow"] > 0:
        STATE["slow"] -= 1
        return oauth("slow_down")
    if len(SEEN["polls"]) <= FAULTS.get("fails", 0):
        return problem(503, "unavailable", "The relay is starting.\x1b[2J")
    secret = json.loads(body)["device_code"]
    if STATE["answer"] != "allow":
        return oauth(STATE["answer"])
    name, number = STATE["user"], next(COUNT)
    given = f"secret-{number}-" + "a" * 40
    SESSIONS[given] = {"user": name, "session": f"s{number}", "device": CODES[secret]}
    STATE.update(answer="expired_token", asked=False)
    return answer(200, {"token": given, "user": name, "session": f"s{number}"})


def sessions(method, path, given):
    own = SESSIONS.get(given)
    SEEN["authorizations"].append(given)
    if FAULTS.get("no_sessions"):
        return problem(500, "internal", "\x1b]0;owned\x07broken")
    if own is None:
        return problem(401, "unauthorized", "This session was ended.")
    mine = {t: s for t, s in SESSIONS.items() if s["user"] == own["user"]}
    if method == "GET":
        return answer(200, {"sessions": [
            {"session": s["session"], "device": s["device"] + FAULTS.get("device_suffix", ""),
             "created_at": 1_700_000_000_000, "used_at": 1_700_000_000_000 + i, "address": "192.0.2.1",
             **({"current": True} if t == given else {})} for i, (t, s) in enumerate(mine.items())]})
    wanted = path.rsplit("/", 1)[1]
    ended = [t for t, s in mine.items() if s["session"] == wanted or (wanted == "current" and t == given)]
    if not ended:
        return problem(404, "not_found", "There is no such session.")
    for t in ended:
        del SESSIONS[t]
    if "delete" in FAULTS:
        return problem(FAULTS["delete"], "unavailable", "Not now.")
    SEEN["deleted"].append(wanted)
    asyncio.get_running_loop().create_task(close_ended())
    return answer(204, b"")


async def close_ended():
    for connection in list(CONNECTIONS):
        if connection.token not in SESSIONS:
            await connection.refuse()


class Chat:
    """One connection, with rooms that only hold what is sent to them."""

    def __init__(self, socket, given):
        self.socket, self.token, self.seq = socket, given, 0

    async def refuse(self):
        await self.say({"type": "error", "code": "unauthorized", "message": "This session was ended."})
        await self.socket.close(4401, "This session was ended.")

    async def say(self, message):
        await self.socket.send(json.dumps(message))

    async def run(self):
        session = SESSIONS.get(self.token)
        if session is None:
            return await self.refuse()
        CONNECTIONS.append(self)
        now = int(time.time() * 1000)
        await self.say({"type": "welcome", "user": session["user"], "session": "c1", "server": "fake/1", "time": now,
                        "heartbeat_s": 30, "limits": {}})
        try:
            async for text in self.socket:
                await self.take(json.loads(text), session["user"])
        finally:
            CONNECTIONS.remove(self)

    async def take(self, message, user):
        kind, now = message["type"], int(time.time() * 1000)
        if kind == "ping":
            await self.say({"type": "pong", "time": now})
        elif kind == "rooms":
            await self.say({"type": "rooms", "rooms": []})
        elif kind == "people":
            await self.say({"type": "people", "people": [], "as_of": now})
        elif kind == "join":
            for room in message.get("rooms", [message]):
                name = room["room"] if isinstance(room, dict) else room
                await self.say({"type": "joined", "room": name, "epoch": f"e-{user}", "head": LOG[user], "first": 1,
                                "after": min(room.get("after", LOG[user]), LOG[user]), "resume": "ok", "read": 0,
                                "received": 0, "members": []})
        elif kind == "send":
            LOG[user] += 1
            SEEN["sends"].append([user, message["text"]])
            entry = {k: message[k] for k in ("room", "id", "text")}
            await self.say({"type": "ack", "room": message["room"], "id": message["id"], "seq": LOG[user], "at": now})
            await self.say({"type": "message", "seq": LOG[user], "from": user, "at": now, "kind": "text", **entry})


class Counter(dict):
    def __missing__(self, key):
        return 0


LOG = Counter()


async def http_or_chat(reader, writer):
    """The HTTP part; the WebSocket is passed on to the port of `websockets`."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    method, path, _ = lines[0].split(" ")
    headers = {l.split(":", 1)[0].lower(): l.split(":", 1)[1].strip() for l in lines[1:] if ":" in l}
    if headers.get("upgrade"):
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", STATE["chat"])
        to_writer.write(head)
        await asyncio.gather(copy(reader, to_writer), copy(to_reader, writer))
        return
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    given = headers.get("authorization", " ").split(" ", 1)[1]
    if path == "/v1/sign-in":
        mode = FAULTS.get("mode", "accounts")
        if mode == "redirect":
            data = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
        else:
            data = answer(200, {"mode": mode, "methods": []}) if mode else problem(404, "not_found", "Nothing here.")
    elif path == "/v1/device":
        data = problem(429, "rate_limited", "Too many sign-ins.\x1b[31m") if FAULTS.get("limited") else device(body)
    elif path == "/v1/device/token":
        data = token(body)
    elif path.startswith("/v1/sessions"):
        data = sessions(method, path, given)
    else:
        data = problem(404, "not_found", "Nothing here.")
    writer.write(data)
    try:
        await writer.drain()
        writer.close()
    except ConnectionError:
        pass


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        writer.close()


async def commands():
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        name, *arguments = line.split()
        result = "done"
        if name == "allow":
            STATE["answer"], STATE["user"] = "allow", arguments[0]
        elif name == "deny":
            STATE["answer"] = "access_denied"
        elif name == "expire":
            STATE["answer"] = "expired_token"
        elif name == "end":
            for given in [t for t, s in SESSIONS.items() if s["user"] == arguments[0]]:
                del SESSIONS[given]
            await close_ended()
        elif name == "isAsked":
            result = STATE["asked"]
        elif name == "seen":
            result = SEEN[arguments[0]]
        print(json.dumps(result), flush=True)


async def main():
    import websockets

    async def chat(socket, *_):
        request = getattr(socket, "request", None)
        headers = request.headers if request is not None else socket.request_headers
        await Chat(socket, headers.get("Authorization", " ").split(" ", 1)[1]).run()

    server = await websockets.serve(chat, "127.0.0.1", 0, subprotocols=["relay.v1"])
    STATE["chat"] = list(server.sockets)[0].getsockname()[1]
    context = None
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
    front = await asyncio.start_server(http_or_chat, "127.0.0.1", 0, ssl=context)
    STATE["port"] = front.sockets[0].getsockname()[1]
    print(STATE["port"], flush=True)
    await commands()


asyncio.run(main())
