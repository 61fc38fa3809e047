"""browser_client.py URL PROFILE ROOM...: the documented client in headless Chromium, as a program like the
others: lines of the input are sent, what is shown is printed, and PROFILE.mirror has its journal.

PAGE_FD is a listening socket for the page, which keeps its origin, and so its database, over a restart."""
import http.server
import json
import os
import pathlib
import queue
import secrets
import socket
import subprocess
import sys
import threading
import urllib.parse

from chromium import ENGINE

URL, PROFILE, ROOMS = sys.argv[1], sys.argv[2], sys.argv[3:]
PATIENCE_S = 120
CLIENT = pathlib.Path(__file__).resolve().parents[3] / "docs/clients/browser/client.js"
PAGE = pathlib.Path(__file__).with_name("browser_client.html")
RUN = secrets.token_hex(8)
FILES = {"/page": ("text/html", PAGE), "/client.js": ("text/javascript", CLIENT)}
lines, ended = queue.Queue(), queue.Queue()


class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, content, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path).path
        if path in FILES:
            return self.answer(FILES[path][1].read_bytes(), FILES[path][0])
        if path != f"/{RUN}/line":  # that of a browser that was killed may come late
            return self.send_error(404)
        return self.answer(json.dumps(lines.get()).encode())

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        run, path = self.path[1:].split("/")
        if run != RUN:
            return self.send_error(404)
        if path == "opened":  # the whole journal, in the place of what an earlier run has written
            pathlib.Path(f"{PROFILE}.new").write_text(text)
            os.replace(f"{PROFILE}.new", f"{PROFILE}.mirror")
        elif path == "journal":
            with open(f"{PROFILE}.mirror", "a") as mirror:
                mirror.write(text)
        elif path == "ended":
            ended.put(text)
        else:
            print(text, file=sys.stdout if path == "shown" else sys.stderr, flush=True)
        self.answer(b"{}")

    def log_message(self, *_):
        pass


def read():
    for line in sys.stdin:
        lines.put(json.loads(line))
    lines.put(None)


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page, bind_and_activate=False) as server:
    server.socket = socket.socket(fileno=int(os.environ["PAGE_FD"]))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    threading.Thread(target=read, daemon=True).start()
    port = server.socket.getsockname()[1]
    query = urllib.parse.quote(json.dumps([RUN, URL, ROOMS]), safe="")
    browser = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", *ENGINE, "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run", "--no-proxy-server",
         f"--user-data-dir={PROFILE}", f"http://127.0.0.1:{port}/page?{query}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    error = ended.get()
    browser.terminate()
    browser.wait(PATIENCE_S)
    if error:
        print(f"-- {error}", file=sys.stderr, flush=True)
    os._exit(1 if error else 0)  # a thread may still be waiting for input
