"""Opens browser.html in headless Chromium, from a server of its own, so from another origin than
the relay's: prints that origin, reads the relay's URL, and prints what the page tells. The key of a
certificate that is its argument is trusted."""
import http.server
import pathlib
import subprocess
import sys
import tempfile
import threading
import urllib.parse

from chromium import ENGINE, PROFILES, trust

PATIENCE_S = 120


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        is_page = self.path.startswith("/page?")
        self.send_response(200 if is_page else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        if is_page:
            self.wfile.write(pathlib.Path(__file__).with_name("browser.html").read_bytes())

    def do_POST(self):
        result = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.send_response(204)
        self.end_headers()
        self.server.results.append(result)
        self.server.has_result.set()

    def log_message(self, *_):
        pass


with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
    server.results, server.has_result = [], threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_port}"
    print(origin, flush=True)
    relay = sys.stdin.readline().strip()
    with tempfile.TemporaryDirectory(dir=PROFILES, ignore_cleanup_errors=True) as profile:
        # Root, as which tests may run, has no sandbox; /dev/shm is small in containers.
        browser = subprocess.Popen(
            [*ENGINE, "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
             "--no-proxy-server", f"--user-data-dir={profile}", *map(trust, sys.argv[1:]),
             f"{origin}/page?{urllib.parse.quote(relay, safe='')}"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        errors = []
        threading.Thread(
            target=lambda: errors.extend(browser.stderr), daemon=True).start()
        try:
            if not server.has_result.wait(PATIENCE_S):
                sys.exit(f"the page tells nothing; Chromium says: {errors[-20:]}")
        finally:
            browser.terminate()
            browser.wait(PATIENCE_S)
    print(server.results[0], flush=True)
