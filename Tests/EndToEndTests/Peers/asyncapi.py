"""asyncapi.py RELAY: holds docs/asyncapi.yaml against itself, against Protocol.md, and against a relay,
to which it sends every example and whose every answer it checks."""
import asyncio
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import jsonschema
import websockets
import yaml

from relay import WITHOUT_LIMITS, Relay, wait

PROGRAM = sys.argv[1]
PROJECT = pathlib.Path(__file__).resolve().parents[3]
API = yaml.safe_load((PROJECT / "docs/asyncapi.yaml").read_text())
PROTOCOL = (PROJECT / "Sources/Protocol/Wire/Wire.docc/Protocol.md").read_text()
MESSAGES = API["components"]["messages"]
SECRET = "0123456789abcdef0123456789abcdef"

REFERENCE = {"type": "object", "required": ["$ref"], "additionalProperties": False,
             "properties": {"$ref": {"type": "string", "pattern": "^#/"}}}
NAMED_REFERENCES = {"type": "object", "minProperties": 1, "additionalProperties": REFERENCE}
# The parts of AsyncAPI 3 that the document uses, and nothing else.
STRUCTURE = {
    "type": "object", "additionalProperties": False,
    "required": ["asyncapi", "info", "channels", "operations", "components"],
    "properties": {
        "asyncapi": {"const": "3.1.0"}, "id": {"type": "string"},
        "info": {"type": "object", "required": ["title", "version"]},
        "defaultContentType": {"const": "application/json"},
        "servers": {"additionalProperties": {"type": "object", "required": ["host", "protocol"]}},
        "channels": {"additionalProperties": {
            "type": "object", "required": ["address", "messages"], "additionalProperties": False,
            "properties": {
                "address": {"type": "string", "pattern": "^/"}, "title": {"type": "string"},
                "servers": {"type": "array", "items": REFERENCE}, "parameters": {"type": "object"},
                "bindings": {"type": "object"}, "messages": NAMED_REFERENCES}}},
        "operations": {"additionalProperties": {
            "type": "object", "required": ["action", "channel", "messages"], "additionalProperties": False,
            "properties": {
                "action": {"enum": ["send", "receive"]}, "channel": REFERENCE,
                "messages": {"type": "array", "items": REFERENCE}, "bindings": {"type": "object"},
                "reply": {"type": "object", "required": ["channel", "messages"],
                          "additionalProperties": False,
                          "properties": {"channel": REFERENCE,
                                         "messages": {"type": "array", "items": REFERENCE}}}}}},
        "components": {"type": "object", "required": ["messages", "schemas"], "additionalProperties": False,
                       "properties": {
                           "messages": {"additionalProperties": {
                               "type": "object", "required": ["name", "summary", "payload"]}},
                           "schemas": {"type": "object"}}}}}

FROM_RELAY = {name: m for name, m in MESSAGES.items()
              if f"send{name[0].upper()}{name[1:]}" in API["operations"]}
FROM_CLIENT = {name: m for name, m in MESSAGES.items()
               if f"on{name[0].upper()}{name[1:]}" in API["operations"]}
OF_TYPE = {message["name"]: name for name, message in FROM_RELAY.items()}
seen = set()


def validator(name):
    """Of a message's payload; the whole document is the schema, so that its references are found."""
    return jsonschema.Draft202012Validator({**API, "$ref": f"#/components/messages/{name}/payload"})


VALIDATORS = {name: validator(name) for name in MESSAGES}


def check(value, name):
    errors = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in VALIDATORS[name].iter_errors(value)]
    assert not errors, f"{name} {json.dumps(value)[:500]}: {errors}"


def check_message(message):
    """A message from the relay, by its type."""
    assert message.get("type") in OF_TYPE, f"no such type: {message}"
    check(message, OF_TYPE[message["type"]])
    seen.add(message["type"])


# MARK: The document


def target(reference):
    value = API
    for part in reference[2:].split("/"):
        value = value[part.replace("~1", "/")]
    return value


def walk(value, path=()):
    yield path, value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from walk(child, (*path, key))


def document():
    jsonschema.Draft202012Validator.check_schema(STRUCTURE)
    errors = [f"{list(e.path)}: {e.message}" for e in jsonschema.Draft202012Validator(STRUCTURE).iter_errors(API)]
    assert not errors, errors
    for path, value in walk(API):
        if isinstance(value, dict) and isinstance(value.get("$ref"), str):
            target(value["$ref"])
    for name, operation in API["operations"].items():
        channel = operation["channel"]["$ref"]
        for reference in operation["messages"]:
            assert reference["$ref"].startswith(f"{channel}/messages/"), name
        for reference in operation.get("reply", {}).get("messages", []):
            assert reference["$ref"].startswith(f"{operation['reply']['channel']['$ref']}/messages/"), name
    for name, message in MESSAGES.items():
        jsonschema.Draft202012Validator.check_schema(message["payload"])
        assert message["payload"] is False or message["examples"], name
        for example in message.get("examples", []):
            check(example["payload"], name)
    for schema in API["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    # What the relay sends is described completely: an object allows no other fields.
    for name, message in FROM_RELAY.items():
        check_strict(name, message["payload"])


def check_strict(name, schema):
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        return check_strict(schema["$ref"], target(schema["$ref"]))
    if schema.get("type") == "object":
        assert "additionalProperties" in schema, f"{name} allows other fields"
        assert schema["additionalProperties"] is not True, name
    for part in (*schema.get("properties", {}).values(), schema.get("items")):
        check_strict(name, part)


# MARK: Protocol.md

# Fields of relay.v1 that Protocol.md does not list in the table of their message: it explains `ref`, `type`
# and what the kinds of `message` have in common elsewhere.
ELSEWHERE = {"ref", "type"}
AS_IN_SEND = {"reply_to", "file", "name", "emoji", "on", "title", "topic", "access", "history", "post", "slow_s", "user",
              "role", "until", "reason"}


def tables(section):
    """The tables of a section: for each, the fields that its first column names."""
    for table in re.split(r"\n\n", section):
        rows = [row for row in table.splitlines() if row.startswith("| ")]
        if rows and rows[0].startswith("| field"):
            yield rows[0], {field for row in rows[1:] for field in re.findall(r"`(\w+)`", row.split("|")[1])}


def payload(name):
    schema = MESSAGES[name]["payload"]
    fields = set((target(schema["$ref"]) if "$ref" in schema else schema)["properties"])
    for part in schema.get("allOf", []):
        fields |= set(target(part["$ref"])["properties"])
    return fields


def protocol():
    sections = dict(re.findall(r"\n### (`\w+` [→←])\n(.*?)(?=\n##)", PROTOCOL, re.DOTALL))
    documented = {(heading.split("`")[1], heading[-1]) for heading in sections}
    described = {(m["name"], "→") for m in FROM_CLIENT.values()} | {(m["name"], "←") for m in FROM_RELAY.values()}
    assert documented == described, documented ^ described
    for group, arrow in ((FROM_CLIENT, "→"), (FROM_RELAY, "←")):
        for name, message in group.items():
            found = list(tables(sections.get(f"`{message['name']}` {arrow}", "")))
            fields = set().union(*(fields for head, fields in found if "row" not in head))
            expected = payload(name) - ELSEWHERE
            optional = AS_IN_SEND if name == "message" else set()
            assert fields <= expected | optional | ELSEWHERE, (name, fields - expected)
            assert expected - fields <= optional, (name, expected - fields)
            for head, row in found:
                if "row" in head:
                    schema = {"roomsPage": "RoomRow", "peoplePage": "PersonRow"}[name]
                    difference = row ^ set(API["components"]["schemas"][schema]["properties"])
                    assert not difference, (name, difference)
    codes = re.search(r"\n## Error codes\n(.*?)\n## ", PROTOCOL, re.DOTALL)[1]
    documented = set(re.findall(r"\n\| `(\w+)` \|", codes))
    described = set(API["components"]["schemas"]["ErrorCode"]["enum"])
    assert documented == described, documented ^ described
    outcomes = set(API["components"]["schemas"]["Resume"]["enum"])
    assert all(f"`{outcome}`" in PROTOCOL for outcome in outcomes)


# MARK: A relay


class Peer:
    """A connection that checks every message that it gets."""

    def __init__(self, socket):
        self.socket, self.messages = socket, []

    async def until(self, matches, what):
        while True:
            try:
                message = json.loads(await asyncio.wait_for(self.socket.recv(), 60))
            except asyncio.TimeoutError:
                raise TimeoutError(f"no {what} after {self.messages[-5:]}") from None
            check_message(message)
            self.messages.append(message)
            if matches(message):
                return message

    async def ask(self, request):
        """Sends a request, and reads to its answer."""
        request = {"ref": f"ref {len(self.messages)}", **request}
        await self.socket.send(json.dumps(request))
        return await self.until(lambda m: m.get("ref") == request["ref"], request)


async def examples(relay, file):
    """Every example of a client's message is answered as its operation says."""
    async with websockets.connect(f"{relay.socket}?user=ada") as a, websockets.connect(f"{relay.socket}?user=bo") as b:
        ada, bo = Peer(a), Peer(b)
        await bo.until(lambda m: m["type"] == "welcome", "welcome")
        await bo.ask({"type": "rooms"})
        await bo.ask({"type": "join", "rooms": [{"room": "general"}, {"room": "tea", "subscribers": True}]})
        await bo.until(lambda m: m["type"] == "joined" and m["room"] == "tea", "joined tea")
        await ada.until(lambda m: m["type"] == "welcome", "welcome")
        for name, message in FROM_CLIENT.items():
            operation = API["operations"][f"on{name[0].upper()}{name[1:]}"]
            replies = {target(target(r["$ref"])["$ref"])["name"] for r in operation["reply"]["messages"]}
            for example in message["examples"]:
                payload = example["payload"]
                answer = await ada.ask({**payload, "file": file} if "file" in payload else payload)
                assert answer["type"] in replies, (example, answer)
                # An open relay takes no token; everything else succeeds.
                assert answer["type"] != "error" or name == "auth", (example, answer)
        # What comes of that to another member.
        sent = await bo.ask({"type": "send", "room": "general", "id": "bo-1", "text": "read this"})
        await ada.ask({"type": "read", "room": "general", "seq": sent["seq"]})
        wanted = {"receipt", "typing", "subscribers", "message", "activity"}
        if not wanted <= {m["type"] for m in bo.messages}:
            await bo.until(lambda _: wanted <= {m["type"] for m in bo.messages}, wanted)
        await ada.ask({"type": "history", "room": "general", "limit": 500})
        for refused in ({"type": "jump"}, {"type": "typing", "room": "nowhere", "on": True},
                        {"type": "send", "room": "sys:a", "id": "x", "text": "no"},
                        {"type": "send", "room": "general", "id": "x", "text": "x" * 9000},
                        {"type": "send", "room": "general", "id": "x2", "kind": "edit", "target": 99, "text": "t"},
                        {"type": "history", "room": "general", "limit": 0}):
            answer = await ada.ask(refused)
            assert answer["type"] == "error", answer
        relay.process.send_signal(signal.SIGTERM)
        await ada.until(lambda m: m["type"] == "closing", "closing")
    relay.process.wait(60)


def request(relay, path, content=None, **query):
    """The status and the JSON of an answer."""
    url = f"{relay.url}{path}?{urllib.parse.urlencode({'user': 'ada', **query})}"
    data = None if content is None else json.dumps(content).encode()
    try:
        with urllib.request.urlopen(
                urllib.request.Request(url, data, {"Content-Type": "application/json"}), timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        text = error.read()
        return error.code, json.loads(text) if text.startswith(b"{") else {}


# What is asked by the operators' socket: the method, the path, and the message that answers it.
FOR_OPERATORS = {
    "getConnections": ("GET", "/v1/connections", "connections"),
    "deleteConnection": ("DELETE", "/v1/connections/none", "problem"),
    "getTraceByID": ("GET", "/v1/traces/4bf92f3577b34da6a3ce929d0e0e4736", "trace"),
}


def as_operator(relay, method, path):
    """The JSON of an answer to the operator's socket."""
    return json.loads(subprocess.check_output(
        ["curl", "-s", "-X", method, "--unix-socket", relay.data / "operator.sock", f"http://localhost{path}"]))


def exchange(relay, operation, file="", example=None, answer=0, **query):
    """Does an operation of files, and holds the answer against its message; returns its headers and content."""
    operation = API["operations"][operation]
    address = target(operation["channel"]["$ref"])["address"].replace("{file}", file)
    asked = target(target(operation["messages"][0]["$ref"])["$ref"])
    headers = {"Tus-Resumable": "1.0.0"}
    content = None
    if example is not None:
        example = asked["examples"][example]
        errors = list(jsonschema.Draft202012Validator(asked["headers"]).iter_errors(example["headers"]))
        assert not errors, errors
        headers = {**{name: str(value) for name, value in example["headers"].items()}, "Content-Type": asked["contentType"]}
        content = example["payload"].encode()
    made = urllib.request.Request(
        f"{relay.url}{address}?{urllib.parse.urlencode({'user': 'ada', **query})}", content, headers,
        method=operation["bindings"]["http"]["method"])
    if made.method == "GET":
        made.remove_header("Tus-resumable")
    try:
        found = urllib.request.urlopen(made, timeout=60)
    except urllib.error.HTTPError as error:
        found = error
    name = operation["reply"]["messages"][answer]["$ref"].split("/")[-1]
    content = found.read()
    if name in ("problem", "fileLink"):
        check(json.loads(content), name)
    assert (MESSAGES[name]["payload"] is False) <= (not content), (name, content)
    schema = MESSAGES[name].get("headers", {})
    values = {key: int(value) if value.isdigit() else value for key, value in found.headers.items()}
    errors = [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(values)]
    assert not errors, (name, errors)
    return found.headers, content


def files(relay):
    """The operations of files, from an upload in two parts to the link; returns the file."""
    headers, _ = exchange(relay, "postFile", example=0)
    file = headers["Location"].rsplit("/", 1)[1]
    assert headers["Upload-Offset"] == "5", headers
    assert exchange(relay, "headFile", file)[0]["Upload-Length"] == "11"
    assert exchange(relay, "patchFile", file, example=1)[0]["Upload-Offset"] == "11"
    exchange(relay, "getFile", file, answer=1)
    assert request(relay, "/v1/rooms/general/messages", {"kind": "file", "id": "named", "file": file, "name": "a.txt"})[0] == 201
    query = API["operations"]["getFile"]["bindings"]["http"]["query"]["examples"][0]
    assert exchange(relay, "getFile", file, **query)[1] == b"hello world"
    exchange(relay, "getThumbnail", file, answer=1)
    exchange(relay, "postFileLink", file)
    exchange(relay, "deleteFile", file, answer=1)
    other = exchange(relay, "postFile", example=0)[0]["Location"].rsplit("/", 1)[1]
    exchange(relay, "deleteFile", other)
    return file


OF_FILES = {"postFile", "patchFile", "headFile", "getFile", "deleteFile", "getThumbnail", "postFileLink"}


def over_http(relay):
    traced = {"id": "traced", "text": "hi", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
    assert request(relay, "/v1/rooms/general/messages", traced)[0] == 201
    for name, operation in API["operations"].items():
        if "http" not in operation.get("bindings", {}) or name == "getStream" or name in OF_FILES:
            continue
        if name in FOR_OPERATORS:
            method, path, answer = FOR_OPERATORS[name]
            check(as_operator(relay, method, path), answer)
            continue
        if name == "getSamples":  # the second look is the first sample
            check(wait(lambda: (found := as_operator(relay, "GET", "/v1/samples?after=0"))["samples"] and found, "a sample"), "samples")
            check(as_operator(relay, "GET", "/v1/samples?after=x"), "problem")
            continue
        address = target(operation["channel"]["$ref"])["address"].replace("{room}", "general").replace("{entry}", "1")
        binding, replies = operation["bindings"]["http"], operation["reply"]["messages"]
        message = target(target(operation["messages"][0]["$ref"])["$ref"])
        asked = [(None, query) for query in binding.get("query", {}).get("examples", [])]
        if binding["method"] == "POST":
            asked = [(example["payload"], {}) for example in message["examples"]]
        assert asked, name
        for content, query in asked:
            query = {key: json.dumps(value) if isinstance(value, bool) else value for key, value in query.items()}
            status, answer = request(relay, address, content, **query)
            assert status in (200, 201), (name, status, answer)
            check(answer, target(replies[0]["$ref"])["$ref"].split("/")[-1])
            for part in answer if isinstance(answer, list) else []:
                check_message(part)
    for path, content, query in (
            ("/v1/rooms/general/messages", {"id": "x"}, {}), ("/v1/rooms/sys:a/messages", None, {}),
            ("/v1/rooms/general/messages", None, {"limit": 0}), ("/v1/people", None, {"cursor": "?"})):
        status, answer = request(relay, path, content, **query)
        assert status >= 400, (path, answer)
        check(answer, "problem")


def stream(relay):
    """The events are the relay's messages."""
    query = API["operations"]["getStream"]["bindings"]["http"]["query"]["examples"][0]
    url = f"{relay.url}/v1/stream?{urllib.parse.urlencode({'user': 'ada', **query})}"
    try:
        events = urllib.request.urlopen(url, timeout=60)
    except urllib.error.HTTPError as error:
        assert error.code == 404, error
        return print("getStream: this relay does not have it", file=sys.stderr)
    replies = {target(target(reply["$ref"])["$ref"])["name"]
               for reply in API["operations"]["getStream"]["reply"]["messages"]}
    with events:
        for line in events:
            if line.startswith(b"data:"):
                message = json.loads(line[5:])
                check_message(message)
                assert message["type"] in replies, message
                if message["type"] == "message":
                    return None


async def tokens(relay, program):
    """`renewed`, and what a token's expiry adds to `welcome`."""
    async def token(seconds):
        process = await asyncio.create_subprocess_exec(
            program, "token", "--user", "ada", "--ttl", f"{seconds}s",
            env={"RELAY_AUTH_MODE": "jwt", "RELAY_AUTH_SECRET": SECRET},
            stdout=asyncio.subprocess.PIPE)
        return (await process.communicate())[0].decode().strip()

    async with websockets.connect(relay.socket) as socket:
        ada = Peer(socket)
        welcome = await ada.ask({"type": "auth", "token": await token(600)})
        assert welcome["type"] == "welcome" and welcome["expires_in_ms"] > 0, welcome
        renewed = await ada.ask({"type": "auth", "token": await token(900)})
        assert renewed["type"] == "renewed", renewed
        refused = await ada.ask({"type": "auth", "token": "eyJhbGciOi"})
        assert refused["code"] == "unauthorized", refused


def main():
    document()
    protocol()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        folder = pathlib.Path(folder)
        (folder / "people.yaml").write_text("[{ user: ada, name: Ada }, { user: bo, name: Bo }]\n")
        configuration = (f"{WITHOUT_LIMITS}\nbots: [{{ user: echo, behaviour: echo }}]\n"
                         f"directory: {{ file: {folder / 'people.yaml'} }}\n")
        relay = Relay(PROGRAM, folder, configuration)
        over_http(relay)
        file = files(relay)
        stream(relay)
        asyncio.run(examples(relay, file))
        (folder / "tokens").mkdir()
        relay = Relay(PROGRAM, folder / "tokens", f"auth: {{ mode: jwt, secret: {SECRET} }}")
        asyncio.run(tokens(relay, PROGRAM))
        relay.kill()
    unseen = set(OF_TYPE) - seen
    assert not unseen, f"the relay has not sent {unseen}"
    print("good")


main()
