#!/usr/bin/python3
"""Takes the pictures of an evening with accounts that docs/sign-in.md shows: evening_pictures.py BUILT FOLDER [all].

It runs in a network of its own, where the relay is https://chat.example.org: see `make pictures`."""
import fcntl
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "EndToEndTests/Peers"))
from evening import evening  # noqa: E402
from render import render, save  # noqa: E402
from terminal import Terminal  # noqa: E402

HOST = "chat.example.org"
KEPT = ["invitation", "code", "question", "login", "devices"]
BUILT, FOLDER = sys.argv[1:3]
# Of <linux/sockios.h> and <linux/if.h>.
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def make_network(hosts):
    """The name of the host leads to this machine, which has a name that is the same everywhere."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
    hosts.write(f"127.0.0.1 localhost {HOST}\n")
    hosts.flush()
    subprocess.run(["mount", "--bind", hosts.name, "/etc/hosts"], check=True)
    socket.sethostname("desk")


def take(name, screen):
    if name not in KEPT and sys.argv[3:] != ["all"]:
        return
    path = f"{FOLDER}/sign-in-{name}.png"
    if isinstance(screen, Terminal):
        text, cursor = screen.cells()
        save(render(text, screen.columns, screen.rows, "dark", cursor), path)
    else:
        screen.evaluate("document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))")
        screen.screenshot(path)
    print(f"{path}: {os.path.getsize(path)} bytes")


with tempfile.NamedTemporaryFile("w") as hosts:
    make_network(hosts)
    evening(f"{BUILT}/relay", take, HOST, 443)
