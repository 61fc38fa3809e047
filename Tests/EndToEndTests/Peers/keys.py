"""keys.py jwks [KID=]PEM...: prints the JWK Set of public or private keys, made by PyJWT where it can.
keys.py token KEY ALGORITHM KID CLAIMS: prints a token by PyJWT; an empty KID is left out.
keys.py serve FOLDER: an HTTP server on a port of the system, which it prints. It answers with FOLDER/answer: a
JSON object with "status", "body" or "bytes", "location", "delay"; and prints a line for each request."""
import base64, http.server, json, os, sys, threading, time


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


command, *rest = sys.argv[1:]
if command == "jwks":
    print(json.dumps(jwks(rest)))
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
