"""What the cases of the web page share: a relay, and questions to the page. `PROGRAM CASE RELAY` plays one case."""
import json
import pathlib
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from chromium import Browser, Failure

RELAY = sys.argv[2]
WITHOUT_LIMITS = "limits: { connections_per_user: 0, sends_per_s: 0, burst: 0, requests_per_s: 0, bytes_per_s: 0 }"
ECHO = "bots: [{ user: echo, name: Echo, behaviour: echo, reply_delay_s: [0.05, 0.1] }]"
ONLINE = "document.querySelector('.health')?.dataset.state === 'online'"
PATIENCE_S = 60


class Relay:
    """A relay whose port stays the same over restarts."""

    def __init__(self, folder, configuration, *flags):
        self.folder, self.port, self.flags = pathlib.Path(folder), 0, flags
        (self.folder / "relay.yaml").write_text(f"data: {folder}/data\n{configuration}\n")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", RELAY, "serve", "--config", self.folder / "relay.yaml", "--listen",
             f"127.0.0.1:{self.port}", *self.flags], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if match := re.search(r"listening on ws://127.0.0.1:(\d+)/ws", line):
                self.port = int(match[1])
                break
        else:
            raise Failure("the relay has not started")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        status = self.process.wait(PATIENCE_S)
        check(by == signal.SIGKILL or status == 0, f"the relay ended with {status}")

    def get(self, path):
        with urllib.request.urlopen(f"{self.url}{path}", timeout=PATIENCE_S) as answer:
            return json.load(answer)

    def request(self, user, messages):
        """Carries out requests in order; returns their answers."""
        answers = []
        for start in range(0, len(messages), 100):
            request = urllib.request.Request(
                f"{self.url}/v1/requests?user={user}", json.dumps(messages[start:start + 100]).encode(),
                {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                answers += json.load(answer)
        check(all(answer["type"] != "error" for answer in answers), f"refused: {answers[:3]}")
        return answers

    def send(self, user, room, *entries):
        """Sends entries; returns their numbers."""
        return [answer["seq"] for answer in self.request(user, [
            {"type": "send", "room": room, "id": secrets.token_hex(12), **({"text": entry} if isinstance(entry, str) else entry)}
            for entry in entries])]

    def texts(self, room, user="ada"):
        return [entry["text"] for entry in self.get(f"/v1/rooms/{room}/messages?user={user}&limit=500&fold=1")["entries"]]


def check(condition, text):
    if not condition:
        raise Failure(text)


def until(condition, text):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        check(time.monotonic() < end, text if isinstance(text, str) else text())
        time.sleep(0.02)


def rows(page):
    return page.evaluate("[...document.querySelectorAll('.row')].map(row => row.querySelector('.text').textContent)")


def wait_for_text(page, text, kind=""):
    page.wait(f"[...document.querySelectorAll('.row{kind} .text')].some(text => text.textContent === {json.dumps(text)})")


def quiet(page):
    problems = [problem for problem in page.problems() if "ERR_CONNECTION_REFUSED" not in problem
                and "WebSocket connection to" not in problem and "establish a connection" not in problem and "Failed to load resource" not in problem]
    check(not problems, f"the page has reported: {problems}")


def write(page, text):
    page.type(text)
    page.press("Enter")


def play(cases):
    """Plays the case that the command line names, and prints "good"."""
    case = sys.argv[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Browser("--enable-precise-memory-info") as browser:
        try:
            cases[case](browser, folder)
        except Failure as failure:
            sys.exit(f"{case}: {failure}")
    print("good")
