"""What the worst user does to files, one case each. Run with the name of a case and the program relay."""
import base64
import concurrent.futures
import hashlib
import json
import os
import secrets
import socket
import sys
import threading
import time
import zlib

from files import PART, TUS, Files, chunk, main, problem, status, violations
from relay import PATIENCE_S, WITHOUT_LIMITS, wait

LARGEST = 2**63 - 1


def raw(relay, head, content=b""):
    """Sends what no library would; returns the status."""
    with socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S) as connection:
        lines = [*head, "Host: 127.0.0.1", "Connection: close", "", ""]
        connection.sendall("\r\n".join(lines).encode("utf-8", "surrogateescape") + content)
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 "), (head, answer)
    return int(answer[9:12])


def together(count, act, at_once=32):
    """Returns what this number of calls return, many of them at the same time."""
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(act, range(count)))


def room_bytes(relay):
    return sum(path.stat().st_size for path in (relay.data / "files").rglob("*") if path.is_file())


def headers(relay):
    """Whatever the headers of an upload say, they are refused or mean what they say."""
    files = Files(relay)
    path, file = status(files.create(10), 201).headers["Location"], files.upload(b"complete")
    sent = files.upload(b"sent")
    files.show(sent, "general")
    for offset in (LARGEST, LARGEST - 1, 11):
        for content in (b"", b"x", b"x" * 70_000):
            for upload in (path, file, sent):
                answer = files.append(upload, offset, content)
                assert answer.status in (409, 413), (upload, offset, answer.status, answer.content)
    for offset in (2**63, 2**64, 10**40, -1, "0x1", "1e1", "+1", "٣", " ", "0, 0"):
        problem(files.ask("PATCH", path, {**PART, "Upload-Offset": str(offset).encode()}, b"x"), 400)
    twice = [f"PATCH {path}?user=ada HTTP/1.1", *(f"{name}: {value}" for name, value in PART.items()),
             "Content-Length: 1", "Upload-Offset: 0"]
    assert raw(relay, [*twice, "Upload-Offset: 0"], b"x") == 400
    assert raw(relay, [*twice, "Tus-Resumable: 1.0.0"], b"x") == 412
    assert raw(relay, [*twice, "Content-Length: 2"], b"xx") == 400
    assert files.progress(path).headers["Upload-Offset"] == "0"
    # Zeros before a number do not change it.
    status(files.ask("PATCH", path, {**PART, "Upload-Offset": "0" * 1000}, b"hello"), 204)
    for length, expected in (
            (LARGEST, 413), (2**63, 400), (10**40, 400), (-1, 400), ("", 400), ("0" * 400 + "5", 201)):
        assert files.create(length).status == expected, length
    create = ["POST /v1/files?user=ada HTTP/1.1", "Tus-Resumable: 1.0.0", "Content-Length: 0"]
    assert raw(relay, [*create, "Upload-Length: 1", "Upload-Length: 1"]) == 400
    for metadata, expected in (
            ("a", 201), ("," * 2000, 201), (",".join(f"k{n}" for n in range(400)), 201),
            (",".join(f"k{n}" for n in range(600)), 413), ("a " + "A" * 2048, 413), ("a " + "A" * 9000, 431),
            ("a \xff", 400), ("a YQ", 400), ("a =", 400), ("a,a", 400), ("a b c", 400)):
        answer = files.ask(
            "POST", "/v1/files", {**TUS, "Upload-Length": "1", "Upload-Metadata": metadata.encode("latin-1")})
        assert answer.status == expected, (metadata[:40], answer.status)
    for checksum in ("", " ", "sha1", "sha1 ", "sha1  ", "SHA1 " + "A" * 28, "sha1 " + "A" * 28, "sha256 " + "A" * 28,
                     "sha1 " + "A" * 4000, "md5 1B2M2Y8AsgTpgAmY7PhCfg==", "sha1\t" + "A" * 28):
        answer = files.append(path, 5, b"world", Upload_Checksum=checksum)
        assert answer.status in (400, 460), (checksum[:40], answer.status)
    assert status(files.append(path, 5, b"world"), 204).headers["Upload-Offset"] == "10"


def names(relay):
    """A path that names no file is refused as one of others, whatever it is."""
    files = Files(relay)
    file = files.upload(b"hello")
    files.show(file, "general")
    name = file.rsplit("/", 1)[1]
    for path in (
            "..", "%2e%2e", "%2e%2e%2f%2e%2e%2frelay.db", "..%2f" + name, name + "%00", "%00", name + "%2f..", name[:-1],
            name + "x", name.lower() + "%20", "%ff" * 22, "%ed%a0%80" * 7 + "x", "%F0%9F%90%88" * 5, "x" * 7000, "%25" * 22,
            "link.key", "uploads", f"{hashlib.sha256(b'hello').hexdigest()}", "-" * 22):
        for answer in (
                files.ask("GET", f"/v1/files/{path}"), files.ask("GET", f"/v1/files/{path}/thumbnail"),
                files.ask("POST", f"/v1/files/{path}/link"), files.ask("DELETE", f"/v1/files/{path}", TUS),
                files.append(f"/v1/files/{path}", 0, b"x"), files.progress(f"/v1/files/{path}"),
                files.ask("GET", f"/v1/files/{path}?by=ada&until={LARGEST}&sig=x", user="")):
            assert answer.status == 404, (path, answer.status, answer.content)
    assert raw(relay, [f"GET /v1/files/{'x' * 8000}?user=ada HTTP/1.1", "X: " + "x" * 200]) == 431
    for given in (name, name + "%00", "../" + name):
        answer = relay_answer(relay, {"kind": "file", "file": given, "name": "a"})
        assert (answer["type"] == "ack") == (given == name), answer
    assert status(files.ask("GET", file), 200).content == b"hello"


def relay_answer(relay, entry, user="ada", room="general"):
    content = json.dumps([{"type": "send", "room": room, "id": secrets.token_hex(12), **entry}])
    answer = Files(relay, user).ask(
        "POST", "/v1/requests", {"Content-Type": "application/json"}, content.encode())
    return json.loads(status(answer, 200).content)[0]


def ranges(relay):
    """A Range gets a part, the whole or 416, whatever it asks for, and never more than the file."""
    files = Files(relay)
    content = os.urandom(1000)
    file = files.upload(content)
    files.show(file, "general")
    whole = (200, content)
    for given, expected in (
            ("bytes=" + ",".join(f"{n}-{n}" for n in range(1000)), whole), ("bytes=0-999,0-999,0-999", whole),
            ("bytes=-0", (416, None)), (f"bytes={LARGEST}-", (416, None)), (f"bytes=-{2**64}", (206, content)),
            (f"bytes=0-{LARGEST}", (206, content)), (f"bytes=0-{10**300}", (206, content)),
            (f"bytes={10**300}-{10**301}", (416, None)), ("bytes=999-999", (206, content[999:])), ("bytes=5-4", whole),
            ("bytes=--5", whole), ("bytes=-", whole), ("bytes=", whole), ("bytes", whole), ("items=0-1", whole),
            ("bytes=0-1;2", whole), ("bytes= 0-1", whole)):
        answer = files.ask("GET", file, {"Range": given})
        assert answer.status == expected[0], (given[:40], answer.status)
        assert expected[1] in (None, answer.content), given[:40]
    twice = [f"GET {file}?user=ada HTTP/1.1", "Range: bytes=0-1", "Range: bytes=2-3"]
    assert raw(relay, twice) == 200


def tiny(relay):
    """Each file and upload counts as a block of the disk: tiny ones fill a limit of bytes, too."""
    files = Files(relay)
    made = [answer.status for answer in together(40, lambda n: files.ask(
        "POST", "/v1/files", {**PART, "Upload-Length": str(n % 2)}, b"x" * (n % 2)))]
    # The limit is ten blocks.
    assert made.count(201) == 10 and set(made) == {201, 409}, made
    problem(files.create(0), 409, code="limit_reached", field="files_bytes_per_user")
    assert len(list(relay.data.glob("files/uploads/*"))) == 0
    others = Files(relay, "bo")
    problem(others.create(40_961), 409, field="files_bytes_per_user")
    # Uploads count from their start, and those of many users for the relay.
    for _ in range(10):
        path = status(others.create(1), 201).headers["Location"]
    problem(others.create(1), 409, field="files_bytes_per_user")
    status(others.ask("DELETE", path, TUS), 204)
    status(others.create(1), 201)


def races(relay):
    """Uploads and entries at the same time do not exceed a limit together."""
    content = os.urandom(30_000)

    def grab(n):
        return Files(relay).ask(
            "POST", "/v1/files", {**PART, "Upload-Length": "30000"}, content).status

    for _ in range(3):
        user_files = Files(relay)
        made = together(24, grab, 24)
        assert made.count(201) == 3 and set(made) == {201, 409}, made
        problem(user_files.create(20_000), 409, field="files_bytes_per_user")
        # What is sent counts as it did.
        kept = [name for name in uploaded(relay, "ada")]
        assert len(kept) == 3, kept
        for name in kept[1:]:
            status(user_files.ask("DELETE", f"/v1/files/{name}", TUS), 204)
        sends = together(12, lambda n: relay_answer(relay, {"kind": "file", "file": kept[0], "name": "a"}), 12)
        stored = [answer["seq"] for answer in sends if answer["type"] == "ack"]
        refused = {answer["field"] for answer in sends if answer["type"] == "error"}
        assert len(stored) == 3 and refused == {"files_bytes_per_user"}, sends
        relay.send("ada", "general", *({"kind": "delete", "target": seq} for seq in stored))


def uploaded(relay, user):
    """The files of a user that no entry names."""
    import sqlite3
    with sqlite3.connect(f"file:{relay.data}/relay.db?mode=ro", uri=True) as database:
        return [row[0] for row in database.execute("SELECT id FROM files WHERE owner = ? AND sent = 0", [user])]


def floods(relay):
    """What costs nothing to ask is answered at the rate of its user, and for strangers at that of their address."""
    files = Files(relay)
    file = files.upload(b"hello")
    files.show(file, "general")
    upload = status(Files(relay, "bo").create(10), 201).headers["Location"]
    for what, user, ask in (
            ("links", "cy", lambda user: user.ask("POST", file + "/link")),
            ("wrong offsets", "bo", lambda user: user.append(upload, 5, b"x")),
            ("HEAD", "di", lambda user: user.progress(upload)),
            ("POST and DELETE", "ed", lambda user: user.create(1)),
            ("thumbnails", "fay", lambda user: user.ask("GET", file + "/thumbnail", {"Accept": "image/png"}))):
        began = time.monotonic()
        answers = together(400, lambda n: ask(Files(relay, user)).status)
        # At once what a second has, and that much per second.
        allowed = 20 * (time.monotonic() - began + 1) + 1
        served = len(answers) - answers.count(429)
        assert served <= allowed and 429 in answers, (what, served, allowed)
    answers = together(600, lambda n: Files(relay, "").ask(
        "GET", f"{file}?by=ada&until={2**50}&sig={secrets.token_urlsafe(32)}").status)
    assert set(answers) == {404, 429}, set(answers)
    assert answers.count(404) < 400, answers.count(404)
    assert violations(relay, "limits.unauthenticated_per_s") > 0
    assert status(files.ask("GET", file), 200).content == b"hello"


def checksums(relay):
    """Content that does not have its checksum leaves nothing, however often it comes."""
    files = Files(relay)
    path = status(files.create(1_000_000), 201).headers["Location"]
    wrong = "sha256 " + base64.b64encode(bytes(32)).decode()
    answers = together(40, lambda n: files.append(
        path, 0, os.urandom(400_000), Upload_Checksum=wrong).status, 8)
    assert set(answers) <= {460, 409}, set(answers)
    assert files.progress(path).headers["Upload-Offset"] == "0"
    assert room_bytes(relay) < 1000, "what was refused is still there"
    content = os.urandom(1_000_000)
    right = "sha256 " + base64.b64encode(hashlib.sha256(content).digest()).decode()
    status(files.append(path, 0, content, Upload_Checksum=right), 204)


def broken(relay):
    """Uploads whose client goes before it knows their names are gone, and block none."""
    files = Files(relay)
    head = ("POST /v1/files?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nTus-Resumable: 1.0.0\r\nUpload-Length: 100\r\n"
            "Content-Type: application/offset+octet-stream\r\nContent-Length: 100\r\n\r\n")
    for _ in range(2):
        peers = []
        for _ in range(20):
            peers.append(socket.create_connection(("127.0.0.1", relay.port), timeout=PATIENCE_S))
            peers[-1].sendall(head.encode() + b"x" * 10)
        wait(lambda: len(list(relay.data.glob("files/uploads/*.json"))) == 20, "the uploads have not begun")
        problem(files.create(1), 409, field="uploads_per_user")
        for peer in peers:
            peer.close()
        wait(lambda: not list(relay.data.glob("files/uploads/*")), "the uploads are still there")
    status(files.create(1), 201)


def slow_picture():
    """A small file of very many pixels."""
    width = height = 4000
    packed = zlib.compressobj(1)
    row = b"\0" + bytes([9, 80, 160]) * width
    rows = b"".join(packed.compress(row) for _ in range(height)) + packed.flush()
    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def turns(relay):
    """Pictures that take long hold up the uploads of their own user only."""
    picture, done, lock = slow_picture(), [], threading.Lock()

    def upload(n):
        # Its relay waits for 30 s, and the client asks again.
        answer = Files(relay, "mallory").ask(
            "POST", "/v1/files", {**PART, "Upload-Length": str(len(picture))}, picture)
        with lock:
            done.append(answer.status)

    attackers = [threading.Thread(target=upload, args=[n]) for n in range(8)]
    for thread in attackers:
        thread.start()
    wait(lambda: done, "no picture is decoded")
    before = len(done)
    Files(relay).upload(b"hello")
    after = len(done)
    for thread in attackers:
        thread.join()
    print(f"{after - before} of {8 - before} pictures came first", file=sys.stderr)
    assert after - before <= 3, (before, after)
    assert set(done) <= {201, 503}, done


def banned(relay):
    """A user who may not read a room any more gets no byte of its files, by no link either."""
    files, guest = Files(relay), Files(relay, "bo")
    relay.send("ada", "club", {"kind": "settings", "title": "Club", "access": "private"})
    relay.send("ada", "club", {"kind": "member", "user": "bo", "role": "member"})
    content = os.urandom(100_000)
    file = files.upload(content)
    files.show(file, "club")
    assert status(guest.ask("GET", file), 200).content == content
    link = json.loads(status(guest.ask("POST", file + "/link"), 200).content)["url"]
    assert status(guest.ask("GET", link, user=""), 200).content == content
    relay.send("ada", "club", {"kind": "member", "user": "bo", "role": "banned"})
    tag = f'"{hashlib.sha256(content).hexdigest()}"'
    for answer in (
            guest.ask("GET", file), guest.ask("GET", file, {"If-None-Match": tag}), guest.ask("HEAD", file),
            guest.ask("GET", file, {"Range": "bytes=0-0"}), guest.ask("GET", link, user=""),
            guest.ask("POST", file + "/link"), guest.progress(file)):
        assert answer.status == 404, (answer.status, answer.content)
    assert relay_answer(relay, {"kind": "file", "file": file.rsplit("/", 1)[1], "name": "a"}, "bo")["code"] == "no_such_entry"
    assert status(files.ask("GET", file), 200).content == content


def named(relay):
    """A file that thousands of entries of hundreds of rooms name goes with the last one, and none of them takes long."""
    files = Files(relay)
    file = files.upload(b"hello")
    name = file.rsplit("/", 1)[1]
    entry = {"kind": "file", "file": name, "name": "a"}
    seqs = {f"r{n}": relay.send("ada", f"r{n}", *[entry] * 3) for n in range(300)}
    seqs["general"] = relay.send("ada", "general", *[entry] * 1000)
    assert status(Files(relay, "bo").ask("GET", file), 200).content == b"hello"
    longest = 0

    def remove(room):
        relay.send("ada", room, *({"kind": "delete", "target": seq} for seq in seqs[room]))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        removals = [pool.submit(remove, room) for room in seqs]
        while not all(removal.done() for removal in removals):
            began = time.monotonic()
            relay.send("bo", "honest", "hello")
            longest = max(longest, time.monotonic() - began)
        for removal in removals:
            removal.result()
    print(f"an honest send took {longest * 1000:.0f} ms at most", file=sys.stderr)
    wait(lambda: not list(relay.data.glob("files/??/*")), "the bytes are still there")
    problem(files.ask("GET", file), 404)
    relay.stop()
    relay.start()
    assert not list(relay.data.glob("files/??/*"))


CONFIGURATIONS = {
    "headers": WITHOUT_LIMITS, "names": WITHOUT_LIMITS.replace(" }", ", unauthenticated_per_s: 0 }"),
    "ranges": WITHOUT_LIMITS, "banned": WITHOUT_LIMITS, "named": WITHOUT_LIMITS,
    "tiny": WITHOUT_LIMITS.replace(" }", ", files_bytes_per_user: 40960, unauthenticated_per_address: 0 }"),
    "races": WITHOUT_LIMITS.replace(" }", ", files_bytes_per_user: 100000, unauthenticated_per_address: 0 }"),
    "floods": "limits: { requests_per_s: 20, unauthenticated_per_s: 50, unauthenticated_per_address: 0, uploads_per_user: 0 }",
    "checksums": WITHOUT_LIMITS.replace(" }", ", file_bytes_per_s: 0 }"),
    "turns": WITHOUT_LIMITS, "broken": WITHOUT_LIMITS,
}


if __name__ == "__main__":
    main(globals()[sys.argv[1]], CONFIGURATIONS[sys.argv[1]])
