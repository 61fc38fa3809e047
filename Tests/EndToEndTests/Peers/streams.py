"""Reads rooms as event streams and by long polls, over sockets of its own.
streams.py CASE PORT [CA]; prints "good" where all was as it should be. With CA over TLS."""

import http.client
import json
import socket
import ssl
import sys
import threading
import time

PORT = int(sys.argv[2])
TLS = ssl.create_default_context(cafile=sys.argv[3]) if sys.argv[3:] else None


def connect():
    if TLS:
        return http.client.HTTPSConnection("127.0.0.1", PORT, timeout=90, context=TLS)
    return http.client.HTTPConnection("127.0.0.1", PORT, timeout=90)


def ask(method, path, body=None, headers={}):
    connection = connect()
    if body is not None:
        body, headers = json.dumps(body), dict(headers, **{"Content-Type": "application/json"})
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    is_json = response.getheader("Content-Type", "").endswith("json") and method != "HEAD"
    return response.status, response, json.loads(content) if is_json else content


def say(room, first, last, text="x", user="ada"):
    for start in range(first, last + 1, 50):
        sends = [{"type": "send", "room": room, "id": "%s-%d" % (room, n), "text": text}
                 for n in range(start, min(start + 50, last + 1))]
        status, _, answers = ask("POST", "/v1/requests?user=" + user, sends)
        assert status == 200 and all(a["type"] == "ack" for a in answers), answers


class Stream:
    """Yields (event, id, data) of each block; the event of one without data is None."""

    def __init__(self, query, headers=(), receive_buffer=None, user="bo", reads_head=True):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(60)
        self.socket.connect(("127.0.0.1", PORT))
        if TLS:
            self.socket = TLS.wrap_socket(self.socket, server_hostname="127.0.0.1")
        lines = ["GET /v1/stream?user=%s&%s HTTP/1.1" % (user, query), "Host: localhost"] + list(headers)
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.input = b""
        self.head = self.take(b"\r\n\r\n").decode() if reads_head else None

    def take(self, mark):
        while mark not in self.input:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError(self.input)
            self.input += part
        part, _, self.input = self.input.partition(mark)
        return part

    def next(self):
        if self.head is None:
            self.head = self.take(b"\r\n\r\n").decode()
        while True:
            event, name, data = None, None, []
            for line in self.take(b"\n\n").decode().split("\n"):
                if line.startswith("event: "):
                    event = line[7:]
                elif line.startswith("id: "):
                    name = line[4:]
                elif line.startswith("data: "):
                    data.append(line[6:])
                elif line.startswith("retry: "):
                    self.retry = int(line[7:])
                else:
                    assert line == ":", line
            if event or name:
                return event, name, json.loads("\n".join(data)) if data else None

    def until(self, wanted):
        """The blocks up to the first of that event."""
        blocks = []
        while True:
            blocks.append(self.next())
            if blocks[-1][0] == wanted:
                return blocks

    def entries(self, count):
        found = []
        while len(found) < count:
            event, name, data = self.next()
            if event == "message":
                found.append((data["room"], data["seq"], name))
        return found

    def close(self):
        self.socket.close()


def basics():
    say("a", 1, 3)
    stream = Stream("room=a&after=1&room=b")
    assert stream.head.startswith("HTTP/1.1 200 "), stream.head
    for field in ["text/event-stream", "Cache-Control: no-store", "X-Accel-Buffering: no", "Connection: close"]:
        assert field in stream.head, stream.head
    assert "Content-Length" not in stream.head and "Content-Encoding" not in stream.head
    blocks = stream.until("joined")
    assert [b[0] for b in blocks] == ["welcome", "joined"], blocks
    assert 1000 <= stream.retry <= 3000
    joined = blocks[1][2]
    assert (joined["room"], joined["after"], joined["head"], "ref" in joined) == ("a", 1, 3, False), joined
    blocks = []
    while len([b for b in blocks if b[0] == "message"]) < 2 or not [b for b in blocks if b[0] is None]:
        blocks.append(stream.next())
    assert all((b[1] is not None) == (b[0] in ("message", None)) for b in blocks), blocks
    epoch = joined["epoch"]
    say("b", 1, 1)
    assert stream.entries(1) == [("b", 1, epoch + ".3.1")]
    # Line breaks of data are lines of the event, and the JSON is the same.
    body = b'{"id":"data","kind":"data","data":{"a":\r\n[1,\n2],\r"b":"\\n"}}'
    connection = connect()
    connection.request("POST", "/v1/rooms/a/messages?user=ada", body, {"Content-Type": "application/json"})
    assert connection.getresponse().status == 201
    event, name, data = stream.until("message")[-1]
    assert data["data"] == {"a": [1, 2], "b": "\n"} and name == epoch + ".4.1", data
    stream.close()
    # Everything since then, in both rooms, whether the id is a header or in the query.
    say("a", 5, 6)
    say("b", 2, 2)
    expected = [("a", 5), ("a", 6), ("b", 2)]
    for query, headers in [("", ["Last-Event-ID: " + name]), ("&last_event_id=" + name, [])]:
        stream = Stream("room=a&after=1&room=b" + query, headers)
        assert sorted(entry[:2] for entry in stream.entries(3)) == expected
        stream.close()
    # The same from the query alone.
    stream = Stream("room=a&after=4&epoch=%s&room=b&after=1&epoch=%s" % (epoch, epoch))
    assert sorted(entry[:2] for entry in stream.entries(3)) == expected
    stream.close()
    # An unknown epoch is another log.
    stream = Stream("room=a&after=4&epoch=other")
    assert stream.until("joined")[-1][2]["resume"] == "reset"
    stream.close()


def refusals():
    for query, status, code, field in [
        ("room=a&last_event_id=x", 400, "bad_field", "last_event_id"),
        ("room=a&last_event_id=x.1.2", 400, "bad_field", "last_event_id"),
        ("room=a&last_event_id=x.01x", 400, "bad_field", "last_event_id"),
        ("room=a&last_event_id=.1", 400, "bad_field", "last_event_id"),
        ("room=a&last_event_id=x.9007199254740992", 400, "bad_field", "last_event_id"),
        ("after=1&room=a", 400, "bad_field", "after"),
        ("room=a&after=1&after=2", 400, "bad_field", "after"),
        ("room=a&after=-1", 400, "bad_field", "after"),
        ("room=a&epoch=%22", 400, "bad_field", "epoch"),
        ("", 400, "bad_field", "room"),
        ("room=NO", 400, "bad_field", "room"),
        ("room=%ff", 400, "bad_field", "room"),
        ("room=dm:ada:cy", 403, "forbidden", None),
        ("room=dm:ada:cy&room=NO", 403, "forbidden", None),
        ("room=secret", 404, "no_such_room", None),
        ("&".join("room=r%d" % n for n in range(5)), 400, "too_many_rooms", None),
    ]:
        got, response, problem = ask("GET", "/v1/stream?user=bo&" + query)
        assert (got, problem["code"], problem.get("field")) == (status, code, field), (query, got, problem)
        assert response.getheader("Content-Type") == "application/problem+json"
    assert ask("GET", "/v1/stream?room=a")[0] == 401
    assert ask("POST", "/v1/stream?user=bo&room=a", [])[0] == 405
    status, response, content = ask("HEAD", "/v1/stream?user=bo&room=open")
    assert (status, content, response.getheader("Content-Type")) == (200, b"", "text/event-stream")
    # One room that cannot be joined stops no other.
    stream = Stream("room=secret&room=open&room=open")
    blocks = stream.until("joined") + stream.until("error")
    assert [b[0] for b in blocks if b[0]] == ["welcome", "error", "joined", "error"], blocks
    assert stream.next()[1].endswith(".-.0.-")
    stream.close()
    for query in ["after=0&wait_s=61", "after=0&wait_s=x", "after=0&wait_s=-1", "wait_s=1", "before=3&wait_s=1"]:
        got, _, problem = ask("GET", "/v1/rooms/open/messages?user=bo&" + query)
        assert (got, problem["field"]) == (400, "wait_s"), (query, problem)


def polls():
    path = "/v1/rooms/general/messages?user=bo&wait_s=%d&after=%d"
    began = time.monotonic()
    status, _, page = ask("GET", path % (1, 0))
    assert status == 200 and page["entries"] == [] and page["head"] == 0, page
    assert 0.9 <= time.monotonic() - began < 20
    answers = []
    waiting = [threading.Thread(target=lambda: answers.append(ask("GET", path % (60, 0)))) for _ in range(20)]
    for thread in waiting:
        thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    say("elsewhere", 1, 1)
    say("general", 1, 1)
    for thread in waiting:
        thread.join()
    assert time.monotonic() - began < 20
    assert [[e["seq"] for e in page["entries"]] for _, _, page in answers] == [[1]] * 20
    # What is there is answered at once, and so is a position that the log does not have.
    began = time.monotonic()
    assert len(ask("GET", path % (60, 0))[2]["entries"]) == 1
    assert ask("GET", path % (60, 2))[2]["head"] == 1
    assert time.monotonic() - began < 20
    # A client that has said all gets its answer; one that is gone leaves nothing behind.
    peer = socket.create_connection(("127.0.0.1", PORT))
    peer.sendall(("GET " + path % (60, 1) + " HTTP/1.1\r\nHost: localhost\r\n\r\n").encode())
    peer.shutdown(socket.SHUT_WR)
    peer.settimeout(20)
    answer = b""
    while part := peer.recv(65536):
        answer += part
    assert answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b"}"), answer


def limits():
    """Streams and polls are connections of their user."""
    streams = [Stream("room=a") for _ in range(3)]
    for stream in streams:
        stream.until("joined")
    status, _, problem = ask("GET", "/v1/stream?user=bo&room=a")
    assert (status, problem["code"], problem["field"]) == (429, "limit_reached", "connections_per_user"), problem
    status, _, problem = ask("GET", "/v1/rooms/a/messages?user=bo&after=0&wait_s=1")
    assert (status, problem["code"]) == (429, "limit_reached"), problem
    streams.pop().close()
    while True:
        status, _, page = ask("GET", "/v1/rooms/a/messages?user=bo&after=0&wait_s=1")
        if status == 200:
            break
        time.sleep(0.05)
    # Who has a stream is online.
    people = ask("GET", "/v1/people?user=cy")[2]["people"]
    assert [p["presence"] for p in people if p["user"] == "bo"] == ["online"], people


def many():
    streams = [Stream("room=a&after=0&room=r%d" % n, user="u%d" % n) for n in range(100)]
    for stream in streams:
        stream.until("joined")
    say("a", 1, 20)
    for stream in streams:
        assert [entry[1] for entry in stream.entries(20)] == list(range(1, 21))
        stream.close()


def slow():
    """A stream that does not read costs the relay little, and gets everything in the end."""
    def gauge(name):
        text = ask("GET", "/metrics", headers={"Authorization": "Bearer the-token-of-tests"})[2].decode()
        return float([line for line in text.split("\n") if line.startswith(name + " ")][0].split()[1])

    slow = Stream("room=a&after=0&room=b&after=0", receive_buffer=4096, reads_head=False)
    quick = Stream("room=a&after=0", user="cy")
    for start in range(1, 2000, 8):
        sends = [{"type": "send", "room": "ab"[n % 2], "id": "%d" % n, "text": "%d " % n + "y" * 7000}
                 for n in range(start, start + 8)]
        assert ask("POST", "/v1/requests?user=ada", sends)[0] == 200
    assert len(quick.entries(1000)) == 1000
    assert gauge("relay_queued_bytes") < 300000
    seqs = {"a": [], "b": []}
    for room, seq, _ in slow.entries(2000):
        seqs[room].append(seq)
    assert seqs == {"a": list(range(1, 1001)), "b": list(range(1, 1001))}


def gone():
    """A stream that never reads ends; quiet ones get comments."""
    stuck = Stream("room=a&after=0", receive_buffer=4096, reads_head=False)
    quiet = Stream("room=quiet")
    quiet.until("joined")
    for start in range(1, 1600, 8):
        sends = [{"type": "send", "room": "a", "id": "%d" % n, "text": "z" * 8000} for n in range(start, start + 8)]
        assert ask("POST", "/v1/requests?user=ada", sends)[0] == 200
    time.sleep(4)
    try:
        while stuck.next():
            pass
    except (EOFError, ConnectionError):
        pass
    # The id that follows the answers to the joins, and then a comment.
    assert quiet.next()[0] is None
    assert quiet.take(b"\n\n") == b":"


def tokens():
    import jwt

    def bearer(**claims):
        return "Authorization: Bearer " + jwt.encode(claims, "0123456789abcdef0123456789abcdef", "HS256")

    # There are 30 seconds of tolerance.
    stream = Stream("room=a", [bearer(sub="bo", exp=int(time.time()) - 27)])
    error = stream.until("error")[-1][2]
    assert error["code"] == "token_expired", error
    try:
        stream.next()
        assert False
    except EOFError:
        pass
    path = "/v1/rooms/a/messages?after=0&wait_s=30"
    name, _, value = bearer(sub="bo", exp=int(time.time()) - 27).partition(": ")
    status, _, problem = ask("GET", path, None, {name: value})
    assert (status, problem["code"]) == (401, "token_expired"), problem
    stream = Stream("room=a", [bearer(sub="bo", rooms={"join": ["b"]})])
    assert stream.head.startswith("HTTP/1.1 403 "), stream.head


def ban():
    """Prints "ready" when a stream and a poll wait; then bo is banned."""
    poll, answers = "/v1/rooms/a/messages?user=bo&after=0&wait_s=60", []
    poller = threading.Thread(target=lambda: answers.append(ask("GET", poll)))
    poller.start()
    stream = Stream("room=a")
    stream.until("joined")
    while b"\nrelay_sessions 2\n" not in ask("GET", "/metrics", headers={"Authorization": "Bearer the-token-of-tests"})[2]:
        time.sleep(0.01)
    print("ready", flush=True)
    error = stream.until("error")[-1][2]
    assert error["code"] == "forbidden", error
    try:
        stream.next()
        assert False
    except EOFError:
        pass
    poller.join()
    status, _, problem = answers[0]
    assert (status, problem["code"]) == (403, "forbidden"), problem
    stream = Stream("room=a")
    assert stream.head.startswith("HTTP/1.1 403 "), stream.head


globals()[sys.argv[1]]()
print("good")
