"""tokens.py make KEY ALGORITHM CLAIMS: prints a token by PyJWT.
tokens.py ways URL KEY PUBLIC ALGORITHM: offers tokens, good ones and such as nobody may take, in each of
the three ways, and holds what the relay says against the protocol. KEY and PUBLIC are files; in claims
the times count from now."""
import asyncio, base64, hashlib, hmac, json, sys, time, urllib.error, urllib.request
import jwt, websockets
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa


def read(path):
    with open(path) as file:
        return file.read()


def encoded(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make(key, algorithm, claims, headers=None):
    claims = dict(claims)
    for name in ("exp", "nbf"):
        if isinstance(claims.get(name), (int, float)):
            claims[name] += time.time()
    return jwt.encode(claims, key, algorithm, headers=headers)


def by_hand(claims, key, header=None):
    """HS256 with whatever key: PyJWT takes no PEM for a secret."""
    parts = [encoded(json.dumps(part).encode()) for part in (header or {"alg": "HS256"}, claims)]
    signature = hmac.new(key.encode(), ".".join(parts).encode(), hashlib.sha256).digest()
    return ".".join(parts + [encoded(signature)])


def other_key(algorithm):
    if algorithm == "HS256":
        return "another secret of 32 bytes, or so"
    key = rsa.generate_private_key(65537, 2048) if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def bad_tokens(key, public, algorithm):
    ada = {"sub": "ada"}
    good = make(key, algorithm, ada)
    header, payload, signature = good.split(".")
    root = encoded(json.dumps({"sub": "root"}).encode())
    unsigned = jwt.encode(ada, None, "none")
    bad = {
        "none": unsigned,
        "none, with a signature": unsigned + signature,
        "no signature": f"{header}.{payload}.",
        "two parts": f"{header}.{payload}",
        "an altered payload": f"{header}.{root}.{signature}",
        "an altered header": f"{encoded(json.dumps(dict(alg=algorithm, kid='1')).encode())}.{payload}.{signature}",
        "another key": make(other_key(algorithm), algorithm, ada),
        "expired": make(key, algorithm, dict(ada, exp=-31)),
        "expired, for a bot": make(key, algorithm, {"sub": "echo", "exp": -31}),
        "not yet valid": make(key, algorithm, dict(ada, nbf=60)),
        "exp as a text": make(key, algorithm, dict(ada, exp="tomorrow")),
        "critical extensions": make(key, algorithm, ada, {"crit": ["b64"], "b64": True}),
        "no user": make(key, algorithm, {"name": "Ada"}),
        "a user that is no text": make(key, algorithm, {"sub": ["ada"]}),
        "a bot": make(key, algorithm, {"sub": "echo"}),
        "rooms that are none": make(key, algorithm, dict(ada, rooms="*")),
        "HS256 by the public key": by_hand(ada, public),
        "garbage": "x.y.z",
    }
    stronger = {"HS256": ["HS384", "HS512"], "RS256": ["RS384", "RS512", "PS256"], "ES256": []}
    for name in stronger[algorithm]:
        bad[name] = make(key, name, ada)
    for name in {"HS256", "RS256", "ES256"} - {algorithm}:
        bad[name] = make(other_key(name), name, ada)
    return bad


def ways(url, token):
    yield "header", url, {"Authorization": f"Bearer {token}"}, None
    yield "message", url, {}, token
    yield "query", f"{url}?token={token}", {}, None


async def offer(url, headers, token):
    """The first answer, and the close code; 0 where it stays open."""
    async with websockets.connect(url, extra_headers=headers, subprotocols=["relay.v1"]) as socket:
        if token is not None:
            await socket.send(json.dumps({"type": "auth", "token": token}))
        first = json.loads(await socket.recv())
        if first["type"] == "welcome":
            await socket.send(json.dumps({"type": "ping", "t": 1}))
            assert json.loads(await socket.recv())["type"] == "pong"
            return first, 0
        await socket.wait_closed()
        return first, socket.close_code


def problem(url, token):
    """The status and code with which HTTP answers; None where it serves."""
    request = urllib.request.Request(url.replace("ws", "http", 1).removesuffix("/ws") + "/v1/rooms")
    request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request):
            return None
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)["code"]


async def check(url, key, public, algorithm):
    for claims in ({"sub": "ada"}, {"sub": "ada", "exp": 60.5, "nbf": 29}, {"sub": "ada", "exp": -15}):
        token = make(key, algorithm, claims)
        assert problem(url, token) is None, claims
        for way, *rest in ways(url, token):
            first, code = await offer(*rest)
            assert (first["type"], first.get("user"), code) == ("welcome", "ada", 0), (way, claims, first, code)
            exp = jwt.decode(token, options={"verify_signature": False}).get("exp")
            left = None if exp is None else max(0, int(exp * 1000) - first["time"])
            assert first.get("expires_in_ms") == left, (claims, first)
    for name, token in bad_tokens(key, public, algorithm).items():
        reason = "token_expired" if name == "expired" else "unauthorized"
        for way, *rest in ways(url, token):
            first, code = await offer(*rest)
            told = (first["type"], first.get("code"), code)
            assert told == ("error", reason, 4401), (name, way, first, code)
        assert problem(url, token) == (401, reason), name


command, *rest = sys.argv[1:]
if command == "make":
    print(make(read(rest[0]), rest[1], json.loads(rest[2])))
else:
    url, key, public, algorithm = rest
    asyncio.run(check(url, read(key), read(public), algorithm))
    print("good")
