"""A service of others on loopback, which a relay asks: what GitHub and OpenID providers have in common here."""
import http.server
import json
import threading
import urllib.parse
import urllib.request


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None


# Asks without a proxy, and stays where it is.
opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))


class Service:
    """`faults` are answers that replace the others, by path. A subclass has `answer`.

    path       what the service's paths begin with
    headers    of each answer
    """

    def __init__(self, path="", **headers):
        self.faults, self.codes, self.requests = {}, {}, []
        # Answers are given while it is set.
        self.ready = threading.Event()
        self.ready.set()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def answer(self, status, content, **more):
                body = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in {**headers, **more}.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def handle_any(self, form=""):
                address, _, query = self.path.partition("?")
                fields = urllib.parse.parse_qsl(form or query, keep_blank_values=True)
                name = address.removeprefix(path)
                outer.requests.append((name, dict(self.headers), dict(fields)))
                outer.ready.wait()
                if name in outer.faults:
                    status, content, more = outer.faults[name]
                    return self.answer(status, content, **more)
                if not address.startswith(path):
                    return self.answer(404, {"error": "not_found"})
                outer.answer(self, name, fields)

            def do_GET(self):
                self.handle_any()

            def do_POST(self):
                self.handle_any(self.rfile.read(int(self.headers["Content-Length"])).decode())

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}{path}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stall(self):
        self.ready.clear()

    def fail(self, path, status, content=b"", **headers):
        self.faults[path] = (status, content, headers)
