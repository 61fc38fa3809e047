"""Files of several relays on one PostgreSQL, whose bytes are in a bucket. Run with the name of a case, the program relay
and the URL of PostgreSQL."""
import base64
import hashlib
import http.client
import json
import os
import pathlib
import re
import resource
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import s3_server
from files import PART, Files, problem, status
from moto_server import BUCKET, REGION, MotoServer
from relay import PATIENCE_S, WITHOUT_LIMITS, Relay, wait


def start(program, url, s3, folder, count, limits=WITHOUT_LIMITS, bucket="pages", region=s3_server.REGION):
    """Starts relays, each with a folder of its own."""
    os.environ.update(AWS_ACCESS_KEY_ID=s3_server.KEY_ID, AWS_SECRET_ACCESS_KEY=s3_server.SECRET)
    relays = []
    for number in range(count):
        own = pathlib.Path(folder) / str(number)
        own.mkdir()
        relays.append(Relay(program, own, f"""
log: {{ engine: postgresql, url: "{url}", durability: os }}
files: {{ s3: {{ endpoint: "{s3.url}", bucket: {bucket}, region: {region} }} }}
{limits}"""))
    return relays


def shared(relays, s3):
    """What one relay has stored is sent by another and read from a third, and goes with its entry."""
    first, second, third = (Files(relay) for relay in relays)
    content = secrets.token_bytes(300_000)
    path = first.upload(content)
    relays[0].kill()
    seq = second.show(path, "general")
    assert status(third.ask("GET", path), 200).content == content
    part = status(third.ask("GET", path, {"Range": "bytes=131000-262200"}), 206)
    assert part.content == content[131000:262201]
    assert part.headers["Content-Range"] == "bytes 131000-262200/300000"
    relays[0].start()
    # A link of one relay is good at all.
    link = status(first.ask("POST", path + "/link"), 200)
    url = json.loads(link.content)["url"]
    assert status(second.ask("GET", url, user=""), 200).content == content
    # The same content again has an object of its own, so that no relay removes what another one stores.
    other = third.upload(content)
    assert len(s3.objects["pages"]) == 2
    last = third.show(other, "general")
    relays[2].send("ada", "general", {"kind": "delete", "target": seq})
    began = time.monotonic()
    wait(lambda: len(s3.objects["pages"]) == 1, "the object is still there")
    took = time.monotonic() - began
    assert took < 3, took
    problem(first.ask("GET", path), 404, code="no_such_entry")
    assert status(first.ask("GET", other), 200).content == content
    relays[0].send("ada", "general", {"kind": "delete", "target": last})
    wait(lambda: not s3.objects["pages"], "the other object is still there")
    print(f"gone after {took:.1f} s", file=sys.stderr)


def kept(s3):
    """The names of the objects that are files."""
    return [key for key in s3.objects["pages"] if key.startswith("files/")]


def parts(s3):
    return [key for key in s3.objects["pages"] if key.startswith("uploads/")]


class Appending:
    """A request that appends to an upload, whose content comes bit by bit."""

    def __init__(self, files, path, offset, size):
        self.connection = http.client.HTTPConnection("127.0.0.1", files.relay.port, timeout=PATIENCE_S)
        self.connection.putrequest("PATCH", f"{path}?user={files.user}")
        for name, value in {**PART, "Upload-Offset": offset, "Content-Length": size}.items():
            self.connection.putheader(name, str(value))
        self.connection.endheaders()

    def send(self, content):
        self.connection.send(content)

    def answer(self):
        answer = self.connection.getresponse()
        answer.content = answer.read()
        return answer


def moved(relays, s3):
    """The relay of an upload is killed in the middle of a request, and the upload goes on at another one."""
    first, second, third = (Files(relay) for relay in relays)
    content = secrets.token_bytes(12_000_000)
    path = status(first.create(len(content), Upload_Metadata="filename eA=="), 201).headers["Location"]
    told = 1_000_000
    wrong, right = (
        "sha1 " + base64.b64encode(hashlib.sha1(part).digest()).decode() for part in (b"wrong", content[:told]))
    problem(first.append(path, 0, content[:told], Upload_Checksum=wrong), 460)
    assert second.progress(path).headers["Upload-Offset"] == "0"
    assert status(first.append(path, 0, content[:told], Upload_Checksum=right), 204).headers["Upload-Offset"] == str(told)
    assert second.progress(path).headers["Upload-Offset"] == str(told)
    request = Appending(first, path, told, len(content) - told)
    request.send(content[told:9_000_000])
    wait(lambda: sum(map(len, s3.objects["pages"].values())) > 5_000_000, "nothing is shared")
    relays[0].kill()
    head = status(second.progress(path), 200).headers
    offset = int(head["Upload-Offset"])
    assert told + 4_000_000 < offset <= 9_000_000, offset
    assert head["Upload-Length"] == str(len(content)) and head["Upload-Metadata"] == "filename eA=="
    # Of another user there is none.
    problem(Files(relays[1], "eve").append(path, offset, content[offset:]), 404)
    status(Files(relays[1], "eve").progress(path), 404)
    half = (offset + len(content)) // 2
    status(second.append(path, offset, content[offset:half]), 204)
    # The relay that was killed is like any other.
    relays[0].start()
    assert first.progress(path).headers["Upload-Offset"] == str(half)
    status(second.append(path, half, content[half:]), 204)
    second.show(path, "general")
    assert status(third.ask("GET", path), 200).content == content
    wait(lambda: not parts(s3), "the parts are still there")
    assert first.progress(path).headers["Upload-Offset"] == str(len(content))


def frozen(relays, s3):
    """A relay that was frozen in a request goes on while the upload is at another one: it adds nothing to it."""
    first, second = Files(relays[0]), Files(relays[1])
    base, late, good = b"1" * 5_000_000, b"2" * 5_000_000, b"3" * 5_000_000
    path = status(first.create(15_000_000), 201).headers["Location"]
    status(first.append(path, 0, base), 204)
    request = Appending(first, path, len(base), len(late))
    request.send(late[:4_500_000])
    wait(lambda: sum(map(len, s3.objects["pages"].values())) > 9_000_000, "nothing is shared")
    relays[0].process.send_signal(signal.SIGSTOP)
    offset = int(status(second.progress(path), 200).headers["Upload-Offset"])
    begun = base + late[:offset - len(base)]
    status(second.append(path, offset, good), 204)
    relays[0].process.send_signal(signal.SIGCONT)
    request.send(late[4_500_000:])
    refused = problem(request.answer(), 409, field="Upload-Offset")
    assert b"Another request goes on with this upload" in refused.content
    told = int(first.progress(path).headers["Upload-Offset"])
    assert told == offset + len(good), told
    status(second.append(path, told, b"4" * (15_000_000 - told)), 204)
    second.show(path, "general")
    assert status(first.ask("GET", path), 200).content == begun + good + b"4" * (15_000_000 - told)
    wait(lambda: not parts(s3), "the parts are still there")


def orphans(relays, s3):
    """What the log never knew is found once a day, by its age; what it knows stays."""
    files = Files(relays[0])
    path = files.upload(b"known")
    files.show(path, "general")
    digest = hashlib.sha256(b"lost").hexdigest()
    names = [f"files/{digest}-{secrets.token_urlsafe(16)}" for _ in range(5)]
    day = 86_400
    for number, name in enumerate(names):
        s3.objects["pages"][name] = b"lost"
        s3.stored_at["pages", name] = time.time() - (day + 60 if number else day - 600)
    for name in kept(s3):
        if name not in names:
            s3.stored_at["pages", name] -= 2 * day
    # Its first search is at its start.
    relays[0].stop()
    relays[0].start()
    wait(lambda: len(kept(s3)) == 2, lambda: f"left: {kept(s3)}")
    assert names[0] in kept(s3), "it is younger than a day"
    assert status(files.ask("GET", path), 200).content == b"known"


def large(relays, s3):
    """A file that is larger than what a relay sends in one request."""
    files = Files(relays[0])
    content = secrets.token_bytes(1 << 20) * 70
    path = files.upload(content)
    files.show(path, "general")
    assert not s3.uploads, "parts are left"
    status_of_relay = (pathlib.Path("/proc") / str(relays[0].process.pid) / "status").read_text()
    peak = int(re.search(r"VmHWM:\s+(\d+) kB", status_of_relay)[1])
    assert peak < 150_000, f"{peak} kB in memory"
    begin = (64 << 20) - 10
    part = status(files.ask("GET", path, {"Range": f"bytes={begin}-{begin + 19}"}), 206)
    assert part.content == content[begin:begin + 20]
    assert part.headers["Content-Range"].endswith(f"/{len(content)}")
    assert hashlib.sha256(status(files.ask("GET", path), 200).content).digest() == hashlib.sha256(content).digest()


def commands(relays, s3):
    """relay verify and relay export --user read the bucket; what cannot work says so."""
    def run(*arguments, status=0, without_key=False):
        environment = {name: value for name, value in os.environ.items() if not (without_key and name.startswith("AWS"))}
        done = subprocess.run(
            [relays[0].program, *arguments, "--config", relays[0].folder / "relay.yaml"], env=environment,
            capture_output=True, text=True, timeout=PATIENCE_S)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        return done

    files = Files(relays[0])
    sent, gone, unsent = (files.upload(content) for content in (b"sent" * 100_000, b"gone", b"unsent"))
    files.show(sent, "general", "sent.txt")
    files.show(gone, "general", "gone.txt")
    ids = [path.rsplit("/", 1)[1] for path in (sent, gone, unsent)]

    def key(content):
        digest = hashlib.sha256(content).hexdigest()
        return next(key for key in kept(s3) if digest in key)

    assert not run("verify").stdout.count("file")
    target = relays[0].folder / "copy"
    done = run("export", "--user", "ada", "--files", target)
    assert done.stderr.endswith(" lines, 3 files\n"), done.stderr
    found = {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert found == {
        f"{ids[0]}/sent.txt": b"sent" * 100_000, f"{ids[1]}/gone.txt": b"gone", f"{ids[2]}/not-sent": b"unsent"}, found
    objects = s3.objects["pages"]
    name = key(b"sent" * 100_000)
    whole, lost = objects[name], objects.pop(key(b"gone"))
    objects[name] = whole[:-1] + b"?"
    said = run("verify", status=3).stdout
    assert "room general, seq 1: the bytes of the file" in said and "are damaged: s3://pages/files/" in said, said
    assert "room general, seq 2: the bytes of the file" in said and "are missing: there is no s3://pages/files/" in said, said
    done = run("export", "--user", "ada", "--files", target, status=3)
    assert "bytes of 1 file of ada are missing" in done.stderr, done.stderr
    # Without credentials, and while the bucket fails.
    for arguments in (["verify"], ["export", "--user", "ada", "--files", target]):
        said = run(*arguments, status=1, without_key=True).stderr
        assert "There are no credentials for the bucket pages" in said, said
    objects[name] = whole
    s3.is_down = True
    assert "s3://pages/files cannot be reached" in run("verify", status=3).stdout
    s3.is_down = False
    assert "--files needs --user" in run("export", "--files", target, status=2).stderr
    assert "copy the bucket of the files" in run("backup", "--to", target, status=1).stderr
    assert lost == b"gone"


def moto(relays, s3):
    """Another implementation of S3 stores what relays store, lists and removes."""
    first, second, third = (Files(relay) for relay in relays)
    content = secrets.token_bytes(20_000_000)
    path = status(first.create(len(content)), 201).headers["Location"]
    status(first.append(path, 0, content[:5_000_000]), 204)
    status(first.append(path, 5_000_000, content[5_000_000:5_000_001]), 204)
    relays[0].kill()
    assert second.progress(path).headers["Upload-Offset"] == "5000001"
    status(second.append(path, 5_000_001, content[5_000_001:]), 204)
    seq = second.show(path, "general")
    assert status(third.ask("GET", path), 200).content == content
    wait(lambda: len(s3.names()) == 1 and not s3.uploads(), lambda: f"left: {s3.names()} {s3.uploads()}")
    relays[1].send("ada", "general", {"kind": "delete", "target": seq})
    wait(lambda: not s3.names(), "the object is still there")
    relays[0].start()


def down(relays, s3):
    """A bucket that fails holds up files, and nothing else."""
    files = Files(relays[0])
    content = secrets.token_bytes(50_000)
    path = files.upload(content)
    seq = files.show(path, "general")
    later = status(files.create(len(content)), 201).headers["Location"]
    s3.is_down = True
    problem(files.create(len(content)), 503, code="unavailable")
    refused = problem(files.append(later, 0, content), 503, code="unavailable")
    assert b"cannot store files now" in refused.content
    problem(files.ask("GET", path), 503, code="unavailable")
    assert relays[0].send("ada", "general", "texts go on") == [seq + 1]
    relays[0].send("ada", "general", {"kind": "delete", "target": seq})
    log = relays[0].folder / "relay.log"
    wait(lambda: "files" in log.read_text() and "503" in log.read_text(), "no word to the operator")
    s3.is_down = False
    answer = wait(lambda: (found := files.progress(later)).status == 200 and found, "not there")
    offset = int(answer.headers["Upload-Offset"])
    status(files.append(later, offset, content[offset:]), 204)
    files.show(later, "general")
    assert status(files.ask("GET", later), 200).content == content
    wait(lambda: len(kept(s3)) == 1, "what was deleted meanwhile is still there")


def waiting(relays, s3):
    """Requests that wait for a bucket that does not answer have a limit, whoever makes them."""
    limit, more = 1024, 40
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    relay = relays[0]
    files = Files(relay)
    path = status(files.create(10), 201).headers["Location"]
    head = "\r\n".join([f"PATCH {path}?user=ada HTTP/1.1", "Host: 127.0.0.1", "Content-Length: 0", "Upload-Offset: 0",
                        *(f"{name}: {value}" for name, value in PART.items()), "", ""]).encode()
    s3.answers.clear()
    peers = []
    with selectors.DefaultSelector() as selector:
        for number in range(limit + more):
            # Connections have a limit for each address.
            source = (f"127.0.0.{1 + number % 2}", 0)
            peers.append(socket.create_connection(("127.0.0.1", relay.port), PATIENCE_S, source))
            peers[-1].sendall(head)
            selector.register(peers[-1], selectors.EVENT_READ)
        refused = []

        def all_refused():
            for key, _ in selector.select(0):
                refused.append(key.fileobj.recv(65_536))
                selector.unregister(key.fileobj)
            return len(refused) >= more

        wait(all_refused, lambda: f"{len(refused)} were refused")
    for answer in refused:
        assert b" 503 " in answer[:20] and b"cannot store files now" in answer, answer
    assert len(peers) - len(refused) <= limit
    # Nothing else waits.
    assert relay.send("ada", "general", "texts go on") == [1]
    for peer in peers:
        peer.close()
    s3.answers.set()
    wait(lambda: files.progress(path).status == 200, "the upload does not go on")
    status(files.append(path, 0, b"0123456789"), 204)


# How many relays each case has.
COUNTS = {"shared": 3, "moved": 3, "frozen": 2, "orphans": 1, "down": 2, "commands": 1, "large": 1, "moto": 3, "waiting": 1}
LARGE = WITHOUT_LIMITS.replace(" }", ", file_bytes: 100000000, file_bytes_per_s: 0 }")

if __name__ == "__main__":
    case, program, url = sys.argv[1:]
    if case == "moto":
        server, place = MotoServer(), {"bucket": BUCKET, "region": REGION}
    else:
        server, place = s3_server.Server(), {}
        threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        limits = LARGE if case == "large" else WITHOUT_LIMITS
        relays = start(program, url, server, folder, COUNTS[case], limits, **place)
        try:
            globals()[case](relays, server)
            for relay in relays:
                relay.stop()
        finally:
            for relay in relays:
                relay.process.kill()
    print("good")
