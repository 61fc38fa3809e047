"""The relay under a service manager: units.py CASE RELAY"""
import http.client
import json
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

from relay import Relay, wait
from service_manager import UNITS, HeldThread, ServiceManager, settings

case, program = sys.argv[1:]
temporary = tempfile.TemporaryDirectory()
folder = pathlib.Path(temporary.name)
SERVICE, SOCKET = UNITS / "relay.service", UNITS / "relay.socket"


def listening(host="127.0.0.1", kind=socket.SOCK_STREAM):
    held = socket.socket(socket.AF_INET, kind)
    held.bind((host, 0))
    if kind == socket.SOCK_STREAM:
        held.listen(int(settings(SOCKET)["Backlog"][0]))
    return held


def command(configuration=""):
    """What the unit executes, with this program and this configuration."""
    file = folder / "relay.yaml"
    file.write_text(f"listen: 127.0.0.1:1\ndata: {folder}/data\nloops: 2\n{configuration}\n")
    words = settings(SERVICE)["ExecStart"][0].split()
    assert words[0] == "/usr/bin/relay" and words[-1] == "/etc/relay/relay.yaml", words
    return [program, *words[1:-1], str(file)]


def answer(port, path="/healthz", method="GET", body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, response.read()


def send(port, text):
    request = {"type": "send", "room": "general", "id": text, "text": text}
    status, answers = answer(port, "/v1/requests?user=ada", "POST", json.dumps([request]))
    assert status == 200 and json.loads(answers)[0]["type"] == "ack", answers


def with_socket(**options):
    held = listening()
    port = held.getsockname()[1]
    return port, ServiceManager(folder, [held], **options)


def started():
    """It is ready when it accepts, reloads, and stops."""
    port, manager = with_socket(watchdog_s=30)
    manager.start(command())
    assert f"STATUS=listening on ws://127.0.0.1:{port}/ws" in manager.wait_for("READY=1")
    assert manager.told[0] == "STATUS=opening the log", manager.told
    assert answer(port)[0] == 200
    log = manager.log.read_text()
    assert f"listening on ws://127.0.0.1:{port}/ws\n" in log and "(listen) is not used" in log, log
    wait(lambda: manager.last_sign, "no sign of life")

    manager.told.clear()
    before = time.monotonic()
    manager.process.send_signal(signal.SIGHUP)
    stamp = int(re.search(r"MONOTONIC_USEC=(\d+)", manager.wait_for("RELOADING=1"))[1]) / 1e6
    assert before <= stamp <= time.monotonic(), (before, stamp)
    assert manager.told[0].startswith("RELOADING=1\n")
    manager.wait_for("READY=1")
    assert manager.told.index("READY=1") == 1, manager.told

    manager.process.terminate()
    assert manager.wait_for_end() == 0
    wait(lambda: manager.told[-1].startswith("STOPPING=1\n"), lambda: str(manager.told))


def queued():
    """Over restarts clients wait in the socket's queue, and none is refused."""
    port, manager = with_socket()
    results, texts = [], []

    def connect():
        try:
            results.append(answer(port)[0])
        except OSError as error:
            results.append(repr(error))

    for stop in (signal.SIGTERM, signal.SIGKILL):
        manager.start(command())
        manager.wait_for("READY=1")
        texts.append(f"kept over {stop.name}")
        send(port, texts[-1])
        manager.process.send_signal(stop)
        manager.wait_for_end()
        results.clear()
        clients = [threading.Thread(target=connect) for _ in range(64)]
        for client in clients:
            client.start()
        manager.start(command())
        for client in clients:
            client.join()
        assert results == [200] * 64, results
        manager.process.terminate()
        assert manager.wait_for_end() == 0
    manager.start(command())
    page = json.loads(answer(port, "/v1/rooms/general/messages?user=ada&limit=10")[1])
    assert [entry["text"] for entry in page["entries"]] == texts, page


def killed(manager, thread, held=None):
    """Waits as a service manager does, and ends the relay."""
    manager.wait_for_status(f"STATUS={thread} has made no progress for ")
    silent_since = manager.last_sign
    wait(lambda: time.monotonic() - manager.last_sign > manager.watchdog_s, "signs of life go on")
    assert manager.last_sign == silent_since, "a sign of life while the thread hangs"
    assert re.search(f"critical A thread makes no progress.* thread={thread}\n", manager.log.read_text())
    manager.process.send_signal(signal.SIGABRT)
    if held:
        held.wait_for_change()
    assert manager.wait_for_end() == -signal.SIGABRT


def hung_log():
    """While the log's thread hangs there is no sign of life, and after a restart it works."""
    port, manager = with_socket(watchdog_s=4)
    manager.start(command("debug: { commit_delay_ms: 60000 }"))
    manager.wait_for("READY=1")
    wait(lambda: manager.last_sign, "no sign of life")
    # Its answer never comes.
    waiting = socket.create_connection(("127.0.0.1", port))
    body = json.dumps([{"type": "send", "room": "general", "id": "1", "text": "hangs"}]).encode()
    waiting.sendall(b"POST /v1/requests?user=ada HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                    b"application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
    killed(manager, "log-write")
    manager.start(command())
    manager.wait_for("READY=1")
    send(port, "works")


def hung_loop():
    """While a loop hangs there is no sign of life; when it goes on, they go on."""
    _, manager = with_socket(watchdog_s=4)
    manager.start(command())
    manager.wait_for("READY=1")
    first = wait(lambda: manager.last_sign, "no sign of life")
    wait(lambda: manager.last_sign > first + 2, "not repeated")
    thread = HeldThread(manager.process.pid, "loop-1")
    manager.wait_for_status("STATUS=loop-1 has made no progress for ")
    silent_since = manager.last_sign
    thread.release()
    wait(lambda: manager.last_sign > silent_since, "signs of life do not go on")
    wait(lambda: manager.told[-1].startswith("STATUS=listening on "), lambda: str(manager.told))
    assert "notice Threads make progress again. thread=loop-1" in manager.log.read_text()
    manager.told.clear()
    killed(manager, "loop-1", HeldThread(manager.process.pid, "loop-1"))


def sockets():
    """Sockets that cannot be served are refused; those for another process do not count."""
    def refusal(held, configuration=""):
        manager = ServiceManager(folder, held)
        manager.log.write_text("")
        manager.start(command(configuration))
        assert manager.wait_for_end() == 1, manager.log.read_text()
        manager.close()
        return manager.log.read_text()

    text = refusal([listening(), listening()])
    assert "has passed 2 sockets" in text and "Leave one ListenStream" in text, text
    for held in (listening(kind=socket.SOCK_DGRAM), socket.socketpair()[0]):
        text = refusal([held])
        assert "cannot be used" in text and "Let ListenStream" in text, text
    # The rules for `listen` hold for the address that is served.
    text = refusal([listening("0.0.0.0")])
    assert "auth.mode" in text or "allow_open_remote" in text, text

    port, manager = with_socket()
    manager.start(command() + ["--listen", "127.0.0.1:0"], {"LISTEN_PID": "1"})
    manager.wait_for("READY=1")
    own = int(re.search(r"listening on ws://127.0.0.1:(\d+)/ws", manager.log.read_text())[1])
    assert own != port and answer(own)[0] == 200


def exit_codes():
    """The unit leaves ended what another start cannot repair."""
    prevented = {int(code) for code in settings(SERVICE)["RestartPreventExitStatus"][0].split()}

    def ends(code, *flags, configuration="", file=None):
        result = subprocess.run(
            [*command(configuration)[:-1], file or str(folder / "relay.yaml"), "--listen", "127.0.0.1:0", *flags],
            capture_output=True, text=True, timeout=120)
        assert result.returncode == code, (code, result.returncode, result.stderr)
        assert (code in prevented) == (code != 4), prevented
        return result.stderr

    ends(1, configuration="lissten: 127.0.0.1:0")
    ends(1, file="/nonexistent.yaml")
    ends(2, "--no-such-flag")
    # Missing rights, also of root.
    ends(1, "--data", "/proc/relay")
    relay = Relay(program, folder)
    data = str(relay.data)
    assert "in use by another process" in ends(4, "--data", data)
    assert "the port is in use" in ends(4, "--data", str(folder / "other"), "--listen", f"127.0.0.1:{relay.port}")
    relay.stop()
    with sqlite3.connect(relay.data / "relay.db") as store:
        store.execute("PRAGMA user_version = 9999")
    assert "schema version 9999" in ends(1, "--data", data)
    damaged = folder / "damaged"
    damaged.mkdir(0o700)
    (damaged / "relay.db").write_bytes(b"This is no database. " * 500)
    ends(3, "--data", str(damaged))


def units():
    """systemd accepts both units, and what the service may do is little."""
    service = folder / SERVICE.name
    service.write_text(SERVICE.read_text().replace("/usr/bin/relay", program))
    (folder / SOCKET.name).write_text(SOCKET.read_text())
    for words in (["verify", "--man=no", str(service), str(folder / SOCKET.name)],
                  ["security", "--offline=true", "--threshold=20", str(service)]):
        result = subprocess.run(
            ["systemd-analyze", "--no-pager", *words], capture_output=True, text=True, timeout=120)
        said = result.stderr if words[0] == "verify" else ""
        assert result.returncode == 0 and not said, result.stdout + result.stderr
    unit, drain_s = settings(SERVICE), 10
    assert int(unit["TimeoutStopSec"][0]) > drain_s


{each.__name__: each for each in (
    started, queued, hung_log, hung_loop, sockets, exit_codes, units)}[case]()
print("good")
