"""A terminal for pictures, `kitty.py ANSWER STEP… -- COMMAND…`: runs a command on a pty, and follows
kitty's graphics protocol as the command uses it. ANSWER is what the query is answered: OK, an error, or
`none` for no answer; a terminal with `sixel` has sixels instead. The steps, one after the other:

    places:N   wait until N pictures are placed
    shown:TEXT wait until the command has written TEXT since the last step
    type:TEXT  type, with the escapes of Python
    size:CxR   resize
    done       wait until the command has ended

A line of JSON after each: the pictures with their sizes, the places, how many bytes came, the URLs of the
links (OSC 8), and that which is open."""
import base64
import codecs
import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

LIMIT_SECONDS = 60
answer, *rest = sys.argv[1:]
steps, command = rest[:rest.index("--")], rest[rest.index("--") + 1:]
STRING = re.compile(rb"\x1b_G(.*?)\x1b\\", re.S)
LINK = re.compile(rb"\x1b\]8;([^;]*);(.*?)\x1b\\", re.S)

images, places, transfer, queries, total = {}, {}, None, 0, 0
pending, recent, ended = b"", b"", False
links, everything = set(), b""


def size(columns, rows):
    pixels = (10 * columns, 20 * rows) if answer == "sixel" else (0, 0)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, *pixels))


def graphics(body):
    global transfer, queries
    head, _, payload = body.partition(b";")
    keys = dict(part.split("=") for part in head.decode().split(","))
    action = keys.get("a")
    if action == "q":
        queries += 1
        if answer not in ("none", "sixel"):
            os.write(master, f"\x1b_Gi={keys['i']};{answer}\x1b\\".encode())
        return
    assert keys.get("q", "2") == "2", f"an answer is wanted: {keys}"
    if action == "t" or action is None:
        assert len(payload) <= 4096, "a part is too long"
        if action == "t":
            transfer = [keys, b""]
        transfer[1] += payload
        if keys["m"] == "0":
            first, data = transfer[0], base64.b64decode(transfer[1], validate=True)
            assert first["f"] == "32"
            assert len(data) == 4 * int(first["s"]) * int(first["v"])
            images[int(first["i"])] = [int(first["s"]), int(first["v"]), list(data[:4])]
            transfer = None
    elif action == "p":
        assert int(keys["i"]) in images, "a picture is placed that was not sent"
        assert keys["C"] == "1"
        places[(int(keys["i"]), int(keys["p"]))] = [int(keys["c"]), int(keys["r"])]
    elif action == "d" and keys["d"] == "i":
        places.pop((int(keys["i"]), int(keys["p"])), None)
    elif action == "d" and keys["d"] == "I":
        images.pop(int(keys["i"]), None)
        for place in [place for place in places if place[0] == int(keys["i"])]:
            del places[place]
    else:
        raise AssertionError(f"unknown: {keys}")


def take(data):
    global pending, recent, total, everything
    total += len(data)
    everything += data
    recent = (recent + data)[-1 << 20:]
    if b"\x1b[c" in data:
        os.write(master, b"\x1b[?62;4c" if answer == "sixel" else b"\x1b[?62c")
    pending += data
    end = 0
    for match in STRING.finditer(pending):
        graphics(match.group(1))
        end = match.end()
    pending = pending[end:]
    if b"\x1b_G" not in pending:
        pending = pending[-2:]


def read(seconds):
    global ended
    if not select.select([master], [], [], seconds)[0]:
        return
    try:
        data = os.read(master, 65536)
    except OSError:
        data = b""
    if data:
        take(data)
    else:
        ended = True


def wait(what, condition):
    deadline = time.monotonic() + LIMIT_SECONDS
    while not condition():
        if time.monotonic() > deadline or (ended and what != "done"):
            sys.exit(f"no {what}; ended: {ended}; places: {places}; images: {images}; {recent[-3000:]}")
        read(0.05)


process, master = pty.fork()
if process == 0:
    os.environ.update(TERM="xterm-kitty", LC_ALL="C.UTF-8", TZ="UTC0")
    for name in ("TMUX", "NO_COLOR", "COLORTERM"):
        os.environ.pop(name, None)
    os.execvp(command[0], command)
size(100, 40)
for step in steps:
    kind, _, value = step.partition(":")
    if kind == "places":
        wait(step, lambda: len(places) == int(value))
    elif kind == "shown":
        wait(step, lambda: codecs.decode(value, "unicode_escape").encode("latin-1") in recent)
    elif kind == "done":
        wait(step, lambda: ended)
    else:
        recent = b""
        if kind == "type":
            os.write(master, codecs.decode(value, "unicode_escape").encode())
        else:
            size(*map(int, value.split("x")))
    written = LINK.findall(everything)
    assert len(written) == everything.count(b"\x1b]8"), "a link is not complete"
    links.update((i.decode(), url.decode("ascii")) for i, url in written if i or url)
    assert len({i for i, url in links}) == len(links), f"one id for two links: {links}"
    print(json.dumps({
        "images": sorted(images.values()), "places": sorted(places.values()),
        "queries": queries, "bytes": total,
        "links": sorted(url for i, url in links),
        "open": written[-1][1].decode() if written else ""}), flush=True)
if not ended:
    os.kill(process, 9)
os.waitpid(process, 0)
