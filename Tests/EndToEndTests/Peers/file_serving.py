"""Files over HTTP, as they are served until they are removed. Run with the name of a case and the program relay."""
import hashlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

from files import TUS, Files, main, png, problem, status, stored, violations
from relay import PATIENCE_S, WITHOUT_LIMITS, wait

SAMPLES = pathlib.Path(__file__).parents[2] / "MediaTests/Samples"


def serving(relay):
    """An uploaded file is what its room reads, and nobody else."""
    content = os.urandom(300_000)
    files, others = Files(relay), Files(relay, "mallory")
    path = files.upload(content)
    # Nobody reads it until an entry names it.
    problem(files.ask("GET", path), 404, code="no_such_entry")
    files.show(path, "dm:ada:bo")
    for user in ("ada", "bo"):
        whole = status(files.ask("GET", path, user=user), 200)
        assert whole.content == content
    problem(others.ask("GET", path), 404, code="no_such_entry")
    problem(others.ask("POST", path + "/link"), 404)
    problem(files.ask("GET", path, user=""), 401)
    # Sent again by a user that its owner has blocked, it is hidden from the owner there, and still the owner's.
    relay.request("ada", [{"type": "block", "user": "bo", "on": True}])
    Files(relay, "bo").show(path, "dm:ada:bo")
    status(files.ask("GET", path), 200)
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    assert whole.headers["ETag"] == tag and whole.headers["Accept-Ranges"] == "bytes"
    assert whole.headers["Content-Type"] == "application/octet-stream"
    assert whole.headers["Content-Disposition"] == "attachment"
    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in whole.headers["Content-Security-Policy"]
    assert whole.headers["Cache-Control"].startswith("private")
    named = files.ask("GET", path + "?name=%22a%22%0d%0aX:%20%C3%A9")
    assert named.headers["Content-Disposition"] == "attachment" and "X" not in named.headers
    named = files.ask("GET", path + "?name=%C3%A9%22.txt")
    assert named.headers["Content-Disposition"] == (
        "attachment; filename=\"__.txt\"; filename*=UTF-8''%C3%A9%22.txt")
    status(files.ask("GET", path, {"If-None-Match": tag}), 304)
    head = status(files.ask("HEAD", path), 200)
    assert head.content == b"" and head.headers["Content-Length"] == "300000"
    # Ranges, by curl, which writes what it gets to a file.
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "part"
        for given, expected in (
                ("0-0", content[:1]), ("1000-99999", content[1000:100_000]), ("-7", content[-7:]),
                ("299000-", content[299_000:]), ("0-999999", content)):
            subprocess.run([
                "curl", "-sSf", "-r", given, "-o", out, f"{relay.url}{path}?user=bo"], check=True)
            assert out.read_bytes() == expected, given
        out.write_bytes(content[:123_456])
        subprocess.run(
            ["curl", "-sSf", "-C", "-", "-o", out, f"{relay.url}{path}?user=bo"], check=True)
        assert out.read_bytes() == content
    part = status(files.ask("GET", path, {"Range": "bytes=5-9", "If-Range": tag}), 206)
    assert part.headers["Content-Range"] == "bytes 5-9/300000" and part.content == content[5:10]
    status(files.ask("GET", path, {"Range": "bytes=5-9", "If-Range": '"other"'}), 200)
    status(files.ask("GET", path, {"Range": "bytes=0-1,5-9"}), 200)
    beyond = status(files.ask("GET", path, {"Range": "bytes=300000-"}), 416)
    assert beyond.headers["Content-Range"] == "bytes */300000"
    problem(files.ask("GET", path + "/thumbnail"), 404)
    # The connection takes the next request.
    connection = http.client.HTTPConnection("127.0.0.1", relay.port, timeout=PATIENCE_S)
    for _ in range(3):
        connection.request("GET", f"{path}?user=bo")
        assert connection.getresponse().read() == content
    voice = files.upload((SAMPLES / "recorded.webm").read_bytes())
    entry = files.entry("dm:ada:bo", files.show(voice, "dm:ada:bo", "voice.webm"))
    assert entry["media_type"] == "audio/webm" and entry["duration_ms"] == 1501, entry


def links(relay):
    """A link needs no other credentials, and is good for one file, one user and one minute."""
    files = Files(relay)
    path = files.upload(b"hello")
    other = files.upload(b"other")
    seq = files.show(path, "dm:ada:bo")
    files.show(other, "dm:ada:bo")
    link = json.loads(status(files.ask("POST", path + "/link"), 200).content)
    assert 50_000 < link["expires_at"] - time.time() * 1000 < 61_000
    url = link["url"]
    assert status(files.ask("GET", url, {"Sec-Fetch-Site": "cross-site"}, user=""), 200).content == b"hello"
    query = url.split("?")[1]
    for forged in (
            url.replace("by=ada", "by=bo"), url[:-1] + ("A" if url[-1] != "A" else "B"),
            url.replace(str(link["expires_at"]), str(link["expires_at"] + 1)), f"{other}?{query}",
            f"{path}?by=ada&until={int(time.time() * 1000) - 1}&sig=" + query.split("sig=")[1],
            f"{path}?by=ada&until=1&sig="):
        problem(files.ask("GET", forged, user=""), 404, code="no_such_entry")
    status(files.ask("GET", f"{path}?sig=x", user=""), 401)
    # It is no way past other checks: of the page that asks, and of who has uploaded.
    evil, forged = {**TUS, "Origin": "https://evil.example"}, f"{path}?by=ada&until=1&sig=x"
    for method in ("DELETE", "PATCH", "OPTIONS"):
        status(files.ask(method, forged, evil), 403)
    for address in (forged, url):
        status(files.ask("HEAD", address, TUS, user=""), 401)
    # The right is checked when the link is used.
    relay.send("ada", "dm:ada:bo", {"kind": "delete", "target": seq})
    problem(files.ask("GET", url, user=""), 404)


def host(relay):
    """Browsers get files at a host that has nothing else; programs get them where the page is, too, and no one is shown one there."""
    files, program = Files(relay), Files(relay, "bo")
    picture, text = files.upload(png(900, 300)), files.upload(b"hello")
    files.show(picture, "dm:ada:bo", "a.png")
    seq = files.show(text, "dm:ada:bo", "a.txt")
    origin, at = f"http://localhost:{relay.port}", {"Host": f"localhost:{relay.port}"}

    def link(path):
        url = json.loads(status(files.ask("POST", path + "/link"), 200).content)["url"]
        assert url.startswith(f"{origin}{path}?by=ada&until="), url
        return url.removeprefix(origin)

    shown = status(files.ask("GET", link(picture), at, user=""), 200)
    assert shown.headers["Content-Disposition"] == "inline" and shown.headers["Set-Cookie"] is None
    assert shown.headers["Access-Control-Allow-Origin"] == "*"
    assert shown.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    small = status(files.ask("GET", link(picture).replace("?", "/thumbnail?"), at, user=""), 200)
    assert small.headers["Content-Type"] == "image/webp" and small.content != shown.content
    saved = status(files.ask("GET", link(picture) + "&disposition=attachment&name=a.png", at, user=""), 200)
    assert saved.headers["Content-Disposition"].startswith('attachment; filename="a.png"'), saved.headers
    part = status(files.ask("GET", link(text), {**at, "Range": "bytes=1-2"}, user=""), 206)
    assert part.content == b"el"
    for headers in (at, {**at, **TUS}):
        head = status(files.ask("HEAD", link(text), headers, user=""), 200)
        assert head.headers["Content-Length"] == "5" and head.headers["Upload-Offset"] is None
    # Nothing else is there, whoever asks for it, and however the host is spelled.
    known = {"Cookie": "relay-80=x", "Authorization": "Bearer x", "Origin": relay.url}
    socket_fields = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
                     "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    for name in (f"localhost:{relay.port}", "localhost", "LocalHost:1", "localhost."):
        for path in ("/", "/healthz", "/metrics", "/v1/sign-in", "/v1/rooms", "/v1/files", "/v1/avatars/ada", "/nowhere",
                     text, text + "/link", text + "/thumbnail", text + "/thumbnail/", "/ws"):
            refused = problem(files.ask("GET", path, {**known, "Host": name}), 404) if path != "/ws" else status(
                files.ask("GET", path, {**socket_fields, "Host": name}), 404)
            assert refused.headers["Set-Cookie"] is None, path
    for method in ("POST", "PATCH", "DELETE", "OPTIONS"):
        status(files.ask(method, link(text), {**at, **TUS}, user=""), 405)
    assert files.ask("GET", link(text), {**at, "X-HTTP-Method-Override": "DELETE"}, user="").content == b"hello"
    problem(files.ask("GET", link(text).replace("by=ada", "by=bo"), at, user=""), 404, code="no_such_entry")
    # Where the page is, a browser is sent there, and a program gets a file to save.
    for headers in ({"Cookie": "a=b"}, {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Site": "same-origin"}):
        for path, kept in ((picture, ""), (picture + "/thumbnail", ""), (picture + "?name=a+b&disposition=attachment",
                                                                         "&name=a%20b&disposition=attachment")):
            sent = status(program.ask("GET", path, headers), 307)
            target = sent.headers["Location"].removeprefix(origin)
            assert target.startswith(path.split("?")[0] + "?by=bo&until=") and target.endswith(kept), sent.headers["Location"]
            assert sent.headers["Cache-Control"] == "no-store" and sent.content == b""
            status(files.ask("GET", target, at, user=""), 200)
        problem(program.ask("GET", picture, headers, user="mallory"), 404)
    got = status(program.ask("GET", picture), 200)
    assert got.content == shown.content and got.headers["Content-Disposition"] == "attachment", got.headers
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        subprocess.run(["curl", "-sSf", "-o", out, f"{relay.url}{text}?user=bo"], check=True)
        assert out.read_bytes() == b"hello"
    # A link that an earlier client has put on the relay's own host goes on to work.
    moved = link(text)
    assert status(files.ask("GET", moved, user=""), 307).headers["Location"] == origin + moved
    problem(files.ask("GET", moved[:-1] + "_", user=""), 404)
    policy = files.ask("GET", "/", user="").headers["Content-Security-Policy"]
    for directive in ("img-src 'self' blob:", "media-src 'self' blob:", "connect-src 'self'"):
        assert f"{directive} {origin};" in policy, policy
    assert policy.count(origin) == 3, policy
    relay.send("ada", "dm:ada:bo", {"kind": "delete", "target": seq})
    problem(files.ask("GET", moved, at, user=""), 404)


def slow(relay):
    """A client that does not read its download ends, and holds little memory; one that is slow gets all."""
    files = Files(relay)
    content = os.urandom(20_000_000)
    path = files.upload(content)
    files.show(path, "general")
    stuck = socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S)
    stuck.sendall(f"GET {path}?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    lazy = socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S)
    lazy.sendall(
        f"GET {path}?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
    got = b""
    while block := lazy.recv(400_000):
        got += block
        time.sleep(0.05)
    assert got.split(b"\r\n\r\n", 1)[1] == content
    # By now the relay has given the other one up: what it gets is only what lay in the sockets.
    wait(lambda: violations(relay, "limits.idle_timeout_s") > 0, "the connection is still there")
    got = b""
    try:
        while block := stuck.recv(1 << 20):
            got += block
    except ConnectionResetError:
        pass
    assert len(got) < len(content)


def removal(relay):
    """The bytes go with the last entry that names them, also those that two files share. Returns how soon, in seconds."""
    files = Files(relay)
    content = os.urandom(70_000)
    hash = hashlib.sha256(content).hexdigest()
    first, second = files.upload(content), files.upload(content)
    seqs = [files.show(first, "general"), files.show(second, "general"), files.show(first, "general")]
    assert stored(relay) == {hash}
    assert not list(relay.data.glob("files*/uploads/*")), "a file is no upload any more"
    for seq in seqs[:2]:
        relay.send("ada", "general", {"kind": "delete", "target": seq})
    problem(files.ask("GET", second), 404)
    assert status(files.ask("GET", first), 200).content == content
    relay.send("ada", "general", {"kind": "delete", "target": seqs[2]})
    began = time.monotonic()
    wait(lambda: not stored(relay), "the bytes are still there")
    took = time.monotonic() - began
    print(f"removed after {took:.1f} s", file=sys.stderr)
    problem(files.ask("GET", first), 404)
    # The same bytes may come again at once.
    again = files.upload(content)
    files.show(again, "general")
    time.sleep(2.5)  # as long as removals take that would be wrong
    assert status(files.ask("GET", again), 200).content == content
    return took


def removal_in_time(relay):
    assert removal(relay) < 3


CONFIGURATIONS = {
    "serving": WITHOUT_LIMITS, "links": WITHOUT_LIMITS, "removal": WITHOUT_LIMITS, "removal_in_time": WITHOUT_LIMITS,
    "host": WITHOUT_LIMITS + "\nfiles: { host: localhost }",
    "slow": WITHOUT_LIMITS.replace(" }", ", heartbeat_s: 1, idle_timeout_s: 2 }"),
}


if __name__ == "__main__":
    main(globals()[sys.argv[1]], CONFIGURATIONS[sys.argv[1]])
