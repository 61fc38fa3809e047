"""A server of pictures, `pictures.py PEOPLE`: writes people whose pictures it has into that file. With
a line on its standard input it ends, and tells what was asked for how often."""
import collections
import http.server
import sys
import threading

PNG = b"\x89PNG\r\n\x1a\n" + bytes(1000)
seen = collections.Counter()


class Pictures(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        seen[self.path] += 1
        is_png = self.path.endswith(".png")
        self.send_response(200)
        self.send_header("Content-Type", "image/png" if is_png else "image/svg+xml")
        self.send_header("Content-Length", str(len(PNG)))
        self.end_headers()
        self.wfile.write(PNG)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
threading.Thread(target=server.serve_forever, daemon=True).start()
base = f"http://127.0.0.1:{server.server_port}"
with open(sys.argv[1], "w") as file:
    file.write(
        f"- {{ user: ada, name: Ada, avatar: '{base}/ada.png' }}\n"
        f"- {{ user: bo, name: Bo, avatar: '{base}/bo.svg' }}\n"
        "- { user: cy, name: Cy }\n")
print("ready", flush=True)
sys.stdin.readline()
server.shutdown()
for path, count in sorted(seen.items()):
    print(path, count)
