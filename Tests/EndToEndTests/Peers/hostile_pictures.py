"""Uploads pictures that want to harm the relay or those who look at them, and checks what is served.

usage: hostile_pictures.py CASE RELAY [FOLDER]    corpus: the files of this folder
"""
import concurrent.futures
import io
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from PIL import ExifTags, Image

from files import Files, problem, status
from relay import WITHOUT_LIMITS, Relay, wait

MAKER = pathlib.Path(__file__).resolve().parents[2] / "PictureProcessingTests/pictures.py"
# Sets of `pictures.py`.
ATTACKS = ("bombs", "scans", "ballast", "polyglots")
MUTATIONS = 200
# The relay gives a process 15 s, and reads and writes what is large before and after.
LIMIT_S = 30
# Of the metadata of `pictures.py`; the last are how Exif and XMP begin, also in a WebP.
SECRETS = (b"SECRET", b"GPS", b"Exif", b"EXIF", b"XMP ", b"adobe", b"<script>")


def made(name):
    """The files of a set, by their names."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["/usr/bin/python3", "-B", MAKER, "make", name, folder], check=True)
        return {f"{name}/{path.name}": path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


def mutated(content, other, chance):
    """Changes bits, sizes, the end, the middle, or mixes in another picture."""
    content = bytearray(content)
    match chance.randrange(5):
        case 0:
            for _ in range(chance.randint(1, 8)):
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        case 1: content[chance.randrange(min(200, len(content)))] = chance.randrange(256)
        case 2: del content[chance.randrange(1, len(content)):]
        case 3:
            start = chance.randrange(len(content))
            del content[start:start + chance.randint(1, 40)]
        case _:
            start, place = chance.randrange(len(other)), chance.randrange(len(content))
            content[place:place] = other[start:start + chance.randint(1, 200)]
    return bytes(content)


def children(relay):
    """The processes that the relay has started and not ended."""
    return [
        child for path in pathlib.Path(f"/proc/{relay.process.pid}/task").glob("*/children")
        for child in path.read_text().split()]


def play(relay, pictures):
    """Uploads all, and returns the bytes of those that are shown, with their thumbnails, and what took longest."""
    def upload(name):
        files = Files(relay)
        began = time.monotonic()
        path = files.upload(pictures[name])
        took = time.monotonic() - began
        entry = files.entry("general", files.show(path, "general", name.replace("/", "-")))
        answer = status(files.ask("GET", path), 200)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", name
        if "width" not in entry:
            assert "thumbnail" not in entry, entry
            assert answer.headers["Content-Disposition"].startswith("attachment"), (name, answer.headers)
            assert answer.headers["Content-Type"] in ("application/octet-stream", "text/plain; charset=utf-8")
            problem(files.ask("GET", path + "/thumbnail"), 404)
            return name, [], took
        small = [status(files.ask("GET", path + "/thumbnail", accepts), 200).content
                 for accepts in ({}, {"Accept": "image/png"})]
        return name, [answer.content, *small], took

    # One at a time is looked at; the others wait.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(upload, pictures))
    shown = {}
    for name, served, _ in results:
        for content in served:
            assert content != pictures[name], f"{name} is served as it came"
            with Image.open(io.BytesIO(content)) as picture:
                picture.load()
                assert max(picture.size) <= 4096 and not picture.getexif(), name
            shown.setdefault(name, []).append(content)
    assert relay.process.poll() is None, "the relay has ended"
    wait(lambda: not children(relay), "a process still looks at a picture", LIMIT_S)
    longest = max(took for _, _, took in results)
    print(f"{len(pictures)} pictures: {len(shown)} shown as what the relay has made of them,"
          f" {len(pictures) - len(shown)} to download; the longest took {longest:.1f} s", file=sys.stderr)
    return shown, longest


def mutations(relay, _):
    """Two hundred mutated pictures: none ends the relay, and what is shown was encoded by the relay."""
    seeds, chance = made("seeds"), random.Random(5)
    originals = list(seeds.values())
    shown, longest = play(relay, {
        f"mutated-{number}": mutated(originals[number % len(originals)], chance.choice(originals), chance)
        for number in range(MUTATIONS)})
    assert longest < LIMIT_S
    assert 30 <= len(shown) <= 170, "the mutations are too weak or too strong"


def attacks(relay, _):
    """Pictures that want too much memory or time are not shown, and what is hidden in a picture is not served."""
    pictures = {name: content for attack in ATTACKS for name, content in made(attack).items()}
    shown, longest = play(relay, pictures)
    assert longest < LIMIT_S
    for name in pictures:
        is_bomb = name.startswith("bombs/") and "small" not in name
        assert not (is_bomb and name in shown), f"{name} is shown"
        assert not name.startswith("polyglots/") or name in shown, f"{name} is not shown"
    without_secrets(shown)


def places(relay, _):
    """The place where a picture was taken, and all other metadata, is in no byte that is served, nor on the disk."""
    pictures = {**made("metadata"), **made("orientations")}
    for name, content in pictures.items():
        with Image.open(io.BytesIO(content)) as picture:
            assert picture.getexif().get_ifd(ExifTags.IFD.GPSInfo) and b"SECRET" in content, f"{name} has no place"
    shown, _ = play(relay, pictures)
    assert shown.keys() == pictures.keys()
    without_secrets(shown)
    for path in (relay.data / "files").rglob("*"):
        assert not path.is_file() or not any(secret in path.read_bytes() for secret in SECRETS), path


def corpus(relay, folder):
    """Played by hand, with the files with which others test their decoders."""
    shown, longest = play(relay, {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()})
    without_secrets(shown)
    assert longest < LIMIT_S


def without_secrets(shown):
    for name, served in shown.items():
        for secret in SECRETS:
            assert not any(secret in content for content in served), (name, secret)


def main():
    case, program, *rest = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        relay = Relay(program, folder, WITHOUT_LIMITS.replace(
            " }", ", files_bytes_per_user: 0, file_bytes_per_s: 0 }"))
        globals()[case](relay, *(rest or [None]))
        relay.stop()
    print("good")


main()
