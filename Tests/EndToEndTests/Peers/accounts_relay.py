"""A relay whose users sign in with accounts, for the cases of the web page: a relay in open mode behind a proxy, which
answers the requests of docs/protocol.md about accounts and gives the relay the user of the cookie.

The cases use what `AccountsRelay` has without an underscore, and requests: a relay with `auth.mode: accounts` can take
its place.
"""
import base64
import contextlib
import hashlib
import http.server
import json
import re
import secrets
import socket
import struct
import threading
import time
import urllib.parse

from relay import Relay

COOKIE = "relay_session"
ALPHABET = "BCDFGHJKLMNPQRSTVWXZ"
USER = re.compile(r"(?!\.\.?$)[a-z0-9._-]{1,64}")


def now():
    return int(time.time() * 1000)


def picture(text):
    """As many modules as a QR code of version 3 has; no camera reads them."""
    bits = "".join(f"{byte:08b}" for byte in hashlib.shake_256(text.encode()).digest(29 * 29 // 8 + 1))
    return [bits[row * 29:row * 29 + 29] for row in range(29)]


class Problem(Exception):
    def __init__(self, status, code, detail, headers=(), **more):
        self.status, self.headers, self.body = status, headers, {"code": code, "detail": detail, "status": status, **more}


class AccountsRelay:
    methods = [{"method": "invite"}, {"method": "github", "title": "GitHub"}]

    def __init__(self, program, folder, configuration=""):
        self._relay = Relay(program, folder, configuration)
        self._lock = threading.RLock()
        self._accounts, self._sessions, self._invites, self._devices = {}, {}, {}, {}
        self._tunnels, self._wrong, self._connections = {}, [], set()
        self.code_life_s, self.interval_s = 600, 1
        self.provider_failure = None
        self.delay_s = 0  # of the account of the cookie
        self._port = 0
        self.start()
        self._first = self._invite(None, uses=1)

    # MARK: What a case uses

    @property
    def first_link(self):
        """The link that the relay prints at a start without accounts."""
        return f"{self.url}/join/{self._first['code']}"

    def start(self):
        relay = self

        class Handler(_Handler):
            owner = relay

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):  # a browser or the relay has gone
                pass

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._server.daemon_threads = True
        self._port = self._server.server_port
        self.url = f"http://127.0.0.1:{self._port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self):
        """The relay is away, with all that it has stored."""
        self._server.shutdown()
        self._server.server_close()
        with self._lock:
            for connection in list(self._connections):
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.stop()
        self._relay.stop()

    def texts(self, room, user="auditor"):
        return self._relay.texts(room, user)

    def send(self, user, room, *entries):
        return self._relay.send(user, room, *entries)

    def sign_in(self, user, device="wschat on test", operator=False):
        """The name and the value of the cookie of a new session."""
        with self._lock:
            self._accounts.setdefault(user, {"name": user.title(), "operator": operator, "disabled": False})
            return COOKIE, self._session(user, device, "192.0.2.9")["token"]

    def disable(self, user):
        with self._lock:
            self._accounts[user]["disabled"] = True
            for session in [one for one in self._sessions.values() if one["user"] == user]:
                self._end(session, 4403, "forbidden", "The account is disabled.")

    # MARK: The state

    def _invite(self, by, **more):
        invite = {"code": secrets.token_urlsafe(16), "invitation": secrets.token_hex(4), "by": by, "uses": 1, "used_by": [],
                  "expires_at": now() + 604_800_000, **{key: value for key, value in more.items() if value is not None}}
        with self._lock:
            self._invites[invite["code"]] = invite
        return invite

    def _session(self, user, device, address):
        token = secrets.token_urlsafe(32)
        session = {"token": token, "session": secrets.token_hex(6), "user": user, "device": str(device)[:64],
                   "created_at": now(), "used_at": now(), "address": address}
        self._sessions[token] = session
        return session

    def _end(self, session, code=4401, error="unauthorized", text="The session was ended."):
        self._sessions.pop(session["token"], None)
        frame = json.dumps({"type": "error", "code": error, "message": text}).encode()
        for tunnel in self._tunnels.pop(session["session"], []):
            tunnel.write(_frame(1, frame) + _frame(8, struct.pack("!H", code) + text.encode()), is_last=True)

    def _wrong_code(self, who):
        """Five wrong codes a minute per account and address."""
        recent = [at for name, at in self._wrong if name == who and at > time.monotonic() - 60]
        if len(recent) >= 5:
            raise Problem(429, "rate_limited", "Too many wrong codes.", [("Retry-After", "42")])
        self._wrong.append((who, time.monotonic()))
        raise Problem(404, "no_such_code", "No device shows this code.")


class _Tunnel:
    """What goes to a browser: from the relay behind, and at the end from here."""

    def __init__(self, connection):
        self.connection, self.lock, self.is_over = connection, threading.Lock(), False

    def write(self, data, is_last=False):
        with self.lock, contextlib.suppress(OSError):
            if not self.is_over:
                self.connection.sendall(data)
            self.is_over |= is_last


def _frame(opcode, payload):
    head = bytes([0x80 | opcode])
    return head + (bytes([len(payload)]) if len(payload) < 126 else bytes([126]) + struct.pack("!H", len(payload))) + payload


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner = None
    PATHS = [(method, re.compile(path + "$"), name) for method, path, name in (
        ("GET", "/v1/sign-in", "how"), ("GET", "/v1/me", "me"), ("PATCH", "/v1/me", "rename"),
        ("POST", "/v1/invites", "invite"), ("GET", "/v1/invites", "invites"),
        ("GET", "/v1/invites/([^/]+)", "invitation"), ("POST", "/v1/invites/([^/]+)", "join"),
        ("DELETE", "/v1/invites/([^/]+)", "withdraw"),
        ("POST", "/v1/device", "device"), ("POST", "/v1/device/token", "token"),
        ("GET", "/v1/device/([^/]+)", "asking"), ("POST", "/v1/device/([^/]+)", "answer"),
        ("GET", "/v1/sessions", "sessions"), ("DELETE", "/v1/sessions/([^/]+)", "end"))]

    def setup(self):
        super().setup()
        self.owner._connections.add(self.connection)

    def finish(self):
        self.owner._connections.discard(self.connection)
        super().finish()

    def log_message(self, *_):
        pass

    def handle_any(self):
        relay = self.owner
        path = urllib.parse.urlsplit(self.path).path
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with relay._lock:
            cookie = re.search(rf"(?:^|; ){COOKIE}=([^;]*)", self.headers.get("Cookie") or "")
            self.session = relay._sessions.get(cookie[1]) if cookie else None
        if path == "/v1/me":
            time.sleep(relay.delay_s)
        try:
            if re.match(r"/sign-in/(?!device$)", path):
                return self.provider()
            for method, pattern, name in self.PATHS:
                match = pattern.match(path)
                if method == self.command and match:
                    if self.command != "GET" and self.headers.get("Origin") != relay.url:
                        raise Problem(403, "forbidden", "The request comes from another site.")
                    with relay._lock:
                        return self.answer(*getattr(self, f"do_{name}")(*map(urllib.parse.unquote, match.groups())))
            self.forward(path)
        except Problem as problem:
            self.answer(problem.status, problem.body, problem.headers, "application/problem+json")

    do_GET = do_POST = do_PATCH = do_DELETE = do_HEAD = handle_any

    def answer(self, status, body=None, headers=(), kind="application/json"):
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if body is not None:
            self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def me(self):
        if self.session is None:
            raise Problem(401, "unauthorized", "Sign in first.")
        return self.session["user"]

    def json(self):
        try:
            value = json.loads(self.body)
        except ValueError:
            raise Problem(400, "bad_json", "The body is not JSON.") from None
        if not isinstance(value, dict):
            raise Problem(400, "bad_json", "The body is not an object.")
        return value

    @staticmethod
    def cookie(session):
        return [("Set-Cookie", f"{COOKIE}={session['token']}; Path=/; HttpOnly; SameSite=Lax; Max-Age=7776000")]

    # MARK: Requests

    def do_how(self):
        url = f"{self.owner.url}/"
        return 200, {"mode": "accounts", "methods": self.owner.methods, "url": url, "qr": picture(url)}

    def do_me(self):
        user = self.me()
        account = self.owner._accounts[user]
        return 200, {"user": user, "name": account["name"], "operator": account["operator"],
                     "may_invite": account["operator"], "session": self.session["session"]}

    def do_rename(self):
        name = self.json().get("name")
        if not isinstance(name, str) or not 1 <= len(name) <= 100 or "\n" in name:
            raise Problem(400, "bad_field", "A name has 1 to 100 characters.", field="name")
        self.owner._accounts[self.me()]["name"] = name
        return self.do_me()

    def do_invite(self):
        by = self.me()
        if not self.owner._accounts[by]["operator"]:
            raise Problem(403, "forbidden", "Only operators invite here.")
        asked = self.json()
        if any(room == "secret" for room in asked.get("rooms", [])):
            raise Problem(403, "forbidden", "You do not own #secret.", field="rooms")
        invite = self.owner._invite(by, **{key: asked.get(key) for key in ("user", "name", "rooms", "uses")})
        url = f"{self.owner.url}/join/{invite['code']}"
        return 201, {"url": url, "code": invite["code"], "expires_at": invite["expires_at"], "qr": picture(url)}

    def do_invites(self):
        by = self.me()
        shown = ("invitation", "by", "user", "rooms", "uses", "used_by", "expires_at")
        return 200, {"invites": [{key: one[key] for key in shown if key in one}
                                 for one in self.owner._invites.values() if one["by"] == by]}

    def do_withdraw(self, invitation):
        by = self.me()
        for code, one in list(self.owner._invites.items()):
            if one["invitation"] == invitation and one["by"] == by:
                del self.owner._invites[code]
                return 204,
        raise Problem(404, "no_such_invitation", "There is no such invitation.")

    def open_invite(self, code):
        invite = self.owner._invites.get(code)
        if invite is None or len(invite["used_by"]) >= invite["uses"] or invite["expires_at"] < now():
            raise Problem(404, "no_such_invitation", "There is no such invitation.")
        return invite

    def do_invitation(self, code):
        invite = self.open_invite(code)
        by = invite["by"]
        return 200, {**({"by": by, "by_name": self.owner._accounts[by]["name"]} if by else {}),
                     **{key: invite[key] for key in ("user", "name", "rooms", "expires_at") if key in invite}}

    def do_join(self, code):
        invite, asked = self.open_invite(code), self.json()
        user = asked.get("user")
        if not isinstance(user, str) or not USER.fullmatch(user):
            raise Problem(400, "bad_field", "This is no user name.", field="user")
        if user in self.owner._accounts and invite.get("user") != user:
            raise Problem(409, "name_taken", f"{user} is taken.", field="user")
        invite["used_by"].append(user)
        self.owner._accounts.setdefault(user, {"name": asked.get("name") or user, "operator": invite["by"] is None,
                                               "disabled": False})
        session = self.owner._session(user, asked.get("device", ""), self.client_address[0])
        body = {"user": user, "token": session["token"], "session": session["session"]}
        if "rooms" in invite:
            body["rooms"] = invite["rooms"]
        return 201, body, self.cookie(session)

    def do_device(self):
        code = "".join(secrets.choice(ALPHABET) for _ in range(8))
        code = f"{code[:4]}-{code[4:]}"
        secret = secrets.token_urlsafe(24)
        self.owner._devices[secret] = {"code": code, "device": str(self.json().get("device", ""))[:64], "user": None,
                                       "denied": False, "address": self.client_address[0],
                                       "expires_at": now() + 1000 * self.owner.code_life_s, "asked_at": 0}
        uri = f"{self.owner.url}/sign-in/device"
        complete = f"{uri}?code={code}"
        return 200, {"device_code": secret, "user_code": code, "verification_uri": uri, "verification_uri_complete": complete,
                     "interval": self.owner.interval_s, "expires_in": self.owner.code_life_s, "qr": picture(complete)}

    def do_token(self):
        def refuse(error):
            return 400, {"error": error, "error_description": error}

        asking = self.owner._devices.get(self.json().get("device_code"))
        if asking is None or asking["expires_at"] < now():
            return refuse("expired_token")
        is_early = now() - asking["asked_at"] < 900 * self.owner.interval_s
        asking["asked_at"] = now()
        if is_early:
            return refuse("slow_down")
        if asking["denied"]:
            return refuse("access_denied")
        if asking["user"] is None:
            return refuse("authorization_pending")
        del self.owner._devices[self.json()["device_code"]]
        session = self.owner._session(asking["user"], asking["device"], asking["address"])
        return (200, {"token": session["token"], "user": asking["user"], "session": session["session"]},
                self.cookie(session))

    def waiting(self, code):
        user = self.me()
        for asking in self.owner._devices.values():
            if asking["code"] == code and asking["expires_at"] >= now() and not asking["denied"] and asking["user"] is None:
                return asking
        return self.owner._wrong_code(user)

    def do_asking(self, code):
        asking = self.waiting(code)
        return 200, {key: asking[key] for key in ("device", "address", "expires_at")}

    def do_answer(self, code):
        asking = self.waiting(code)
        if self.json().get("allow") is True:
            asking["user"] = self.me()
        else:
            asking["denied"] = True
        return 204,

    def do_sessions(self):
        user = self.me()
        shown = ("session", "device", "created_at", "used_at", "address")
        return 200, {"sessions": [{**{key: one[key] for key in shown}, **({"current": True} if one is self.session else {})}
                                  for one in self.owner._sessions.values() if one["user"] == user]}

    def do_end(self, name):
        user = self.me()
        for one in list(self.owner._sessions.values()):
            if one["user"] == user and (one["session"] == name or (name == "current" and one is self.session)):
                self.owner._end(one)
                return 204,
        raise Problem(404, "no_such_session", "There is no such session.")

    def provider(self):
        """GitHub, as if the person had agreed there."""
        parts = urllib.parse.urlsplit(self.path)
        back = urllib.parse.parse_qs(parts.query).get("return", ["/"])[0]
        if self.owner.provider_failure:
            return self.answer(302, None, [("Location", f"/?sign_in_error={self.owner.provider_failure}")])
        with self.owner._lock:
            self.owner._accounts.setdefault("octo", {"name": "Octo Cat", "operator": False, "disabled": False})
            session = self.owner._session("octo", "a browser", self.client_address[0])
        assert back.startswith("/") and not back.startswith("//"), back
        return self.answer(302, None, [("Location", back), *self.cookie(session)])

    # MARK: All else is the relay's

    def forward(self, path):
        relay = self.owner
        address = self.path
        if path == "/sign-in/device" or re.fullmatch("/join/[^/]+", path):
            address = "/join/"
        elif path.startswith("/v1/") or path == "/ws":
            if self.session is None and path == "/ws":
                return self.refuse_socket()
            separator = "&" if "?" in address else "?"
            address += f"{separator}user={self.me()}"
            self.session["used_at"] = now()
        headers = "".join(f"{name}: {value}\r\n" for name, value in self.headers.items()
                          if name.lower() not in ("cookie", "connection", "sec-websocket-extensions", "sec-fetch-site"))
        kind = "Upgrade" if path == "/ws" else "close"
        head = f"{self.command} {address} HTTP/1.1\r\n{headers}Connection: {kind}\r\n\r\n".encode()
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", relay._relay.port)) as upstream:
            upstream.sendall(head + self.body)
            tunnel = _Tunnel(self.connection)
            if path == "/ws":
                with relay._lock:
                    relay._tunnels.setdefault(self.session["session"], []).append(tunnel)
                threading.Thread(target=self.pump, args=(self.connection, _Tunnel(upstream)), daemon=True).start()
            self.pump(upstream, tunnel)
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    @staticmethod
    def pump(source, tunnel):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                tunnel.write(data)
        with contextlib.suppress(OSError):
            tunnel.connection.shutdown(socket.SHUT_WR)

    def refuse_socket(self):
        """As a relay refuses a bad token: after the handshake."""
        self.close_connection = True
        key = (self.headers.get("Sec-WebSocket-Key") or "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        text = json.dumps({"type": "error", "code": "unauthorized", "message": "Sign in first."}).encode()
        self.connection.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + f"Sec-WebSocket-Accept: {accept}\r\nSec-WebSocket-Protocol: relay.v1\r\n\r\n".encode()
            + _frame(1, text) + _frame(8, struct.pack("!H", 4401)))
