"""keys.py jwks [KID=]PEM...: prints the JWK Set of public or private keys, made by PyJWT where it can.
keys.py token KEY ALGORITHM KID CLAIMS: prints a token by PyJWT; an empty KID is left out.
keys.py serve FOLDER: an HTTP server on a port of the system, which it prints. It answers with FOLDER/answer: a
JSON object with "status", "body" or "bytes", "location", "delay", or "hold": true, which waits for another one; and
prints a line for each request.
keys.py flood PORT COUNT CONNECTIONS: offers COUNT tokens with random kids to a relay, CONNECTIONS at once, by turns in
a request and in the handshake and the first message of a WebSocket, from a hundred addresses; prints how many were
answered how."""
import asyncio, base64, collections, http.server, json, os, sys, threading, time


def number(value, length=None):
    length = length or (value.bit_length() + 7) // 8
    return base64.urlsafe_b64encode(value.to_bytes(length, "big")).rstrip(b"=").decode()


def jwk(path):
    import jwt
    from cryptography.hazmat.primitives import serialization
    with open(path, "rb") as file:
        pem = file.read()
    private = b"PRIVATE" in pem
    key = serialization.load_pem_private_key(pem, None).public_key() if private else serialization.load_pem_public_key(pem)
    numbers = key.public_numbers()
    if hasattr(numbers, "n"):
        found = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key))
        return {name: found[name] for name in ("kty", "n", "e")}
    return {"kty": "EC", "crv": "P-256", "x": number(numbers.x, 32), "y": number(numbers.y, 32)}


def jwks(places):
    keys = []
    for place in places:
        kid, _, path = place.rpartition("=")
        keys.append({**jwk(path), **({"kid": kid} if kid else {}), "use": "sig"})
    return {"keys": keys}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        print(self.path, flush=True)
        answer = {"hold": True}
        while answer.get("hold"):
            time.sleep(0.01)
            with open(os.path.join(folder, "answer")) as file:
                answer = json.load(file)
        time.sleep(answer.get("delay", 0))
        body = answer.get("body", "")
        body = (json.dumps(body) if not isinstance(body, str) else body).encode() + b" " * answer.get("bytes", 0)
        self.send_response(answer.get("status", 200))
        if "location" in answer:
            self.send_header("Location", answer["location"])
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # The relay reads no more than it wants.

    def log_message(self, *_):
        pass


def encoded(members):
    return base64.urlsafe_b64encode(json.dumps(members).encode()).rstrip(b"=").decode()


async def offer(port, number):
    """The code with which a token is refused: a status of HTTP, or that of a close frame."""
    token = f'{encoded({"alg": "ES256", "kid": os.urandom(16).hex()})}.{encoded({"sub": "eve"})}.{"A" * 86}'
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(f"127.0.0.{2 + number % 100}", 0))
    try:
        way = number % 3
        upgrade = ("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: relay.v1\r\n")
        writer.write((
            f'GET {"/ws" if way else "/v1/rooms"} HTTP/1.1\r\nHost: 127.0.0.1\r\n'
            + (f"Authorization: Bearer {token}\r\n" if way < 2 else "")
            + (upgrade if way else "Connection: close\r\n") + "\r\n").encode())
        if way == 2:
            message = json.dumps({"type": "auth", "token": token}).encode()
            writer.write(bytes([0x81, 0xFE]) + len(message).to_bytes(2, "big") + bytes(4) + message)
        data = await reader.readuntil(b"\r\n\r\n")
        if not way:
            return int(data.split()[1])
        while True:
            first, length = await reader.readexactly(2)
            if length == 126:
                length = int.from_bytes(await reader.readexactly(2), "big")
            data = await reader.readexactly(length)
            if first & 15 == 8:
                return int.from_bytes(data[:2], "big")
    finally:
        writer.close()


async def flood(port, count, connections):
    numbers, codes = iter(range(count)), collections.Counter()

    async def work():
        for number in numbers:
            codes[await offer(port, number)] += 1
    await asyncio.gather(*(work() for _ in range(connections)))
    return codes


command, *rest = sys.argv[1:]
if command == "jwks":
    print(json.dumps(jwks(rest)))
elif command == "flood":
    print(json.dumps(asyncio.run(flood(*map(int, rest))), sort_keys=True))
elif command == "token":
    import jwt
    path, algorithm, kid, claims = rest
    with open(path) as file:
        print(jwt.encode(json.loads(claims), file.read().strip(), algorithm, headers={"kid": kid} if kid else None))
else:
    folder, = rest
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_address[1], flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
