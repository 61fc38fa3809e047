"""The backup of a relay that works, and what is restored from it: `python3 -B backup.py CASE RELAY`."""
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from files import Files, png
from relay import MORTAL, PATIENCE_S, WITHOUT_LIMITS, Relay, wait

PART_BYTES = 8 << 20
LAG_S = 10


class Load:
    """Users that send texts until it is stopped, through kills of the relay; `acked` has what was acknowledged."""

    def __init__(self, relay, users=4, pause_s=0):
        self.relay, self.acked, self.is_over, self.pause_s = relay, [], False, pause_s
        self.threads = [threading.Thread(target=self.run, args=[f"user{number}"], daemon=True)
                        for number in range(users)]
        for thread in self.threads:
            thread.start()

    def run(self, user):
        number = 0
        while not self.is_over:
            room = f"room{number % 3}"
            sends = [{"type": "send", "room": room, "id": f"{user}-{number}-{place}", "text": f"{number} " + "x" * 500}
                     for place in range(20)]
            number += 1
            try:
                answers = self.relay.request(user, sends)
            except (OSError, AssertionError):
                time.sleep(0.05)
                continue
            self.acked += [(room, send["id"], answer["seq"]) for send, answer in zip(sends, answers)]
            time.sleep(self.pause_s)

    def stop(self):
        self.is_over = True
        for thread in self.threads:
            thread.join(PATIENCE_S)


class Case:
    def __init__(self, program, folder, configuration=""):
        self.program, self.folder = program, pathlib.Path(folder)
        self.relay = Relay(program, folder, f"{WITHOUT_LIMITS}\n{configuration}")
        self.place, self.restored = self.folder / "backup", 0

    def command(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == status, f"{arguments}: {done.returncode} {done.stdout}{done.stderr}"
        return done

    def start(self, *arguments):
        return subprocess.Popen(
            [*MORTAL, self.program, "backup", "--data", self.relay.data, "--to", self.place, *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def backup(self, *arguments, status=0):
        return self.command("backup", "--data", self.relay.data, "--to", self.place, *arguments, status=status)

    def restore(self, *arguments, status=0, into=None):
        """Restores into a new folder, and returns it."""
        self.restored += 1
        into = into or self.folder / f"restored{self.restored}"
        self.said = self.command("restore", "--from", self.place, "--data", into, *arguments, status=status)
        if status == 0:
            self.command("verify", "--data", into)
        return into

    def entries(self, data):
        """The entries of a store, as (room, id, seq)."""
        lines = map(json.loads, self.command("export", "--data", data).stdout.splitlines())
        return {(line["room"], line["id"], line["seq"]): line for line in lines if line["type"] == "message"}

    def objects(self):
        names = [path.name for path in self.place.iterdir()] if self.place.exists() else []
        return sorted(name for name in names if not name.endswith(".new"))

    def points(self):
        """Numbers and times of the points."""
        lines = self.command("restore", "--from", self.place, "--list").stdout.splitlines()
        return [(int(line.split("\t")[0]), line.split("\t")[1]) for line in lines]

    def last_point_ms(self):
        return max([int(name.split(".")[1]) for name in self.objects() if ".point-" in name], default=0)

    def fill(self, mebibytes):
        texts = ["0123456789abcdef" * 500] * 7  # as many as a request may have
        for _ in range(mebibytes * 18):
            self.relay.send("ada", "ballast", *texts)


def gapless(entries):
    """Whether each room has every number from 1."""
    rooms = {}
    for room, _, seq in entries:
        rooms.setdefault(room, []).append(seq)
    return all(sorted(seqs) == list(range(1, len(seqs) + 1)) for seqs in rooms.values())


def under_load(case):
    """What was acknowledged before a backup began is in it, and nothing that was not sent."""
    load = Load(case.relay)
    for count in range(3):
        wait(lambda: len(load.acked) > 500 * (count + 1), "there is no load")
        before = list(load.acked)
        case.backup()
        found = case.entries(case.restore())
        assert set(before) <= set(found), f"{len(set(before) - set(found))} of {len(before)} are missing"
        assert gapless(found)
    load.stop()
    case.backup()
    assert case.entries(case.restore()).keys() == set(load.acked) == case.entries(case.relay.data).keys()
    # Every point is sound, not only the last.
    assert len(case.points()) == 4
    for number, _ in case.points():
        assert gapless(case.entries(case.restore("--at", number)))


def killed(case):
    """A backup that was killed goes on where it was, also if the relay was killed as well."""
    case.fill(40)
    load = Load(case.relay, users=1)

    def size():
        return sum((case.place / name).stat().st_size for name in case.objects())
    for kill in (case.relay.kill, lambda: None):
        process = case.start("--rate", "8MB")
        before = size()
        wait(lambda: size() > before + PART_BYTES, "nothing is stored")
        process.kill()
        process.wait()
        kill()
        if kill == case.relay.kill:
            case.relay.start()
    load.stop()
    assert case.points() == [], "nothing is complete yet"
    case.restore(status=1)
    assert "no complete backup" in case.said.stderr
    stored = size()
    new = int(re.search(r"(\d+) bytes were new", case.backup().stdout)[1])
    total = (case.relay.data / "relay.db").stat().st_size
    assert stored > 2 * PART_BYTES and new < total - stored + PART_BYTES // 2, f"{new} of {total} after {stored}"
    assert not list(case.place.glob("*.new"))
    assert case.entries(case.restore()).keys() == case.entries(case.relay.data).keys()


def follow(case):
    """What is acknowledged is stored within ten seconds, through kills of both sides and deletions."""
    load = Load(case.relay, users=1, pause_s=0.2)
    worst = 0
    for turn in range(3):
        process = case.start("--follow", "--interval", "1s")
        for _ in range(2):
            seq, = case.relay.send("ada", "marked", "a mark")
            acked = time.time()
            # A point is read before it is stored, which its time is of.
            wait(lambda: case.last_point_ms() > acked * 1000 + 500, "there is no point")
            worst = max(worst, time.time() - acked)
            found = [seq for room, _, seq in case.entries(case.restore()) if room == "marked"]
            assert seq in found, f"{seq} is not in {found}"
        # Each makes the relay begin its write-ahead log anew.
        for target in case.relay.send("ada", "marked", *["a mistake"] * 5):
            case.relay.request("ada", [
                {"type": "send", "room": "marked", "id": f"delete-{target}", "kind": "delete", "target": target}])
            time.sleep(0.1)
        if turn == 1:
            case.relay.kill()
            case.relay.start()
        process.kill()
        process.wait()
        case.relay.send("ada", "marked", "between two runs")
    load.stop()
    case.backup()
    assert worst <= LAG_S, f"{worst} s"
    found = case.entries(case.restore())
    assert set(load.acked) <= set(found)
    assert found.keys() == case.entries(case.relay.data).keys()
    for number, _ in case.points()[::5]:
        assert gapless(case.entries(case.restore("--at", number)))


def deleted(case):
    """A deleted text is in no object after its points were given up."""
    secret = "do not keep this"
    seq, = case.relay.send("ada", "general", secret)

    def holders():
        return [name for name in case.objects() if secret.encode() in (case.place / name).read_bytes()]
    case.backup()
    assert holders(), "the text is not stored as it is"
    case.relay.request("ada", [
        {"type": "send", "room": "general", "id": "d", "kind": "delete", "target": seq}])
    wait(lambda: secret.encode() not in (case.relay.data / "relay.db-wal").read_bytes(), "not erased")
    case.backup("--full-every", "1s", "--keep", "1s")
    time.sleep(2.1)
    for _ in range(2):
        case.backup("--full-every", "1s", "--keep", "1s")
        time.sleep(1.1)
    assert holders() == []
    data = case.restore()
    assert all(secret not in json.dumps(line) for line in case.entries(data).values())


def damaged(case):
    """A damaged, replaced or missing object is named, and earlier points are not affected."""
    case.relay.send("ada", "general", "one")
    case.backup()
    case.relay.send("ada", "general", "two")
    case.backup()
    case.relay.send("ada", "general", "three")
    case.backup()
    first, second, third = case.objects()

    def refused(status, *words):
        target = case.restore(status=status)
        assert all(word in case.said.stderr for word in words), case.said.stderr
        assert not (target / "relay.db").exists()
    path = case.place / second
    whole = path.read_bytes()
    for place in (5, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1:])
        refused(3, second, "damaged")
    path.write_bytes(whole[:-100])
    refused(3, second, "damaged")
    path.write_bytes((case.place / first).read_bytes())
    refused(3, second, "damaged")
    path.unlink()
    refused(3, third, "missing")
    assert len(case.entries(case.restore("--at", 1))) == 1
    # The next backup begins anew, and says so.
    assert third in case.backup().stderr
    assert len(case.entries(case.restore())) == 3
    # Another store, a folder that is not empty, a place that does not exist, no such point.
    other = pathlib.Path(tempfile.mkdtemp(dir=case.folder))
    relay = Relay(case.program, other)
    assert "another store" in case.command(
        "backup", "--data", relay.data, "--to", case.place, status=1).stderr
    relay.stop()
    case.restore(into=other / "data", status=1)
    assert "empty" in case.said.stderr
    assert "Check the path" in case.command("restore", "--from", other / "none", "--list", status=1).stderr
    case.restore("--at", "2001-01-01T00:00:00Z", status=1)
    (first, time_of_first), *_, (last, time_of_last) = case.points()
    assert f"no such point: the first is {first}, of {time_of_first}, the last {last}, of {time_of_last}." \
        in case.said.stderr, case.said.stderr
    case.command("backup", "--data", other / "none", "--to", case.place, status=1)


def damaged_store(case):
    """A damaged page is not stored."""
    case.fill(2)
    case.backup()
    case.relay.stop()
    database = case.relay.data / "relay.db"
    content = bytearray(database.read_bytes())
    content[len(content) // 2] ^= 1
    database.write_bytes(content)
    assert "relay verify" in case.backup(status=3).stderr
    assert len(case.entries(case.restore())) == 2 * 18 * 7
    # What does not even begin as a database is not taken for a file of another kind.
    content[len(content) // 2] ^= 1
    database.write_bytes(b"?" + content[1:])
    assert "its beginning is damaged" in case.backup(status=3).stderr
    database.write_bytes(content)
    accounts = case.relay.data / "accounts.db"
    accounts.write_bytes(b"damaged")
    assert "accounts.db is not a database" in case.backup(status=3).stderr
    accounts.unlink()
    case.backup()
    assert len(case.entries(case.restore())) == 2 * 18 * 7
    # Nor is a store of which only the rest is there.
    database.write_bytes(b"")
    assert "relay.db, which has the messages, is empty, but the folder has index.db" in case.backup(status=3).stderr


def rate(case):
    """A rate is held."""
    case.fill(20)
    case.relay.stop()
    size = (case.relay.data / "relay.db").stat().st_size
    began = time.monotonic()
    case.backup("--rate", "8MB")
    took = time.monotonic() - began
    assert took > size / 8e6 - 0.5, f"{size} bytes in {took} s"
    assert case.entries(case.restore()).keys() == case.entries(case.relay.data).keys()


def at(case):
    """A point is selected by its number or by a time."""
    for number in range(3):
        case.relay.send("ada", "general", f"text {number}")
        case.backup()
        time.sleep(1.1)
    points = case.points()
    assert [number for number, _ in points] == [1, 2, 3]
    for count, (number, moment) in enumerate(points, 1):
        assert len(case.entries(case.restore("--at", number))) == count
        assert len(case.entries(case.restore("--at", moment))) == count
        # As the log has it.
        zone = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
        logged = datetime.datetime.fromisoformat(moment.replace("Z", ".123+00:00")).astimezone(zone)
        assert len(case.entries(case.restore("--at", logged.isoformat(timespec="milliseconds")))) == count
    for wrong in (
            "0", "yesterday", "2026-11-27", "2026-13-27T00:00:00Z", "2026-11-27T00:00:00", "2026-11-27T00:00:00+1:00",
            "2026-11-27T00:00:00+24:00", "2026-11-27T00:00:00Z+01:00"):
        case.restore("--at", wrong, status=2)


def accounts(case):
    """Accounts and their sessions come back, and all files are their owner's only."""
    link = wait(lambda: re.search(r"/join/(\S+)", (case.folder / "relay.log").read_text()), "there is no link")

    def post(path, content, token=None):
        request = urllib.request.Request(
            case.relay.url + path, json.dumps(content).encode(),
            {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return json.load(answer)
    code = re.match(r"[A-Za-z0-9_-]+", link[1])[0]
    token = post(f"/v1/invites/{code}", {"user": "ada"})["token"]
    post("/v1/requests", [{"type": "send", "room": "general", "id": "1", "text": "hello"}], token)
    case.backup()
    data = case.restore()
    assert {path.name for path in data.iterdir()} >= {"accounts.db", "directory.json", "relay.db"}
    for path in [data, *data.iterdir(), case.place, *case.place.iterdir()]:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), f"{path}: {mode:o}"
    case.relay.kill()
    os.rename(case.relay.data, case.folder / "lost")
    os.rename(data, case.relay.data)
    case.relay.start()
    assert post("/v1/requests", [{"type": "send", "room": "general", "id": "1", "text": "hello"}], token)[0]["duplicate"]


def served(case, paths):
    """What a relay serves of files and thumbnails to the user who has sent them; `None` = nothing."""
    answers = [Files(case.relay).ask("GET", path) for path in paths]
    return [answer.content if answer.status == 200 else None for answer in answers]


def move_in(case, data):
    """Puts a restored folder in the place of the relay's, and starts a relay on it."""
    case.relay.kill()
    shutil.rmtree(case.relay.data)
    os.rename(data, case.relay.data)
    case.relay.start()


def files(case):
    """The bytes of files come back, each stored once, and go when no point needs them."""
    users = Files(case.relay)
    contents = [os.urandom(20 << 20), b"small", b""]
    paths = [users.upload(content) for content in contents]
    seqs = [users.show(path, "general") for path in paths]
    picture = users.upload(png(900, 300))
    users.show(picture, "general", "a.png")
    unsent = users.upload(b"unsent")
    paths += [picture, picture + "/thumbnail"]
    contents = served(case, paths)
    assert None not in contents
    place = case.place / "files"

    def pieces():
        return {path.name: path.stat().st_mtime_ns for path in place.iterdir()} if place.exists() else {}
    # One that is killed in the middle of a file goes on with it.
    process = case.start("--rate", "8MB")
    wait(pieces, "nothing is stored")
    process.kill()
    process.wait()
    assert case.points() == [], "a point has its files"
    case.backup()
    stored = pieces()
    assert sorted(name.split(".")[1] for name in stored) == ["1-1"] * 5 + ["1-3", "2-3", "3-3"], stored
    move_in(case, case.restore())
    assert served(case, paths) == contents
    mode = {stat.S_IMODE(path.stat().st_mode) for path in (case.relay.data / "files").rglob("*")}
    assert mode == {0o700, 0o600}, mode
    assert users.show(unsent, "general") == 5, "also what was not sent yet"
    # What is there is not stored again.
    paths.append(users.upload(b"later"))
    users.show(paths[-1], "general")
    contents.append(b"later")
    time.sleep(1.1)
    case.backup("--full-every", "1s")
    new = pieces().keys() - stored.keys()
    assert len(new) == 1 and {name: time for name, time in pieces().items() if name in stored} == stored
    # An earlier point brings a deleted file back.
    number = case.points()[-1][0]
    case.relay.send("ada", "general", {"kind": "delete", "target": seqs[0]})
    wait(lambda: not any(path.stat().st_size > 16 << 20 for path in (case.relay.data / "files").rglob("*")),
         "the bytes are still there")
    case.backup()
    assert sum("unneeded" in name for name in pieces()) == 1
    earlier = case.restore("--at", number)
    assert hashlib.sha256(contents[0]).hexdigest() in {path.name for path in earlier.rglob("*")}
    assert served(case, paths) == [None, *contents[1:]]
    # They go with the last point that needs them.
    for _ in range(3):
        time.sleep(1.1)
        case.backup("--full-every", "1s", "--keep", "1s")
    assert not any(name.endswith("-3") or "unneeded" in name for name in pieces()), pieces()
    move_in(case, case.restore())
    assert served(case, paths) == [None, *contents[1:]]


def lost_files(case):
    """A file whose bytes are lost keeps nothing else back, and is named."""
    users = Files(case.relay)
    paths = [users.upload(content) for content in (b"one", b"two", b"three")]
    for path in paths:
        users.show(path, "general")
    case.backup()
    # In the relay.
    four = users.upload(b"four")
    users.show(four, "general")
    hash = hashlib.sha256(b"four").hexdigest()
    (case.relay.data / "files" / hash[:2] / hash).unlink()
    assert hash in case.backup(status=3).stderr
    # In the place.
    damaged, missing = (case.place / "files" / f"{hashlib.sha256(content).hexdigest()}.1-1" for content in (b"one", b"two"))
    damaged.write_bytes(b"0ne")
    missing.unlink()
    data = case.folder / "lossy"
    case.restore(status=3, into=data)
    assert "lacks the bytes of 3 files and thumbnails" in case.said.stderr, case.said.stderr
    for content in (b"one", b"two", b"four"):
        assert f"files/{hashlib.sha256(content).hexdigest()}" in case.said.stderr
    named = case.command("verify", "--data", data, status=3).stdout
    assert all(path.rsplit("/", 1)[1] in named for path in (*paths[:2], four)) and paths[2] not in named
    move_in(case, data)
    assert served(case, [*paths, four]) == [None, None, b"three", None]
    # What is deleted in the place is stored again.
    again = users.upload(b"two")
    users.show(again, "general")
    assert hash in case.backup(status=3).stderr
    assert missing.read_bytes() == b"two"


def s3(case):
    """A bucket that fails now and then takes the place of a folder; what it refuses is said."""
    import s3_server
    server = s3_server.Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    os.environ |= {"AWS_ACCESS_KEY_ID": s3_server.KEY_ID, "AWS_SECRET_ACCESS_KEY": s3_server.SECRET,
                   "AWS_SESSION_TOKEN": "a token", "AWS_REGION": s3_server.REGION, "AWS_ENDPOINT_URL": server.url}
    case.place = "s3://flaky/relays/one"
    case.fill(10)
    load = Load(case.relay, users=1, pause_s=0.1)
    process = case.start("--follow", "--interval", "1s")
    objects = server.objects.setdefault("flaky", {})
    content = os.urandom(9 << 20)
    path = Files(case.relay).upload(content)
    Files(case.relay).show(path, "general")
    wait(lambda: sum("point" in key for key in objects) > 2, "there is no point")
    process.kill()
    process.wait()
    load.stop()
    case.backup()
    assert all(key.startswith("relays/one/") for key in objects)
    assert case.entries(case.restore()).keys() == case.entries(case.relay.data).keys()
    assert len(case.points()) > 2
    assert sum("/files/" in key for key in objects) == 2
    move_in(case, case.restore())
    assert served(case, [path]) == [content]
    key = sorted(objects)[1]
    objects[key] = objects[key][:-1] + b"x"
    case.restore(status=3)
    assert key.split("/")[-1] in case.said.stderr
    del objects[key]
    case.restore(status=3)
    assert "missing" in case.said.stderr
    case.place = "s3://absent"
    assert "Create it" in case.backup(status=1).stderr
    os.environ["AWS_SECRET_ACCESS_KEY"] = "another"
    said = case.backup(status=1).stderr
    assert "Check AWS_ACCESS_KEY_ID" in said and "another" not in said
    del os.environ["AWS_SECRET_ACCESS_KEY"]
    assert "AWS_SECRET_ACCESS_KEY" in case.backup(status=1).stderr


CASES = {function.__name__: function for function in (
    under_load, killed, follow, deleted, damaged, damaged_store, rate, at, accounts, files, lost_files, s3)}

if __name__ == "__main__":
    name, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        case = Case(program, folder, "auth: { mode: accounts }" if name == "accounts" else "")
        try:
            CASES[name](case)
        finally:
            case.relay.process.kill()
    print("good")
