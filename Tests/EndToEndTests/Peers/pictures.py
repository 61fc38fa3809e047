"""A server of pictures, `pictures.py SET PEOPLE`: writes the people of that set, whose pictures it has, into
that file. With a line on its standard input it ends, and prints how often each picture was requested."""
import collections
import http.server
import io
import struct
import sys
import threading
import zlib

from PIL import Image


def chunk(kind, data):
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


def png(width, height, rows):
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
            + chunk(b"IEND", b""))


def plain(side, color):
    return png(side, side, (b"\0" + bytes(color) * side) * side)


def photo():
    """A JPEG of 300 by 200 pixels that is upright when it is turned, and says where it was taken."""
    exif = Image.Exif()
    exif[0x010F], exif[0x0112] = "SECRET-CAMERA", 6
    exif[0x8825] = {1: "N", 2: (48.0, 51.0, 30.0), 3: "E", 4: (2.0, 17.0, 40.0)}
    file = io.BytesIO()
    Image.new("RGB", (300, 200), (0, 0, 255)).save(file, "JPEG", exif=exif)
    return file.getvalue()


good = plain(100, (255, 0, 0))
SETS = {
    "small": {
        "ada": ("image/png", good),
        "bo": ("image/svg+xml", b"<svg/>"),
        "cy": None,
        "jo": ("image/jpeg", photo()),
        "bomb": ("image/png", png(14000, 14000, bytes((3 * 14000 + 1) * 1000))),
    },
    "hostile": {
        "ann": ("image/png", good),
        "gus": ("image/png", plain(900, (0, 128, 0))),
        "bomb": ("image/png", png(14000, 14000, bytes((3 * 14000 + 1) * 1000))),
        "cut": ("image/png", good[:-20]),
        "jay": ("image/jpeg", b"\xff\xd8\xff\xe0" + bytes(500)),
        "jo": ("image/jpeg", photo()),
        "lie": ("image/png", b"<html>" + bytes(500)),
        "none": None,
    },
}
PICTURES = SETS[sys.argv[1]]
requested = collections.Counter()


class Pictures(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        requested[self.path] += 1
        kind, body = PICTURES[self.path[1:]]
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
with open(sys.argv[2], "w") as file:
    for name, picture in PICTURES.items():
        address = f", avatar: '{base}/{name}'" if picture else ""
        file.write(f"- {{ user: {name}, name: {name.title()}{address} }}\n")
print("ready", flush=True)
sys.stdin.readline()
server.shutdown()
for path, count in sorted(requested.items()):
    print(path, count)
