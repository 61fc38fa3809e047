"""Files of several relays on one PostgreSQL, whose bytes are in a bucket. Run with the name of a case, the program relay
and the URL of PostgreSQL."""
import json
import os
import pathlib
import secrets
import sys
import tempfile
import threading
import time

import s3_server
from files import Files, problem, status
from relay import WITHOUT_LIMITS, Relay, wait


def start(program, url, s3, folder, count):
    """Starts relays, each with a folder of its own."""
    os.environ.update(AWS_ACCESS_KEY_ID=s3_server.KEY_ID, AWS_SECRET_ACCESS_KEY=s3_server.SECRET)
    relays = []
    for number in range(count):
        own = pathlib.Path(folder) / str(number)
        own.mkdir()
        relays.append(Relay(program, own, f"""
log: {{ engine: postgresql, url: "{url}", durability: os }}
files: {{ s3: {{ endpoint: "{s3.url}", bucket: pages, region: {s3_server.REGION} }} }}
{WITHOUT_LIMITS}"""))
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
    kept = third.show(other, "general")
    relays[2].send("ada", "general", {"kind": "delete", "target": seq})
    began = time.monotonic()
    wait(lambda: len(s3.objects["pages"]) == 1, "the object is still there")
    took = time.monotonic() - began
    assert took < 3, took
    problem(first.ask("GET", path), 404, code="no_such_entry")
    assert status(first.ask("GET", other), 200).content == content
    relays[0].send("ada", "general", {"kind": "delete", "target": kept})
    wait(lambda: not s3.objects["pages"], "the other object is still there")
    print(f"gone after {took:.1f} s", file=sys.stderr)


def resumed(relays, s3):
    """An upload is on the disk of the relay where it has begun: it goes on there, after a kill too."""
    first, second = Files(relays[0]), Files(relays[1])
    content = secrets.token_bytes(200_000)
    path = status(first.create(len(content)), 201).headers["Location"]
    status(first.append(path, 0, content[:100_000]), 204)
    relays[0].kill()
    status(second.progress(path), 404)
    relays[0].start()
    assert first.progress(path).headers["Upload-Offset"] == "100000"
    status(first.append(path, 100_000, content[100_000:]), 204)
    second.show(path, "general")
    assert status(second.ask("GET", path), 200).content == content


def down(relays, s3):
    """A bucket that fails holds up files, and nothing else."""
    files = Files(relays[0])
    content = secrets.token_bytes(50_000)
    path = files.upload(content)
    seq = files.show(path, "general")
    s3.is_down = True
    later = status(files.create(len(content)), 201).headers["Location"]
    refused = problem(files.append(later, 0, content), 503, code="unavailable")
    assert b"cannot store files now" in refused.content
    problem(files.ask("GET", path), 503, code="unavailable")
    assert relays[0].send("ada", "general", "texts go on") == [seq + 1]
    relays[0].send("ada", "general", {"kind": "delete", "target": seq})
    log = relays[0].folder / "relay.log"
    wait(lambda: "files" in log.read_text() and "503" in log.read_text(), "no word to the operator")
    s3.is_down = False
    # All bytes have arrived: the client only asks.
    answer = wait(lambda: (found := files.progress(later)).status == 200 and found, "not stored")
    assert answer.headers["Upload-Offset"] == str(len(content))
    files.show(later, "general")
    assert status(files.ask("GET", later), 200).content == content
    wait(lambda: len(s3.objects["pages"]) == 1, "what was deleted meanwhile is still there")


if __name__ == "__main__":
    case, program, url = sys.argv[1:]
    server = s3_server.Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        relays = start(program, url, server, folder, 3 if case == "shared" else 2)
        try:
            {"shared": shared, "resumed": resumed, "down": down}[case](relays, server)
            for relay in relays:
                relay.stop()
        finally:
            for relay in relays:
                relay.process.kill()
    print("good")
