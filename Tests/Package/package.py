"""The life of the package, with a relay that runs as its unit says: package.py OLD.deb NEW.deb"""
import http.client
import json
import os
import pathlib
import pwd
import re
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "EndToEndTests/Peers"))
from service_manager import ServiceManager, settings

old, new = sys.argv[1:]
DATA, CONFIGURATION = pathlib.Path("/var/lib/relay"), pathlib.Path("/etc/relay/relay.yaml")
SERVICE = pathlib.Path("/lib/systemd/system/relay.service")
SOCKET = pathlib.Path("/lib/systemd/system/relay.socket")


def run(*words):
    result = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    assert result.returncode == 0, f"{words}: {result.stdout}{result.stderr}"
    return result.stdout + result.stderr


def apt(*words):
    said = run("apt-get", "-y", "--no-install-recommends", *words)
    assert "System has not been booted" not in said, said
    return said


def named_relay():
    """Every file with this name that is the machine's own."""
    roots = [str(path) for path in pathlib.Path("/").iterdir() if path.name not in ("proc", "sys", "dev", "root", "tmp")]
    return set(run("find", *roots, "-xdev", "-iname", "*relay*", "-not", "-path", "/var/cache/apt/*").split("\n"))


def ask(method, path, body=None, token=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    connection.request(method, path, body and json.dumps(body), headers)
    response = connection.getresponse()
    text = response.read().decode()
    return response.status, json.loads(text) if text.startswith(("{", "[")) else text


def say(text):
    status, answers = ask("POST", "/v1/requests", [{"type": "send", "room": "general", "id": text, "text": text}], token)
    assert status == 200 and answers[0]["type"] == "ack", answers


def texts():
    status, page = ask("GET", "/v1/rooms/general/messages?limit=100", token=token)
    assert status == 200, page
    return [entry["text"] for entry in page["entries"]]


def start():
    """As systemd does: the data folder is created for the user, and the rest is in the unit."""
    unit = settings(SERVICE)
    assert (unit["StateDirectory"], unit["StateDirectoryMode"]) == (["relay"], ["0700"]), unit
    run("install", "-d", "-m", "0700", "-o", unit["User"][0], "-g", unit["Group"][0], str(DATA))
    manager.start(unit["ExecStart"][0].split())
    manager.wait_for("READY=1")


def stop():
    manager.process.terminate()
    assert manager.wait_for_end() == 0, manager.log.read_text()


before = named_relay()
apt("install", old)
user = pwd.getpwnam("relay")
assert user.pw_uid < 1000 and user.pw_shell.endswith("nologin"), user
assert run("systemctl", "is-enabled", "relay.socket", "relay.service").split() == ["enabled"] * 2
run("relay", "check-config", "--config", str(CONFIGURATION))
run("systemd-analyze", "verify", "--man=no", str(SERVICE), str(SOCKET))
assert run("dpkg", "--verify", "relay") == ""
assert pathlib.Path("/usr/share/man/man1/relay.1.gz").exists() and run("wschat", "--version")

temporary = tempfile.TemporaryDirectory()
os.chmod(temporary.name, 0o755)
host = settings(SOCKET)["ListenStream"][0].rsplit(":", 1)[0]
held = socket.create_server((host, 0), backlog=1024)
port = held.getsockname()[1]
manager = ServiceManager(temporary.name, [held], user="relay")
start()
assert "No picture is shown" not in manager.log.read_text(), "relay-media was not found"
link = re.search(r"/join/(\S+)", manager.log.read_text())[1]
status, account = ask("POST", f"/v1/invites/{link}", {"user": "ada"})
assert status == 201, account
token = account["token"]
say("before the upgrade")
assert os.stat(DATA).st_uid == user.pw_uid and os.stat(DATA / "relay.db").st_mode & 0o077 == 0

# An upgrade below a relay that runs, with a configuration that was changed.
CONFIGURATION.write_text(CONFIGURATION.read_text() + "# changed here\n")
apt("install", new)
assert "changed here" in CONFIGURATION.read_text()
say("during the upgrade")
stop()
waiting = threading.Thread(target=say, args=["while it restarts"])
waiting.start()
start()
waiting.join()
assert texts() == ["before the upgrade", "during the upgrade", "while it restarts"], texts()
stop()

# A removal keeps the configuration and the data, and another installation finds them.
apt("remove", "relay")
assert not pathlib.Path("/usr/bin/relay").exists() and not SERVICE.exists()
assert "changed here" in CONFIGURATION.read_text() and (DATA / "relay.db").exists()
apt("install", new)
start()
assert len(texts()) == 3, texts()
stop()
manager.close()

pathlib.Path("/etc/relay/environment").write_text("RELAY_METRICS_TOKEN=0123456789abcdef\n")
apt("purge", "relay")
left = named_relay() - before
assert not left, left
try:
    assert not pwd.getpwnam("relay"), "the user is left"
except KeyError:
    pass
print("good")
