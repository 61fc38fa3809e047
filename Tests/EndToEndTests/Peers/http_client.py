"""Speaks with the relay over HTTP as Python's http.client does, or in bytes of its own where that is too
polite. http_client.py CASE PORT; prints "good" where all was as it should be."""

import http.client
import io
import json
import socket
import sys
import time

from PIL import Image

PORT = int(sys.argv[2])
JSON = {"Content-Type": "application/json"}


def connect():
    return http.client.HTTPConnection("127.0.0.1", PORT, timeout=30)


def ask(connection, method, path, body=None, headers=None):
    """The status, the headers and what the JSON says."""
    if isinstance(body, dict):
        body = json.dumps(body)
    if headers is None:
        headers = JSON if body is not None else {}
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    assert len(content) == int(response.getheader("Content-Length", 0)) or method == "HEAD"
    is_json = response.getheader("Content-Type", "").endswith("json") and method != "HEAD"
    return response.status, response, json.loads(content) if is_json else content


def raw(request, wait=True):
    """All that comes back until the relay hangs up."""
    with socket.create_connection(("127.0.0.1", PORT), timeout=30) as peer:
        peer.sendall(request)
        if not wait:
            return b""
        answer = b""
        while part := peer.recv(65536):
            answer += part
        return answer


def entries_of(page):
    assert page["type"] == "history" and page["room"] == "general", page
    return [(entry["seq"], entry["id"]) for entry in page["entries"]]


def paging():
    """A thousand entries, published on one connection, and read in pages from either end."""
    connection = connect()
    for number in range(1, 1001):
        text = "line %d é\n" % number
        status, _, ack = ask(
            connection, "POST", "/v1/rooms/general/messages?user=ada", {"id": "n%d" % number, "text": text})
        assert status == 201, (status, ack)
        assert ack == {"type": "ack", "room": "general", "id": "n%d" % number, "seq": number, "at": ack["at"]}
    expected = [(number, "n%d" % number) for number in range(1, 1001)]
    forward, after = [], 0
    while True:
        status, _, page = ask(connection, "GET", "/v1/rooms/general/messages?user=bo&after=%d&limit=130" % after)
        assert status == 200 and page["first"] == 1 and page["head"] == 1000, page
        forward += entries_of(page)
        after = forward[-1][0]
        if not page["more"]:
            break
    assert forward == expected
    backward, query = [], ""
    while True:
        status, _, page = ask(connection, "GET", "/v1/rooms/general/messages?user=bo" + query)
        assert status == 200 and len(page["entries"]) == 50, page
        backward = entries_of(page) + backward
        query = "&before=%d" % backward[0][0]
        if not page["more"]:
            break
    assert backward == expected
    assert page["entries"][0]["text"] == "line 1 é\n"
    # What is there, and its head alone.
    status, response, content = ask(connection, "HEAD", "/v1/rooms/general/messages?user=bo&limit=1")
    assert status == 200 and content == b"" and int(response.getheader("Content-Length")) > 100
    status, _, page = ask(connection, "GET", "/v1/rooms/nobody-was-here/messages?user=bo")
    assert (status, page["entries"], page["head"], page["more"]) == (200, [], 0, False)


def duplicate():
    """The second send of an id is told the first one's number, on any connection: as an ack if it says the same."""
    first = ask(connect(), "POST", "/v1/rooms/general/messages?user=ada", {"id": "x", "text": "one"})
    assert first[0] == 201 and "duplicate" not in first[2]
    status, _, ack = ask(connect(), "POST", "/v1/rooms/general/messages?user=ada", r'{"text":"on\u0065","id":"x"}')
    assert status == 200 and ack == dict(first[2], duplicate=True), (status, ack)
    status, response, problem = ask(connect(), "POST", "/v1/rooms/general/messages?user=ada", {"id": "x", "text": "two"})
    assert status == 409 and response.getheader("Content-Type") == "application/problem+json", (status, problem)
    assert problem["code"] == "id_conflict" and problem["seq"] == first[2]["seq"], problem
    assert (problem["room"], problem["id"], problem["status"]) == ("general", "x", 409), problem
    # The id is ada's; and `room` and `type` are what the path says.
    body = {"type": "join", "room": "elsewhere", "id": "x", "kind": "data", "data": {"a": [1, None]}}
    status, _, ack = ask(connect(), "POST", "/v1/rooms/general/messages?user=bo", body)
    assert (status, ack["room"], ack["seq"]) == (201, "general", 2), ack
    status, _, page = ask(connect(), "GET", "/v1/rooms/general/messages?user=bo")
    assert [(entry["from"], entry.get("text"), entry.get("data")) for entry in page["entries"]] == [
        ("ada", "one", None), ("bo", None, {"a": [1, None]})]


MESSAGES = "/v1/rooms/general/messages?user=ada"


def problems():
    """What is wrong is said as a problem (RFC 9457), with its status, code and field."""
    good = {"id": "1", "text": "hi"}
    for method, path, body, headers, status, code, field in [
        ("POST", MESSAGES, "", JSON, 400, "bad_json", None),
        ("POST", MESSAGES, "{", JSON, 400, "bad_json", None),
        ("POST", MESSAGES, "[1]", JSON, 400, "bad_json", None),
        ("POST", MESSAGES, '{"id":"1","text":"a"}}', JSON, 400, "bad_json", None),
        ("POST", MESSAGES, b'{"id":"1","text":"\xff"}', JSON, 400, "bad_json", None),
        ("POST", MESSAGES, '{"id":"1","kind":"data","data":"\\ud800"}', JSON, 400, "bad_field", "data"),
        ("POST", MESSAGES, {"text": "hi"}, JSON, 400, "bad_field", "id"),
        ("POST", MESSAGES, {"id": "1", "text": " "}, JSON, 400, "bad_field", "text"),
        ("POST", MESSAGES, {"id": "1", "text": "a" * 8193}, JSON, 413, "too_large", "text"),
        ("POST", MESSAGES, {"id": "1", "text": "a" * 65536}, JSON, 413, "too_large", None),
        ("POST", MESSAGES, good, {"Content-Type": "text/plain"}, 415, "bad_field", "Content-Type"),
        ("POST", MESSAGES, good, {}, 415, "bad_field", "Content-Type"),
        ("POST", "/v1/rooms/Big/messages?user=ada", good, JSON, 400, "bad_field", "room"),
        ("POST", "/v1/rooms/dm:bo:cy/messages?user=ada", good, JSON, 403, "forbidden", None),
        ("POST", "/v1/rooms/sys:canary/messages?user=sys.canary", good, JSON, 403, "forbidden", None),
        ("POST", "/v1/rooms/general/messages", good, JSON, 401, "unauthorized", None),
        ("POST", "/v1/rooms/general/messages?user=Not+A+Name", good, JSON, 401, "unauthorized", None),
        ("POST", MESSAGES, good, dict(JSON, Authorization="Bearer x.y.z"), 401, "unauthorized", None),
        ("GET", MESSAGES + "&limit=0", None, {}, 400, "bad_field", "limit"),
        ("GET", MESSAGES + "&limit=501", None, {}, 400, "bad_field", "limit"),
        ("GET", MESSAGES + "&after=-1", None, {}, 400, "bad_field", "after"),
        ("GET", MESSAGES + "&after=1&before=2", None, {}, 400, "bad_field", "before"),
        ("GET", MESSAGES + "&before=%22%2C%22", None, {}, 400, "bad_field", "before"),
        ("GET", "/v1/rooms/sys:canary/messages?user=ada", None, {}, 403, "forbidden", None),
        ("GET", "/v1/rooms//messages?user=ada", None, {}, 400, "bad_field", "room"),
        ("GET", "/v1/rooms/./messages?user=ada", None, {}, 400, "bad_field", "room"),
        ("GET", "/v1/rooms/%2E%2e/messages?user=ada", None, {}, 400, "bad_field", "room"),
        ("POST", "/v1/rooms/../messages?user=ada", good, JSON, 400, "bad_field", "room"),
        ("GET", "/v1/people?user=..", None, {}, 401, "unauthorized", None),
        ("PUT", MESSAGES, good, JSON, 405, "unknown_type", None),
        ("DELETE", "/healthz", None, {}, 405, "unknown_type", None),
        ("GET", "/v1", None, {}, 404, "unknown_type", None),
        ("GET", "/v1/rooms/general", None, {}, 404, "unknown_type", None),
        ("GET", "/v1/rooms/%ff/messages", None, {}, 404, "unknown_type", None),
        ("GET", "/nowhere", None, {}, 404, "unknown_type", None),
        ("GET", "/echo", None, {}, 404, "unknown_type", None),
        ("GET", "/ws", None, {}, 426, "bad_field", None),
        ("POST", "/ws", good, JSON, 405, "unknown_type", None),
        ("GET", "/v1/avatars/nobody?user=ada", None, {}, 404, "no_such_entry", None),
        ("GET", "/v1/people?user=%zz", None, {}, 401, "unauthorized", None),
        ("GET", "/v1/people?user=ada&cursor=%ff", None, {}, 400, "bad_field", "cursor"),
        ("GET", "/v1/people?user=ada&cursor=", None, {}, 400, "bad_field", "cursor"),
        ("GET", MESSAGES + "&after=%zz", None, {}, 400, "bad_field", "after"),
    ]:
        what = (method, path, body if body is None or len(body) < 100 else "long")
        connection = connect()
        got, response, problem = ask(connection, method, path, body, headers)
        assert got == status, (what, got, problem)
        assert response.getheader("Content-Type") == "application/problem+json", what
        assert problem["status"] == status and problem["type"] == "about:blank", problem
        assert problem["title"] == response.reason and len(problem["detail"]) > 10, problem
        assert problem.get("code") == code and problem.get("field") == field, (what, problem)
        assert (response.getheader("Allow") is not None) == (status == 405), what
        assert (response.getheader("WWW-Authenticate") == "Bearer") == (status == 401), what
    head = b"POST /v1/rooms/general/messages?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    for rest, status in [
        (b"\r\n", 411),
        (b"Content-Length: 1x\r\n\r\n", 400),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n", 400),
        (b"Content-Length: 99999999999999999999999\r\n\r\n", 413),
        (b"Content-Length: 70000\r\nExpect: 100-continue\r\n\r\n", 413),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 411),
        (b"Transfer-Encoding: gzip\r\n\r\n", 501),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}", 400),
        (b"Content-Length: 2\r\nExpect: tea\r\n\r\n{}", 417),
    ]:
        answer = raw(head + rest)
        assert answer.startswith(b"HTTP/1.1 %d " % status), (rest, answer)
        assert b"application/problem+json" in answer and b"Connection: close" in answer, answer
        assert b'"code":"too_large"' in answer or b'"code":"bad_field","field":"' in answer or status == 400, answer
        assert b'"code":"' in answer, answer
    # Nothing of all this has left anything behind.
    assert ask(connect(), "GET", MESSAGES)[2]["head"] == 0


def limits():
    """What a connection may do belongs to a user here, however many connections there are. The relay
    takes 2 sends a second, 4 at once, and 4 requests a second."""
    def send(user, name):
        return ask(connect(), "POST", "/v1/rooms/general/messages?user=" + user, {"id": name, "text": "hi"})
    began = time.monotonic()
    statuses = [send("ada", "a%d" % number)[0] for number in range(12)]
    refused = statuses.count(429)
    assert set(statuses) == {201, 429} and refused >= 8 - 2 * (time.monotonic() - began) - 1, statuses
    while True:
        status, response, problem = send("ada", "again")
        if status == 429:
            break
        send("ada", "b%f" % time.monotonic())
    assert problem["code"] == "rate_limited" and 0 < problem["retry_after_ms"] <= 500, problem
    assert int(response.getheader("Retry-After")) == 1
    assert response.getheader("Connection") == "close"
    # Another user is not ada; and reading has a budget of its own.
    assert send("bo", "1")[0] == 201
    reads = [ask(connect(), "GET", "/v1/rooms/general/messages?user=ada")[0] for _ in range(12)]
    assert reads[:4] == [200] * 4 and 429 in reads, reads
    time.sleep(problem["retry_after_ms"] / 1000)
    assert send("ada", "a0")[0] == 200
    # An unauthenticated client pays as an address.
    nobody = [ask(connect(), "GET", "/v1/people")[0] for _ in range(12)]
    assert nobody[:4] == [401] * 4 and 429 in nobody, nobody


def read_responses(peer, count):
    """As many responses as that, in order: their statuses and contents."""
    stream, answers = peer.makefile("rb"), []
    for _ in range(count):
        status = int(stream.readline().split()[1])
        length = 0
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        answers.append((status, stream.read(length)))
    return answers


def kinds():
    """What is edited, deleted or reacted to reads as it is now with `fold`, and as it came without."""
    def send(user, **body):
        return ask(connect(), "POST", "/v1/rooms/general/messages?user=" + user, body)
    assert send("ada", id="1", text="helo")[0] == 201
    assert send("ada", id="2", text="a secret")[0] == 201
    assert send("ada", id="3", kind="edit", target=1, text="hello")[0] == 201
    assert send("bo", id="4", kind="react", target=1, emoji="\U0001f44d", on=True)[0] == 201
    assert send("ada", id="5", kind="delete", target=2)[0] == 201
    for body, status, code in [
        (dict(id="6", kind="edit", target=1, text="mine"), 403, "forbidden"),
        (dict(id="7", kind="react", target=99, emoji="x", on=True), 404, "no_such_entry"),
        (dict(id="8", kind="shout", text="x"), 400, "bad_field"),
    ]:
        got, _, problem = send("bo", **body)
        assert (got, problem["code"]) == (status, code), problem
    for fold in ["fold=true", "fold=1", "fold"]:
        page = ask(connect(), "GET", MESSAGES + "&" + fold)[2]
        first, second = page["entries"]
        assert first["text"] == "hello" and first["edited_at"] > 0, first
        assert first["reactions"] == {"\U0001f44d": ["bo"]} and second["deleted"] is True, page
    for plain in ["fold=false", "limit=500"]:
        page = ask(connect(), "GET", MESSAGES + "&" + plain)[2]
        assert [entry["seq"] for entry in page["entries"]] == [1, 2, 3, 4, 5], page
    got, _, problem = ask(connect(), "GET", MESSAGES + "&fold=maybe")
    assert got == 400 and problem["field"] == "fold", problem


def people():
    """The list of people, in pages."""
    status, _, everyone = ask(connect(), "GET", "/v1/people?user=bot-3")
    assert status == 401, everyone
    status, _, everyone = ask(connect(), "GET", "/v1/people?user=ada")
    names = ["bot-%d" % number for number in range(1, 8)]
    assert status == 200 and [person["user"] for person in everyone["people"]] == names, everyone
    assert "next" not in everyone and everyone["people"][0]["room"] == "dm:ada:bot-1", everyone
    found, query = [], "limit=3"
    while query:
        status, _, page = ask(connect(), "GET", "/v1/people?user=ada&" + query)
        assert status == 200 and len(page["people"]) <= 3, page
        found += [person["user"] for person in page["people"]]
        query = "limit=3&cursor=" + page["next"] if "next" in page else None
    assert found == names, found
    status, _, some = ask(connect(), "GET", "/v1/people?user=ada&query=Num%62er%205")
    assert [person["user"] for person in some["people"]] == ["bot-5"], some
    status, _, some = ask(connect(), "GET", "/v1/people?user=ada&query=number+5")
    assert [person["user"] for person in some["people"]] == ["bot-5"], some
    status, _, some = ask(connect(), "GET", "/v1/people?user=ada&query=number%2B5")
    assert some["people"] == [], some
    for query, field in [("limit=0", "limit"), ("limit=201", "limit"), ("limit=a", "limit")]:
        status, _, problem = ask(connect(), "GET", "/v1/people?user=ada&" + query)
        assert (status, problem["field"]) == (400, field), problem


def pipelining():
    """Requests sent ahead are answered one after the other, in their order, however they are cut."""
    requests = b""
    for number in range(200):
        body = b'{"id":"p%d","text":"hi"}' % number
        requests += (
            b"POST /v1/rooms/general/messages?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    requests += b"GET /v1/rooms/general/messages?user=ada&limit=500 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    for step in [len(requests), 77]:
        with socket.create_connection(("127.0.0.1", PORT), timeout=30) as peer:
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for start in range(0, len(requests), step):
                peer.sendall(requests[start:start + step])
            answers = read_responses(peer, 201)
        expected = 201 if step == len(requests) else 200
        assert [status for status, _ in answers] == [expected] * 200 + [200]
        assert [json.loads(content)["seq"] for _, content in answers[:200]] == list(range(1, 201))
        assert json.loads(answers[200][1])["head"] == 200
    # What is wrong in one request does not spoil the next, as long as it is clear where that begins.
    bad = b"POST /v1/rooms/general/messages?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{"
    answers = raw(bad * 3 + b"GET /v1/people HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + bad)
    assert [part.split(b" ")[0] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"400"] * 3 + [b"401"], answers


def bodies():
    """Content that does not come, comes slowly, or is announced. The relay waits 1.5 seconds."""
    head = (b"POST /v1/rooms/general/messages?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            b"Content-Type: application/json\r\nContent-Length: %d\r\n")
    body = b'{"id":"half","text":"hi"}'
    # Half of it, and then nothing more, or nobody.
    answer = raw(head % len(body) + b"\r\n" + body[:9])
    assert answer.startswith(b"HTTP/1.1 408 ") and b"problem+json" in answer, answer
    assert b'"code":"unavailable"' in answer and b'"retry_after_ms":' in answer, answer
    for _ in range(50):
        raw(head % len(body) + b"\r\n" + body[:9], wait=False)
    # A byte at a time is as good as any, as long as it is in time; and too late is too late.
    with socket.create_connection(("127.0.0.1", PORT), timeout=30) as peer:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.sendall(head % len(body) + b"\r\n")
        for byte in body:
            peer.sendall(bytes([byte]))
        assert read_responses(peer, 1)[0][0] == 201
    with socket.create_connection(("127.0.0.1", PORT), timeout=30) as peer:
        slow = b'{"id":"slow","text":"%s"}' % (b"a" * 1000)
        peer.sendall(head % len(slow) + b"\r\n")
        began = time.monotonic()
        try:
            for byte in slow:
                peer.sendall(bytes([byte]))
                time.sleep(0.05)
                assert time.monotonic() - began < 20
        except OSError:
            pass
    # A client that asks first is told to go on.
    with socket.create_connection(("127.0.0.1", PORT), timeout=30) as peer:
        asked = b'{"id":"asked","text":"hi"}'
        peer.sendall(head % len(asked) + b"Expect: 100-continue\r\n\r\n")
        assert peer.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        peer.sendall(asked)
        assert read_responses(peer, 1)[0][0] == 201
    page = ask(connect(), "GET", "/v1/rooms/general/messages?user=bo")[2]
    assert [entry["id"] for entry in page["entries"]] == ["half", "asked"], page


def keep_alive():
    """A connection of /v1 takes one request after the other, until it is idle or one side closes it."""
    connection = connect()
    connection.connect()
    port = connection.sock.getsockname()[1]
    for number in range(20):
        status, response, _ = ask(connection, "POST", MESSAGES, {"id": str(number), "text": "hi"})
        assert status == 201 and response.getheader("Connection") is None
        assert connection.sock.getsockname()[1] == port
    status, response, _ = ask(connection, "GET", MESSAGES, None, {"Connection": "close"})
    assert status == 200 and response.getheader("Connection") == "close" and connection.sock is None
    # It becomes a WebSocket as well as any; and who then says nothing is not known by the last request.
    connection = connect()
    assert ask(connection, "GET", MESSAGES)[0] == 200
    connection.putrequest("GET", "/ws")
    for name, value in [("Upgrade", "websocket"), ("Connection", "Upgrade"),
                        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13")]:
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.sock.recv(1000)
    assert answer.startswith(b"HTTP/1.1 101 "), answer
    frame = connection.sock.recv(1000)
    assert frame[0] == 0x88 and int.from_bytes(frame[2:4], "big") == 4408, frame
    # Left alone it ends without a word.
    connection = connect()
    assert ask(connection, "GET", MESSAGES)[0] == 200
    assert connection.sock.recv(1000) == b""


def tokens():
    """Who has a token is let in by it, and may what it says. eve is banned."""
    import jwt

    def bearer(key="0123456789abcdef0123456789abcdef", **claims):
        return {"Authorization": "Bearer " + jwt.encode(claims, key, "HS256"), **JSON}

    path = "/v1/rooms/%s/messages"
    now = int(time.time())
    body = {"id": "1", "text": "hi"}
    for room, headers, status, code in [
        ("general", bearer(sub="ada"), 201, None),
        ("general", bearer(sub="ada", exp=now + 60), 200, None),
        ("general", JSON, 401, "unauthorized"),
        ("general?user=ada", JSON, 401, "unauthorized"),
        ("general", bearer(sub="ada", exp=now - 3600), 401, "token_expired"),
        ("general", bearer(sub="ada", key="another key of thirty-two bytes!"), 401, "unauthorized"),
        ("general", bearer(sub=5), 401, "unauthorized"),
        ("general", bearer(sub="eve"), 403, "forbidden"),
        ("general", bearer(sub="bo", rooms={"send": ["news"]}), 403, "forbidden"),
        ("news", bearer(sub="bo", rooms={"send": ["n*"]}), 201, None),
        ("dm:ada:cy", bearer(sub="bo"), 403, "forbidden"),
    ]:
        room, _, query = room.partition("?")
        got, _, answer = ask(connect(), "POST", path % room + "?" + query, body, headers)
        assert got == status and answer.get("code") == code, (room, headers, got, answer)
    reader = bearer(sub="cy", rooms={"join": ["news"]})
    assert ask(connect(), "GET", path % "news", None, reader)[0] == 200
    assert ask(connect(), "GET", path % "general", None, reader)[0] == 403
    assert ask(connect(), "GET", "/v1/people", None, reader)[0] == 200
    # The metrics are for operators, wherever they come from.
    assert ask(connect(), "GET", "/metrics")[0] == 401
    assert ask(connect(), "GET", "/metrics", None, bearer(sub="cy"))[0] == 200
    assert ask(connect(), "GET", "/metrics", None, bearer(sub="ada"))[0] == 403
    assert ask(connect(), "GET", "/metrics", None, bearer(sub="eve"))[0] == 403
    token = {"Authorization": "Bearer the-token-of-tests"}
    assert ask(connect(), "GET", "/metrics", None, token)[0] == 200
    assert ask(connect(), "GET", "/readyz")[0] == 200
    # One connection, two people.
    connection = connect()
    for user in ["dee", "fay"]:
        ask(connection, "POST", path % "general", {"id": "1", "text": user}, bearer(sub=user))
    page = ask(connection, "GET", path % "general", None, bearer(sub="dee"))[2]
    assert [(entry["from"], entry["text"]) for entry in page["entries"]] == [
        ("ada", "hi"), ("dee", "dee"), ("fay", "fay")], page


def origins():
    """Pages of other sites: only where they are let in, and then they may read the answers."""
    mine = "http://127.0.0.1:%d" % PORT
    for origin, host, status in [
        (None, None, 200), (mine, None, 200), ("https://chat.example", None, 200),
        ("https://evil.example", None, 403), ("null", None, 403),
        # A name that an attacker makes resolve to this machine.
        (None, "evil.example", 403), ("http://evil.example", "evil.example", 403),
    ]:
        headers = {"Host": host} if host else {}
        if origin:
            headers["Origin"] = origin
        got, response, content = ask(connect(), "GET", MESSAGES, None, headers)
        assert got == status, (origin, host, got, content)
        allowed = origin if origin == "https://chat.example" else None
        assert response.getheader("Access-Control-Allow-Origin") == allowed, (origin, response.headers)
        # A cache must not give one page's answer, or a program's, to another page.
        assert response.getheader("Vary") == "Origin", (origin, response.headers)
        body = {"id": "%s %s" % (origin, host), "text": "hi"}
        got, _, _ = ask(connect(), "POST", MESSAGES, body, dict(JSON, **headers))
        assert got == (201 if status == 200 else 403), (origin, host, got)
    # The page is told what is wrong, and may ask beforehand.
    headers = {"Origin": "https://chat.example"}
    status, response, _ = ask(connect(), "GET", "/v1/people", None, headers)
    assert status == 401 and response.getheader("Access-Control-Allow-Origin") == "https://chat.example"
    assert ask(connect(), "GET", "/v1/people")[1].getheader("Vary") == "Origin"
    assert ask(connect(), "OPTIONS", "/v1/people")[1].getheader("Vary") == "Origin"
    headers["Access-Control-Request-Method"] = "POST"
    headers["Access-Control-Request-Headers"] = "content-type"
    status, response, _ = ask(connect(), "OPTIONS", "/v1/rooms/general/messages", None, headers)
    assert status == 204 and "POST" in response.getheader("Access-Control-Allow-Methods")
    assert "Content-Type" in response.getheader("Access-Control-Allow-Headers")
    headers["Origin"] = "https://evil.example"
    assert ask(connect(), "OPTIONS", "/v1/rooms/general/messages", None, headers)[0] == 403


def avatars():
    """A picture is fetched once, and is a PNG that the relay has made; where there is none, that is said."""
    path = "/v1/avatars/%s?user=ada"
    for user, size in [("jo", (85, 128))] * 2 + [("ada", (100, 100))] * 3:
        status, response, content = ask(connect(), "GET", path % user)
        assert status == 200 and response.getheader("Content-Type") == "image/png", status
        with Image.open(io.BytesIO(content)) as picture:
            assert (picture.format, picture.size, dict(picture.getexif())) == ("PNG", size, {}), picture
        assert b"SECRET" not in content and b"GPS" not in content and b"eXIf" not in content
        assert response.getheader("X-Content-Type-Options") == "nosniff"
        assert response.getheader("Cache-Control").startswith("private")
    tag = {"If-None-Match": 'W/"other", ' + response.getheader("ETag")}
    status, again, content = ask(connect(), "GET", path % "ada", None, tag)
    assert status == 304 and content == b"" and again.getheader("ETag") in tag["If-None-Match"]
    assert ask(connect(), "HEAD", path % "ada")[0] == 200
    # A picture with scripts in it is none, nor is one of nobody, or one of 196 megapixels.
    for user in ("bo", "bo", "cy", "dee", "..%2F", "%00", "bomb"):
        status, _, problem = ask(connect(), "GET", path % user)
        assert status == 404 and problem["status"] == 404, (user, status, problem)
    assert ask(connect(), "GET", "/v1/avatars/ada")[0] == 401
    assert ask(connect(), "DELETE", path % "ada")[0] == 405
    # And it is where the list of people says so.
    people = ask(connect(), "GET", "/v1/people?user=ada")[2]["people"]
    assert [person.get("avatar") is not None for person in people] == [True, True, False, True, True], people


def requests():
    """A batch is worked off in order, and each of its requests has its answer in its place."""
    def post(body, user="ada", connection=None):
        return ask(connection or connect(), "POST", "/v1/requests?user=" + user, json.dumps(body))

    status, _, answers = post([
        {"type": "join", "room": "general", "after": 0, "ref": "j"},
        {"type": "send", "room": "general", "id": "1", "text": "one"},
        {"type": "nonsense", "ref": "n"},
        {"type": "send", "room": "general", "id": "1", "text": "one", "ref": "again"},
        {"type": "read", "room": "general", "seq": 1, "ref": "r"},
        {"type": "typing", "room": "general", "on": True},
        {"type": "received", "room": "elsewhere", "seq": 1},
        {"type": "history", "room": "general", "ref": "h"},
        {"type": "rooms"}, {"type": "people", "ref": "p"}, {"type": "ping", "t": [1]},
        {"type": "auth", "token": "x"}, 7,
        {"type": "leave", "room": "general"}])
    assert status == 200, (status, answers)
    assert [(a["type"], a.get("code"), a.get("ref")) for a in answers] == [
        ("joined", None, "j"), ("ack", None, None), ("error", "unknown_type", "n"), ("ack", None, "again"),
        ("ok", None, "r"), ("ok", None, None), ("error", "not_joined", None), ("history", None, "h"),
        ("rooms", None, None), ("people", None, "p"), ("pong", None, None), ("error", "bad_field", None),
        ("error", "bad_json", None), ("left", None, None)], answers
    assert answers[1]["seq"] == 1 and answers[3]["duplicate"] and answers[7]["entries"][0]["text"] == "one"
    assert answers[10]["t"] == [1]
    # Who has joined belongs to the room, and a hundred sends are in their order.
    connection = connect()
    for batch in range(2):
        sends = [{"type": "send", "room": "general", "id": "b%d" % n, "text": "x"} for n in range(100)]
        status, _, answers = post(sends, "bo", connection)
        assert status == 200 and [a["seq"] for a in answers] == list(range(2, 102)), answers
        assert [a.get("duplicate", False) for a in answers] == [batch == 1] * 100
    status, _, rooms = ask(connect(), "GET", "/v1/rooms?user=ada&limit=1")
    assert (status, rooms["type"], rooms["rooms"][0]["room"]) == (200, "rooms", "general"), rooms
    assert rooms["rooms"][0]["unread"] == 100, rooms
    # Several rooms in one join are several answers.
    status, _, answers = post([{"type": "join", "ref": "x", "rooms": [
        {"room": "a"}, {"room": "NO"}, {"room": "general", "after": 99}]}, {"type": "ping"}])
    assert [(a["type"], a.get("room"), a.get("ref")) for a in answers] == [
        ("joined", "a", "x"), ("error", None, "x"), ("joined", "general", "x"), ("pong", None, None)], answers
    assert answers[2]["after"] == 99 and answers[2]["head"] == 101
    # Long answers: what does not fit is not carried out.
    for n in range(20):
        assert post([{"type": "send", "room": "long", "id": "l%d" % n, "text": "y" * 8000}])[0] == 200
    status, _, answers = post([{"type": "history", "room": "long"}] * 3 + [
        {"type": "send", "room": "long", "id": "never", "text": "z"}])
    assert [a.get("code") for a in answers] == [None, None, "too_large", "too_large"], answers
    assert ask(connect(), "GET", "/v1/rooms/long/messages?user=ada&limit=1")[2]["head"] == 20
    for body, status in [([], 200), ({}, 400), ([{"type": "ping"}] * 101, 400), ("[", 400)]:
        got, _, answer = post(body)
        assert got == status, (body, got, answer)
    assert ask(connect(), "GET", "/v1/requests?user=ada")[0] == 405
    assert post([], "Not+a+name")[0] == 401
    # Pages of rooms.
    seen, cursor = [], ""
    while True:
        status, _, page = ask(connect(), "GET", "/v1/rooms?user=ada&limit=1" + cursor)
        seen += [row["room"] for row in page["rooms"]]
        if "next" not in page:
            break
        cursor = "&cursor=" + page["next"]
    # Room a, which has no entry, ended with its last subscription.
    assert sorted(seen) == ["general", "long"], seen
    status, _, problem = ask(connect(), "GET", "/v1/rooms?user=ada&cursor=nonsense")
    assert (status, problem["code"], problem["field"]) == (400, "bad_field", "cursor"), problem


def batch_limits():
    """A batch is charged as a whole: afterwards the budget is empty, and nothing of the next is done."""
    def post(count, start=0):
        body = [{"type": "send", "room": "general", "id": "n%d" % (start + n), "text": "x"} for n in range(count)]
        return ask(connect(), "POST", "/v1/requests?user=ada", json.dumps(body))

    assert post(20)[0] == 200
    status, response, problem = post(1, 20)
    assert (status, problem["code"]) == (429, "rate_limited"), problem
    assert int(response.getheader("Retry-After")) >= 5, response.headers
    assert ask(connect(), "GET", MESSAGES)[2]["head"] == 20


globals()[sys.argv[1]]()
print("good")
