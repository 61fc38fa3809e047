"""Pictures over HTTP, and their thumbnails. Run with the name of a case and the program relay."""
import base64
import concurrent.futures
import pathlib
import shutil
import sys

from files import Files, chunk, main, png, problem, status
from relay import WITHOUT_LIMITS, wait


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
}


if __name__ == "__main__":
    main(globals()[sys.argv[1]], CONFIGURATIONS[sys.argv[1]])
