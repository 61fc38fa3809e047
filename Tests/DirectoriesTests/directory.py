"""GitHub's and X's interfaces on loopback, the part for lists of people.

Prints its port, and ends with its standard input. `POST /_control` changes what it does, by a JSON
object of the keys of `State`, as its argument does; `GET /_log` tells what it was asked for.
"""

import base64
import hashlib
import json
import sys
import threading
import time
import urllib.parse
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()


class State:
    people = 3
    # Assigned to the people in turn, before the generated ones.
    logins = []
    # Changes the content of a page, and so its ETag.
    edition = {}
    # The maximum size of a page, whatever is requested.
    page_limit = 1000
    # Requests until the next reset; None is no limit.
    remaining = None
    reset = 0
    # The number of requests after a reset.
    limit = None
    # Status and form of a refusal: primary, secondary, bare.
    refusal = 403
    refusal_form = "primary"
    token = None
    app = ["key", "s/ecret"]
    bearer = "bearer-1"
    account = "rust"
    # Answers to give instead, each once: path prefix, status, headers, body, mode.
    instead = []
    # For all answers: the error of the date in seconds.
    date_offset = 0
    # Milliseconds before every answer.
    delay_ms = 0
    circle = False
    link_base = None


log = []


def change(settings):
    for name, value in settings.items():
        if not hasattr(State, name):
            raise KeyError(name)
        setattr(State, name, value)


def person(index):
    if index < len(State.logins):
        return State.logins[index]
    return f"Person-{index + 1:04}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return formatdate(time.time() + State.date_offset, usegmt=True)

    # Answers

    def answer(self, status, body=b"", headers=None, kind="application/json; charset=utf-8"):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.record["status"] = status
        self.send_response(status)
        if status != 304:
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
        for name, value in {**self.extra, **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if status != 304:
            self.wfile.write(body)

    def answer_instead(self, other):
        body = other.get("body", "").encode()
        mode = other.get("mode", "whole")
        status = other.get("status", 200)
        self.record["status"] = status
        self.send_response(status)
        length = len(body) + (1000 if mode in ("half", "slow") else 0)
        if mode == "endless":
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        for name, value in {**self.extra, **other.get("headers", {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if mode == "slow":
            time.sleep(60)
        if mode == "endless":
            try:
                while True:
                    self.wfile.write(b"[" * 65536)
            except OSError:
                pass
        if mode != "whole":
            self.close_connection = True

    # Requests

    def do_GET(self):
        self.serve(b"")

    def do_POST(self):
        self.serve(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def serve(self, body):
        if self.path == "/_control":
            with lock:
                change(json.loads(body))
            self.plain(b"{}")
        elif self.path == "/_log":
            with lock:
                text = json.dumps(log).encode()
            self.plain(text)
        else:
            self.serve_service(body)

    def plain(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def serve_service(self, body):
        self.record = {
            "method": self.command,
            "path": self.path,
            "body": body.decode(),
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "at": int(time.time() * 1000),
            "until": 0,
            "limited": False,
            "status": 0,
        }
        self.extra = {"x-github-request-id": f"REQ:{len(log) + 1}"}
        with lock:
            log.append(self.record)
            delay = State.delay_ms
            place = next(
                (i for i, o in enumerate(State.instead) if self.path.startswith(o["path"])), None
            )
            other = State.instead.pop(place) if place is not None else None
        time.sleep(delay / 1000)
        self.record["until"] = int(time.time() * 1000)
        if other:
            return self.answer_instead(other)
        if self.path.startswith("/avatar/"):
            return self.serve_avatar()
        with lock:
            self.route()

    def route(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        parts = url.path.strip("/").split("/")
        if url.path == "/oauth2/token":
            self.serve_bearer()
        elif parts[0] in ("2", "1.1"):
            self.serve_x(parts, query)
        else:
            self.serve_github(parts, query)

    def serve_avatar(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        self.answer(200, b"x" * int(url.path.split("/")[2]), kind=query.get("type", "image/png"))

    # Limits

    def is_refused(self, prefix):
        """Counts this request, and refuses it if there are too many."""
        now = time.time()
        if State.remaining is None:
            self.extra[f"{prefix}-remaining"] = "4999"
            self.extra[f"{prefix}-reset"] = str(int(now) + 3600)
            return False
        if now >= State.reset and State.reset > 0:
            State.remaining, State.reset = State.limit, 0
            if State.remaining is None:
                return self.is_refused(prefix)
        refused = State.remaining <= 0
        State.remaining = max(0, State.remaining - 1)
        self.extra[f"{prefix}-remaining"] = str(State.remaining)
        self.extra[f"{prefix}-reset"] = str(int(State.reset + State.date_offset))
        self.record["limited"] = refused
        return refused

    # GitHub

    def serve_github(self, parts, query):
        if "user-agent" not in self.record["headers"]:
            return self.answer(403, b"Request forbidden by administrative rules.", kind="text/plain")
        if State.token and self.headers.get("Authorization") not in (None, f"Bearer {State.token}"):
            return self.answer(
                401,
                {"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest", "status": "401"},
            )
        if State.token and "Authorization" not in self.headers:
            return self.answer(404, {"message": "Not Found", "status": "404"})
        if self.is_refused("x-ratelimit"):
            return self.refuse_github()
        size = min(int(query.get("per_page", 30)), 100, State.page_limit)
        if parts == ["users"]:
            return self.serve_everyone(int(query.get("since", 0)), size)
        known = {"orgs/acme/members", "organizations/9919/members", "users/ada/followers", "users/ada/following"}
        if "/".join(parts) not in known:
            return self.answer(404, {"message": "Not Found", "documentation_url": "https://docs.github.com/rest", "status": "404"})
        # The first page is by name, the others by number, as GitHub does it.
        path = "organizations/9919/members" if parts[0] == "orgs" else "/".join(parts)
        page = int(query.get("page", 1))
        last = max(1, (State.people + size - 1) // size)

        def link(number, rel):
            others = f"role={query['role']}&" if "role" in query else ""
            return f'<{self.base()}/{path}?{others}per_page={size}&page={number}>; rel="{rel}"'

        links = []
        if page > 1:
            links.append(link(page - 1, "prev"))
        if page < last:
            links += [link(page + 1, "next"), link(last, "last")]
        elif State.circle:
            links.append(link(2, "next"))
        if page > 1:
            links.append(link(1, "first"))
        self.answer_github(range((page - 1) * size, min(page * size, State.people)), page, links)

    def serve_everyone(self, since, size):
        # Ids have gaps: a person's is three times the position.
        first = since // 3
        rows = range(first, min(first + size, State.people))
        links = []
        if rows and rows[-1] + 1 < State.people:
            links.append(f'<{self.base()}/users?per_page={size}&since={3 * (rows[-1] + 1)}>; rel="next"')
        links.append(f'<{self.base()}/users{{?since}}>; rel="first"')
        self.answer_github(rows, 1 + first // size, links)

    def answer_github(self, rows, page, links):
        edition = State.edition.get(str(page), "")
        body = json.dumps(
            [
                {
                    "login": person(i),
                    "id": 3 * (i + 1),
                    "node_id": "MDQ6VXNlcjE=",
                    "avatar_url": f"https://avatars.example/u/{3 * (i + 1)}?v=4{edition}",
                    "html_url": f"https://github.example/{person(i)}",
                    "type": "Bot" if person(i).endswith("[bot]") else "User",
                    "site_admin": False,
                }
                for i in rows
            ]
        ).encode()
        etag = 'W/"' + hashlib.sha256(body + repr(links).encode()).hexdigest() + '"'
        headers = {"etag": etag, "cache-control": "private, max-age=60, s-maxage=60"}
        if self.headers.get("If-None-Match") == etag:
            return self.answer(304, headers=headers)
        if links:
            headers["link"] = ", ".join(links)
        self.answer(200, body, headers)

    def refuse_github(self):
        message, headers = "API rate limit exceeded for 127.0.0.1. (But here's the good news: …)", {}
        if State.refusal_form == "secondary":
            message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
            self.extra["x-ratelimit-remaining"] = "4000"
        if State.refusal_form == "retry-after":
            headers["retry-after"] = str(max(1, int(State.reset - time.time() + 0.999)))
            self.extra["x-ratelimit-remaining"] = "4000"
        self.answer(State.refusal, {"message": message, "documentation_url": "https://docs.github.com/rest"}, headers)

    def base(self):
        return State.link_base or f"http://127.0.0.1:{self.server.server_port}"

    # X

    def serve_bearer(self):
        login = ":".join(urllib.parse.quote(part, safe="") for part in State.app)
        expected = "Basic " + base64.b64encode(login.encode()).decode()
        form = urllib.parse.parse_qs(self.record["body"])
        kind = self.headers.get("Content-Type", "").split(";")[0]
        if (
            self.headers.get("Authorization") != expected
            or form != {"grant_type": ["client_credentials"]}
            or kind != "application/x-www-form-urlencoded"
        ):
            return self.answer(
                403,
                {"errors": [{"code": 99, "label": "authenticity_token_error", "message": "Unable to verify your credentials"}]},
            )
        self.answer(200, {"token_type": "bearer", "access_token": State.bearer})

    def serve_x(self, parts, query):
        self.extra = {"x-transaction-id": f"tx-{len(log)}"}
        if self.headers.get("Authorization") != f"Bearer {State.bearer}":
            return self.answer(401, {"errors": [{"code": 89, "message": "Invalid or expired token."}]})
        if parts[:4] == ["2", "users", "by", "username"]:
            if parts[4].lower() != State.account:
                return self.answer(200, {"errors": [{"title": "Not Found Error", "detail": "Could not find user."}]})
            return self.answer(200, {"data": {"id": "2244994945", "name": "The account", "username": State.account}})
        if self.is_refused("x-rate-limit"):
            if State.refusal_form == "bare":
                self.extra = {}
                return self.answer(429, {"title": "Too Many Requests", "detail": "Too Many Requests", "type": "about:blank", "status": 429}, kind="application/problem+json")
            return self.answer(429, {"errors": [{"code": 88, "message": "Rate limit exceeded"}]})
        if parts == ["2", "users", "2244994945", "followers"]:
            return self.serve_followers(query)
        if parts == ["1.1", "followers", "list.json"] and query.get("screen_name") == State.account:
            return self.serve_old_followers(query)
        self.answer(404, {"title": "Not Found Error", "detail": "No such thing.", "status": 404})

    def serve_followers(self, query):
        size = min(int(query.get("max_results", 100)), 1000, State.page_limit)
        token = query.get("pagination_token", "P=0")
        first = int(token[2:])
        rows = range(first, min(first + size, State.people))
        body = {"meta": {"result_count": len(rows)}}
        if rows:
            body["data"] = [
                {
                    "id": str(9007199254740993 + i),
                    "name": f"Follower no. {i + 1}",
                    "username": person(i).replace("-", "_"),
                    "profile_image_url": f"https://pbs.example/{i}_normal.jpg",
                    "verified": False,
                }
                for i in rows
            ]
            body["errors"] = [{"title": "Forbidden", "detail": "A user is suspended."}]
        if first + size < State.people:
            body["meta"]["next_token"] = f"P={first + size}"
        self.answer(200, body)

    def serve_old_followers(self, query):
        size = min(int(query.get("count", 20)), 200, State.page_limit)
        cursor = int(query.get("cursor", "-1"))
        first = 0 if cursor < 0 else cursor - 9007199254740993
        rows = range(first, min(first + size, State.people))
        following = str(9007199254740993 + first + size) if first + size < State.people else "0"
        self.answer(
            200,
            {
                "users": [
                    {
                        "id": 9007199254740993 + i,
                        "id_str": str(9007199254740993 + i),
                        "name": f"Follower no. {i + 1}",
                        "screen_name": person(i).replace("-", "_"),
                        "profile_image_url_https": f"https://pbs.example/{i}_normal.jpg",
                    }
                    for i in rows
                ],
                "next_cursor": int(following),
                "next_cursor_str": following,
                "previous_cursor_str": "0",
            },
        )


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        # Clients hang up in these tests.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(*_)


if len(sys.argv) > 1:
    change(json.loads(sys.argv[1]))
server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
