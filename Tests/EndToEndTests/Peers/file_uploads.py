"""Uploads by tus 1.0.0. Run with the name of a case and the program relay."""
import base64
import concurrent.futures
import email.utils
import hashlib
import http.client
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

from files import PART, TUS, Files, main, problem, status, stored, violations
from relay import PATIENCE_S, WITHOUT_LIMITS, wait

WRONG = "sha1 " + base64.b64encode(hashlib.sha1(b"wrong").digest()).decode()


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
    # Whatever it stands for, the method of the request decides whether the answer has content: what follows on the connection is
    # the next answer.
    text = files.upload(b"HTTP/1.1 200 OK\r\n\r\n")
    files.show(text, "general")
    for method, meant in (("HEAD", "GET"), ("GET", "HEAD"), ("HEAD", "HEAD")):
        connection = http.client.HTTPConnection("127.0.0.1", relay.port, timeout=PATIENCE_S)
        connection.request(method, f"{text}?user=ada", headers={"X-HTTP-Method-Override": meant})
        answer = status(connection.getresponse(), 200)
        assert answer.read() == (b"" if method == "HEAD" else b"HTTP/1.1 200 OK\r\n\r\n"), (method, meant)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n", (method, meant)
        connection.close()
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


def silent(relay):
    """An upload whose client falls silent is answered after the idle timeout, and goes on."""
    files = Files(relay)

    def half_sent(path):
        connection = socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S)
        connection.sendall((
            f"PATCH {path}?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\n"
            "Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\n"
            "Content-Length: 10\r\n\r\nhello").encode())
        return connection

    path = status(files.create(10), 201).headers["Location"]
    assert half_sent(path).recv(65_536).startswith(b"HTTP/1.1 408 ")
    status(files.append(path, 5, b"world"), 204)
    # The one who comes last goes on, the other one is told.
    path = status(files.create(10), 201).headers["Location"]
    first = half_sent(path)
    wait(lambda: files.progress(path).headers["Upload-Offset"] == "5", "nothing has arrived")
    status(files.append(path, 5, b"wo"), 204)
    first.sendall(b"world")
    assert first.recv(65_536).startswith(b"HTTP/1.1 409 ")
    assert status(files.append(path, 7, b"rld"), 204).headers["Upload-Offset"] == "10"


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


def paced_together(relay):
    """Users whose uploads are too much together are slowed, each in the same way."""
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda user: Files(relay, user).upload(os.urandom(8_000_000)), ["ada", "bo"]))
    took = time.monotonic() - began
    # A second's worth of each at once, half a second without a price, and then 4 MB per second.
    assert took > 1, took
    assert violations(relay, "limits.file_bytes_per_s") > 0


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


CONFIGURATIONS = {
    "conformance": WITHOUT_LIMITS, "peer": WITHOUT_LIMITS,
    "pages": "auth: { origins: [https://chat.example.org] }",
    "killed": WITHOUT_LIMITS.replace(" }", ", file_bytes_per_s: 0 }"),
    "silent": WITHOUT_LIMITS.replace(" }", ", heartbeat_s: 1, idle_timeout_s: 2 }"),
    "paced_together": WITHOUT_LIMITS.replace(" }", ", file_bytes_per_s: 0 }") + "\nfiles: { bytes_per_s: 4000000 }",
    "paced": WITHOUT_LIMITS.replace(" }", ", file_bytes_per_s: 1000000 }"),
    "limits": WITHOUT_LIMITS.replace(
        " }", ", file_bytes: 100000, uploads_per_user: 3, files_bytes_per_user: 150000 }")
    + "\nfiles: { bytes: 350000 }",
    "memory": WITHOUT_LIMITS.replace(" }", ", unauthenticated_per_address: 0 }"),
}


if __name__ == "__main__":
    main(globals()[sys.argv[1]], CONFIGURATIONS[sys.argv[1]])
