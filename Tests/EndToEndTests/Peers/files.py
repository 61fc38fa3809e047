"""Files over HTTP: uploads by tus 1.0.0, and what is served. Run with the name of a case and the program relay."""
import base64
import concurrent.futures
import email.utils
import hashlib
import http.client
import json
import os
import pathlib
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import zlib

from relay import PATIENCE_S, WITHOUT_LIMITS, Relay, wait

TUS = {"Tus-Resumable": "1.0.0"}
SAMPLES = pathlib.Path(__file__).parents[2] / "MediaTests/Samples"
PART = {**TUS, "Content-Type": "application/offset+octet-stream"}
WRONG = "sha1 " + base64.b64encode(hashlib.sha1(b"wrong").digest()).decode()


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


def conformance(relay):
    """What tus 1.0.0 requires of a server, sentence by sentence."""
    files = Files(relay)
    options = status(files.ask("OPTIONS", "/v1/files", user=""), 204)
    assert options.headers["Tus-Version"] == "1.0.0"
    assert options.headers["Tus-Extension"] == (
        "creation,creation-with-upload,checksum,termination,expiration")
    assert options.headers["Tus-Max-Size"] == "26214400"
    assert "sha1" in options.headers["Tus-Checksum-Algorithm"].split(",")
    # A version that is not supported is refused before anything else, with those that are.
    for headers in ({}, {"Tus-Resumable": "0.2.2"}):
        refused = problem(files.ask("POST", "/v1/files", headers), 412, field="Tus-Resumable")
        assert refused.headers["Tus-Version"] == "1.0.0" and refused.headers["Tus-Resumable"] == "1.0.0"
        problem(files.ask("PATCH", "/v1/files/x", headers), 412)
    # OPTIONS has no version; every other answer has one, also a refusal.
    status(files.ask("OPTIONS", "/v1/files", {"Tus-Resumable": "0.2.2"}, user=""), 204)
    for answer in (
            files.ask("POST", "/v1/files", {**TUS, "Upload-Length": "1"}, user=""),
            files.ask("PUT", "/v1/files", TUS), files.append("/v1/files/" + "x" * 22, 0, b"hello"),
            files.create(26214401), files.create(""), files.progress("/v1/files/" + "x" * 22)):
        assert answer.status >= 400 and answer.headers["Tus-Resumable"] == "1.0.0", (answer.status, answer.headers)
    # Creation.
    metadata = "filename Y2F0LnBuZw==,filetype aW1hZ2UvcG5n,secret"
    created = status(files.create(10, Upload_Metadata=metadata), 201)
    path = created.headers["Location"]
    assert created.headers["Tus-Resumable"] == "1.0.0" and created.headers["Upload-Offset"] == "0"
    expires = email.utils.parsedate_to_datetime(created.headers["Upload-Expires"]).timestamp()
    assert 86_000 < expires - time.time() < 86_401
    # A length that is not known yet is an extension that is not offered.
    problem(files.ask("POST", "/v1/files", {**TUS, "Upload-Defer-Length": "1"}), 400, field="Upload-Length")
    # The space before an empty value may be left out, or not.
    status(files.create(1, Upload_Metadata="empty ,a YQ==, b"), 201)
    # Of a file whose content comes with its creation, the answer says how much was taken.
    part = status(files.ask("POST", "/v1/files", {**PART, "Upload-Length": "10"}, b"1234"), 201)
    assert part.headers["Upload-Offset"] == "4" and part.headers["Upload-Expires"]
    status(files.append(part.headers["Location"], 4, b"567890"), 204)
    before = len(list(relay.data.glob("files*/uploads/*.json")))
    problem(files.ask("POST", "/v1/files", {**PART, "Upload-Length": "3"}, b"1234"), 413)
    problem(files.ask("POST", "/v1/files", {**TUS, "Upload-Length": "3", "Content-Type": "text/plain"}, b"123"), 415)
    problem(files.ask("POST", "/v1/files", {**PART, "Upload-Length": "5", "Upload-Checksum": WRONG}, b"world"), 460)
    wait(lambda: len(list(relay.data.glob("files*/uploads/*.json"))) == before, "a refused creation left an upload")
    for length in ("", "-1", "x", "1.5", "99999999999999999999"):
        problem(files.create(length), 400, field="Upload-Length")
    for wrong in ("a a a", "a ?", "a YQ==,a YQ=="):
        problem(files.create(1, Upload_Metadata=wrong), 400, field="Upload-Metadata")
    problem(files.create(26214401), 413, code="limit_reached", field="file_bytes")
    # HEAD.
    head = status(files.progress(path), 200)
    assert head.headers["Upload-Offset"] == "0" and head.headers["Upload-Length"] == "10"
    assert head.headers["Cache-Control"] == "no-store" and head.headers["Upload-Metadata"] == metadata
    gone = status(files.progress("/v1/files/" + "x" * 22), 404)
    assert "Upload-Offset" not in gone.headers and gone.headers["Tus-Resumable"] == "1.0.0"
    # PATCH.
    problem(files.append(path, 1, b"hello"), 409, field="Upload-Offset")
    problem(files.append(path, 0, b"hello", Content_Type="text/plain"), 415)
    problem(files.append("/v1/files/" + "x" * 22, 0, b"hello"), 404)
    problem(files.append(path, 0, b"more than there is"), 413)
    assert files.progress(path).headers["Upload-Offset"] == "0"
    part = status(files.append(path, 0, b"hello"), 204)
    assert part.headers["Upload-Offset"] == "5" and part.headers["Upload-Expires"]
    # Clients that know only GET and POST.
    for method in ("POST", "GET"):
        override = files.ask(method, path, {
            **PART, "Upload-Offset": "5", "X-HTTP-Method-Override": "PATCH", "Content-Length": "0"})
        assert status(override, 204).headers["Upload-Offset"] == "5"
        override = files.ask(method, path, {
            **TUS, "X-HTTP-Method-Override": "HEAD", "Content-Length": "0"})
        assert status(override, 200).headers["Upload-Offset"] == "5"
    # Checksum: what does not have it is discarded.
    problem(files.append(path, 5, b"world", Upload_Checksum=WRONG), 460, field="Upload-Checksum")
    assert files.progress(path).headers["Upload-Offset"] == "5"
    for checksum in ("md5 eA==", "sha1 eA==", "sha1"):
        problem(files.append(path, 5, b"world", Upload_Checksum=checksum), 400)
    for algorithm in ("sha1", "sha256"):
        digest = base64.b64encode(hashlib.new(algorithm, b"world"[:2]).digest()).decode()
        offset = int(files.progress(path).headers["Upload-Offset"])
        if algorithm == "sha1":
            status(files.append(path, offset, b"wo", Upload_Checksum=f"{algorithm} {digest}"), 204)
    last = status(files.append(path, 7, b"rld"), 204)
    assert last.headers["Upload-Offset"] == "10"
    # The answer to the last request may be lost: it is repeated.
    assert status(files.append(path, 7, b"rld"), 204).headers["Upload-Offset"] == "10"
    assert files.progress(path).headers["Upload-Offset"] == "10"
    # At another offset nothing is taken, also once it is complete.
    for offset in (0, 5, 9, 10, 11):
        problem(files.append(path, offset, b"xx"), 409, field="Upload-Offset")
    assert files.progress(path).headers["Upload-Length"] == "10"
    # Termination, also by a client that knows only GET and POST.
    path = status(files.create(10), 201).headers["Location"]
    status(files.ask("POST", path, {**TUS, "X-HTTP-Method-Override": "DELETE"}), 204)
    status(files.progress(path), 404)
    path = status(files.create(10), 201).headers["Location"]
    status(files.ask("DELETE", path, TUS), 204)
    status(files.progress(path), 404)
    problem(files.append(path, 0, b"hello"), 404)
    # One that is complete is removed until an entry names it.
    path = files.upload(b"unsent")
    assert stored(relay)
    problem(files.ask("DELETE", path, TUS, user="bo"), 404)
    status(files.ask("DELETE", path, TUS), 204)
    status(files.progress(path), 404)
    problem(files.ask("DELETE", path, TUS), 404)
    hash = hashlib.sha256(b"unsent").hexdigest()
    wait(lambda: hash not in stored(relay), "the bytes are still there")
    path = files.upload(b"sent")
    files.show(path, "general")
    problem(files.ask("DELETE", path, TUS), 409, code="id_conflict")
    assert status(files.ask("GET", path), 200).content == b"sent"
    # Others have no part in it.
    path = status(files.create(10), 201).headers["Location"]
    status(files.ask("HEAD", path, TUS, user="bo"), 404)
    problem(files.ask("DELETE", path, TUS, user="bo"), 404)
    problem(files.ask("PATCH", path, {**PART, "Upload-Offset": "0"}, b"x", user="bo"), 404)
    # An empty file is one, too.
    empty = files.upload(b"")
    files.show(empty, "general")
    assert status(files.ask("GET", empty), 200).content == b""


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
    # The right is checked when the link is used.
    relay.send("ada", "dm:ada:bo", {"kind": "delete", "target": seq})
    problem(files.ask("GET", url, user=""), 404)


def removal(relay):
    """The bytes go with the last entry that names them, also those that two files share."""
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
    assert took < 3
    problem(files.ask("GET", first), 404)
    # The same bytes may come again at once.
    again = files.upload(content)
    files.show(again, "general")
    time.sleep(2.5)  # as long as removals take that would be wrong
    assert status(files.ask("GET", again), 200).content == content


def killed(relay):
    """The relay is killed in the middle of uploads; they go on from where they were."""
    files = Files(relay)
    content = os.urandom(20_000_000)
    path = status(files.create(len(content)), 201).headers["Location"]
    sent, kills = 0, 0
    while True:
        offset = int(status(files.progress(path), 200).headers["Upload-Offset"])
        if offset == len(content):
            break
        connection = socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S)
        connection.sendall((
            f"PATCH {path}?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\n"
            f"Content-Type: application/offset+octet-stream\r\nUpload-Offset: {offset}\r\n"
            f"Content-Length: {len(content) - offset}\r\n\r\n").encode())
        end = offset + 5_000_000 if kills < 3 else len(content)
        # Slower than the disk, so that little is in the sockets when it is killed.
        for start in range(offset, end, 65_536):
            block = content[start:min(start + 65_536, end)]
            connection.sendall(block)
            sent += len(block)
            time.sleep(0.002)
        if kills < 3:
            kills += 1
            relay.kill()
            relay.start()
        else:
            answer = connection.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 204 "), answer
        connection.close()
    print(f"sent {sent / len(content):.3f} times the file", file=sys.stderr)
    assert sent <= 1.1 * len(content)
    files.show(path, "general")
    assert status(files.ask("GET", path), 200).content == content
    relay.kill()
    relay.start()
    assert status(files.ask("GET", path), 200).content == content


def memory(relay):
    """A hundred uploads at once are not held in memory."""
    def resident():
        text = pathlib.Path(f"/proc/{relay.process.pid}/status").read_text()
        return int(text.split("VmHWM:")[1].split()[0]) * 1024

    files = Files(relay)
    files.upload(b"warm")
    before = resident()
    content = os.urandom(2_000_000)
    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        paths = list(pool.map(lambda n: Files(relay, f"user{n}").upload(content), range(100)))
    grown = resident() - before
    print(f"grown by {grown >> 20} MiB for 100 uploads of 2 MB", file=sys.stderr)
    assert grown < 100 * 262_144 + (16 << 20)
    assert len(set(paths)) == 100 and stored(relay) == {
        hashlib.sha256(content).hexdigest(), hashlib.sha256(b"warm").hexdigest()}


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


def violations(relay, rule):
    with http_get(relay, "/metrics", {"Authorization": "Bearer the-token-of-tests"}) as answer:
        lines = answer.read().decode().splitlines()
    return sum(
        int(float(line.rsplit(" ", 1)[1])) for line in lines
        if f'"{rule}"' in line and not line.startswith("#"))


def http_get(relay, path, headers):
    import urllib.request
    return urllib.request.urlopen(
        urllib.request.Request(relay.url + path, headers=headers), timeout=PATIENCE_S)


def limits(relay):
    """Uploads beyond a limit are refused, and count as such."""
    files = Files(relay)
    problem(files.create(100_001), 413, code="limit_reached", field="file_bytes")
    for _ in range(3):
        path = status(files.create(50_000), 201).headers["Location"]
    problem(files.create(1), 409, code="limit_reached", field="uploads_per_user")
    status(files.ask("DELETE", path, TUS), 204)
    # Unfinished uploads count with their whole length.
    problem(files.create(60_000), 409, code="limit_reached", field="files_bytes_per_user")
    status(files.create(50_000), 201)
    others = [Files(relay, user) for user in ("bo", "cy", "di")]
    for other in others[:2]:
        status(other.create(100_000), 201)
    problem(others[2].create(60_000), 507, code="unavailable")
    for rule in ("limits.file_bytes", "limits.uploads_per_user", "limits.files_bytes_per_user",
                 "files.bytes"):
        assert violations(relay, rule) == 1, rule


def paced(relay):
    """A user who sends too much is slowed, over all uploads, and loses nothing."""
    files = Files(relay)
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(files.upload, [os.urandom(1_500_000)] * 2))
    took = time.monotonic() - began
    # A second's worth at once, and then a megabyte per second.
    assert took > 1.5, took
    assert violations(relay, "limits.file_bytes_per_s") > 0


def silent(relay):
    """An upload whose client falls silent is answered after the idle timeout, and goes on."""
    files = Files(relay)
    path = status(files.create(10), 201).headers["Location"]
    connection = socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S)
    connection.sendall((
        f"PATCH {path}?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\n"
        "Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\n"
        "Content-Length: 10\r\n\r\nhello").encode())
    assert connection.recv(65_536).startswith(b"HTTP/1.1 408 ")
    status(files.append(path, 5, b"world"), 204)
    # The one who comes last goes on, the other one is told.
    path = status(files.create(10), 201).headers["Location"]
    first = socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S)
    first.sendall((
        f"PATCH {path}?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\n"
        "Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\n"
        "Content-Length: 10\r\n\r\nhello").encode())
    wait(lambda: files.progress(path).headers["Upload-Offset"] == "5", "nothing has arrived")
    status(files.append(path, 5, b"wo"), 204)
    first.sendall(b"world")
    assert first.recv(65_536).startswith(b"HTTP/1.1 409 ")
    assert status(files.append(path, 7, b"rld"), 204).headers["Upload-Offset"] == "10"


def pages(relay):
    """A page of an allowed origin uploads and reads, another one does not."""
    files = Files(relay)
    origin = {"Origin": "https://chat.example.org"}
    preflight = status(files.ask("OPTIONS", "/v1/files", {
        **origin, "Access-Control-Request-Method": "POST"}, user=""), 204)
    assert "Upload-Length" in preflight.headers["Access-Control-Allow-Headers"]
    assert "POST" in preflight.headers["Access-Control-Allow-Methods"]
    created = status(files.create(5, **origin), 201)
    exposed = created.headers["Access-Control-Expose-Headers"]
    assert "Location" in exposed and "Upload-Offset" in exposed and "Tus-Resumable" in exposed
    problem(files.create(5, Origin="https://evil.example.org"), 403)


def peer(relay):
    """tuspy, another implementation of tus, uploads and goes on."""
    project = pathlib.Path(__file__).resolve().parents[3]
    folder = pathlib.Path(subprocess.check_output(
        [project / "config/tool", "tuspy", "1.1.0"], text=True).strip())
    sys.path += map(str, folder.glob("lib/python3*/site-packages"))
    from tusclient.client import TusClient
    client = TusClient(f"{relay.url}/v1/files?user=ada")
    content = os.urandom(1_000_000)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.bin"
        path.write_bytes(content)
        first = client.uploader(str(path), chunk_size=100_000, metadata={"filename": "a.bin"})
        first.set_url(f"{relay.url}{status(Files(relay).create(len(content)), 201).headers['Location']}?user=ada")
        first.upload_chunk()
        second = client.uploader(str(path), chunk_size=300_000, url=first.url, upload_checksum=True)
        assert second.offset == 100_000
        second.upload()
    files = Files(relay)
    location = first.url[len(relay.url):].split("?")[0]
    files.show(location, "general")
    assert status(files.ask("GET", location), 200).content == content


def chunk(kind, data):
    return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")


def png(width, height, *more):
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    rows = b"".join(b"\0" + bytes([y % 256, 80, 160]) * width for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"".join(more)
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pictures(relay):
    """A picture is what the relay has made of it; what cannot be decoded is a file to download."""
    files = Files(relay)
    secret = b"GPS 52.5200 N 13.4050 E"
    path = files.upload(png(900, 300, chunk(b"tEXt", b"Comment\0" + secret)))
    entry = files.entry("general", files.show(path, "general", "a.png"))
    assert entry["media_type"] in ("image/webp", "image/jpeg"), entry
    assert (entry["width"], entry["height"]) == (900, 300), entry
    thumbnail = entry["thumbnail"]
    assert thumbnail["width"] == 640 and 212 <= thumbnail["height"] <= 214, thumbnail
    assert 16 <= len(base64.b64decode(thumbnail["placeholder"])) <= 30, thumbnail
    progress = status(files.progress(path), 200).headers
    assert progress["Upload-Offset"] == progress["Upload-Length"], "it is complete, whatever was made of it"
    shown = status(files.ask("GET", path), 200)
    assert shown.headers["Content-Type"] == entry["media_type"] and len(shown.content) == entry["size"]
    assert shown.headers["Content-Disposition"].startswith("inline")
    small = status(files.ask("GET", path + "/thumbnail"), 200)
    assert small.headers["Content-Type"] == "image/webp", small.headers
    for content in (shown.content, small.content):
        assert secret not in content
    stored = [file.read_bytes() for file in (relay.data / "files").rglob("*") if file.is_file()]
    assert stored and not any(secret in content for content in stored)
    for content in (
            png(900, 300)[:200], b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
            b"<!doctype html><script>alert(1)</script>", b"GIF89a" + bytes(50)):
        path = files.upload(content)
        entry = files.entry("general", files.show(path, "general", "b.png"))
        assert "thumbnail" not in entry and "width" not in entry, entry
        answer = status(files.ask("GET", path), 200)
        assert answer.headers["Content-Disposition"].startswith("attachment"), answer.headers
        assert answer.headers["Content-Type"] in ("application/octet-stream", "text/plain; charset=utf-8")
        problem(files.ask("GET", path + "/thumbnail"), 404)


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
    for name in (f"localhost:{relay.port}", "localhost", "LocalHost:1"):
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


def thumbnails(relay):
    """A thumbnail is a PNG for those who accept only that. However many ask, one after the other is converted."""
    # A relay beside a program that says when it converts. It runs without an environment.
    folder, log = relay.folder / "bin", relay.folder / "conversions"
    folder.mkdir()
    shutil.copy(relay.program, folder / "relay")
    real = pathlib.Path(relay.program).with_name("relay-media")
    (folder / "relay-media").write_text(
        f"#!/bin/sh\n[ $1 = png ] && echo + >>{log}\n{real} $1\n[ $1 = png ] && echo - >>{log}\n:\n")
    (folder / "relay-media").chmod(0o755)
    relay.stop()
    relay.program = folder / "relay"
    relay.start()
    files = Files(relay)
    paths = [files.upload(png(900, 300 + n)) for n in range(4)]
    seqs = [files.show(path, "general", "a.png") for path in paths]
    only_png = {"Accept": "image/png"}
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(
            lambda n: Files(relay, f"user{n}").ask("GET", paths[n % 4] + "/thumbnail", only_png), range(200)))
    for n, answer in enumerate(answers):
        assert status(answer, 200).headers["Content-Type"] == "image/png"
        assert answer.content == answers[n % 4].content and answer.content.startswith(b"\x89PNG\r\n\x1a\n")
        assert int.from_bytes(answer.content[16:20], "big") == 640
    assert log.read_text() == "+\n-\n" * 4, log.read_text()
    path = paths[0] + "/thumbnail"
    made, small = answers[0], status(files.ask("GET", path, {"Accept": "image/png, image/webp"}), 200)
    assert small.headers["Content-Type"] == "image/webp"
    assert small.headers["Vary"] == made.headers["Vary"] == "Accept"
    tag = made.headers["ETag"]
    assert tag != small.headers["ETag"]
    same = status(files.ask("GET", path, {**only_png, "If-None-Match": tag}), 304)
    assert same.headers["ETag"] == tag and same.headers["Vary"] == "Accept"
    status(files.ask("GET", path, {"If-None-Match": tag}), 200)
    part = status(files.ask("GET", path, {**only_png, "Range": "bytes=1-3", "If-Range": tag}), 206)
    assert part.content == b"PNG"
    # A file itself is what it is.
    whole = status(files.ask("GET", paths[0], only_png), 200)
    assert whole.headers["Content-Type"] != "image/png" and "Vary" not in whole.headers
    # A PNG goes with its file, and none is left of an earlier relay.
    relay.send("ada", "general", {"kind": "delete", "target": seqs[0]})
    kept = relay.data / "files" / "png"
    wait(lambda: len(list(kept.iterdir())) == 3, "the PNG of a deleted file is still there")
    problem(files.ask("GET", path, only_png), 404)
    relay.kill()
    relay.start()
    wait(lambda: not list(kept.iterdir()), "the PNGs of the relay before are still there")
    assert status(files.ask("GET", paths[1] + "/thumbnail", only_png), 200).content == answers[1].content
    # What cannot be converted is refused, and WebP is still there.
    relay.stop()
    (folder / "relay-media").write_text("#!/bin/sh\nexit 1\n")
    relay.start()
    problem(files.ask("GET", paths[1] + "/thumbnail", only_png), 503, code="unavailable")
    status(files.ask("GET", paths[1] + "/thumbnail"), 200)


CONFIGURATIONS = {
    "pictures": WITHOUT_LIMITS,
    "thumbnails": WITHOUT_LIMITS.replace(" }", ", unauthenticated_per_address: 0 }"),
    "conformance": WITHOUT_LIMITS, "serving": WITHOUT_LIMITS, "links": WITHOUT_LIMITS,
    "removal": WITHOUT_LIMITS, "peer": WITHOUT_LIMITS,
    "killed": WITHOUT_LIMITS.replace(" }", ", file_bytes_per_s: 0 }"),
    "memory": WITHOUT_LIMITS.replace(" }", ", unauthenticated_per_address: 0 }"),
    "slow": WITHOUT_LIMITS.replace(" }", ", heartbeat_s: 1, idle_timeout_s: 2 }"),
    "silent": WITHOUT_LIMITS.replace(" }", ", heartbeat_s: 1, idle_timeout_s: 2 }"),
    "paced": WITHOUT_LIMITS.replace(" }", ", file_bytes_per_s: 1000000 }"),
    "limits": WITHOUT_LIMITS.replace(
        " }", ", file_bytes: 100000, uploads_per_user: 3, files_bytes_per_user: 150000 }")
    + "\nfiles: { bytes: 350000 }",
    "host": WITHOUT_LIMITS + "\nfiles: { host: localhost }",
    "pages": "auth: { origins: [https://chat.example.org] }",
}


def main(case, configuration):
    with tempfile.TemporaryDirectory() as folder:
        relay = Relay(
            sys.argv[2], folder, f"metrics: {{ token: the-token-of-tests }}\n{configuration}")
        case(relay)
        relay.stop()
    print("good")


if __name__ == "__main__":
    main(globals()[sys.argv[1]], CONFIGURATIONS[sys.argv[1]])
