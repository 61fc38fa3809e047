"""What the cases of files over HTTP share: a user's requests, pictures, and a relay for one case."""
import http.client
import json
import sys
import tempfile
import urllib.request
import zlib

from relay import PATIENCE_S, Relay

TUS = {"Tus-Resumable": "1.0.0"}
PART = {**TUS, "Content-Type": "application/offset+octet-stream"}


class Files:
    """One user's requests about files, over one connection after the other."""

    def __init__(self, relay, user="ada"):
        self.relay, self.user = relay, user

    def ask(self, method, path, headers=(), content=None, user=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.relay.port, timeout=PATIENCE_S)
        mark = "&" if "?" in path else "?"
        who = self.user if user is None else user
        connection.request(
            method, path + (f"{mark}user={who}" if who else ""), content, dict(headers))
        answer = connection.getresponse()
        answer.content = answer.read()
        connection.close()
        return answer

    def create(self, size, **headers):
        return self.ask("POST", "/v1/files", {
            **TUS, "Upload-Length": str(size),
            **{name.replace("_", "-"): value for name, value in headers.items()}})

    def append(self, path, offset, content, **headers):
        return self.ask("PATCH", path, {
            **PART, "Upload-Offset": str(offset),
            **{name.replace("_", "-"): value for name, value in headers.items()}}, content)

    def progress(self, path):
        return self.ask("HEAD", path, TUS)

    def upload(self, content):
        """Uploads in one request, as most clients do with small files; returns the path."""
        answer = self.ask("POST", "/v1/files", {
            **PART, "Upload-Length": str(len(content))}, content)
        assert answer.status == 201, (answer.status, answer.content)
        assert answer.headers["Upload-Offset"] == str(len(content)), answer.headers
        return answer.headers["Location"]

    def entry(self, room, seq):
        page = json.loads(self.ask("GET", f"/v1/rooms/{room}/messages?before={seq + 1}&limit=1").content)
        return page["entries"][0]

    def show(self, path, room, name="file.bin"):
        """Sends an entry that names a file; returns its number."""
        file = path.rsplit("/", 1)[1]
        return self.relay.send(self.user, room, {"kind": "file", "file": file, "name": name})[0]


def status(answer, expected):
    assert answer.status == expected, (answer.status, dict(answer.headers), answer.content)
    return answer


def problem(answer, expected, **members):
    found = json.loads(status(answer, expected).content)
    assert members.items() <= found.items(), found
    return answer


def stored(relay):
    """The hashes of the bytes on disk."""
    return {path.name for path in relay.data.glob("files*/??/*")}


def violations(relay, rule):
    request = urllib.request.Request(f"{relay.url}/metrics", headers={"Authorization": "Bearer the-token-of-tests"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        lines = answer.read().decode().splitlines()
    return sum(
        int(float(line.rsplit(" ", 1)[1])) for line in lines
        if f'"{rule}"' in line and not line.startswith("#"))


def chunk(kind, data):
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def png(width, height, *more):
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    rows = b"".join(b"\0" + bytes([y % 256, 80, 160]) * width for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(more)
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def main(case, configuration):
    with tempfile.TemporaryDirectory() as folder:
        relay = Relay(
            sys.argv[2], folder, f"metrics: {{ token: the-token-of-tests }}\n{configuration}")
        case(relay)
        relay.stop()
    print("good")
