"""Headless Chromium over the DevTools protocol, by a pipe: no port, and it ends with this program.

Debian's `chromium-headless-shell` has the engine alone: it starts at an eighth of the cost of the whole browser, which has
notifications and settings of sites as well. The command of that name is a script that would be killed without it.
"""
import base64
import contextlib
import hashlib
import json
import os
import queue
import subprocess
import tempfile
import threading
import time

PATIENCE_S = 60
ENGINE = ["/usr/lib/chromium/chromium-headless-shell"]
WHOLE = ["chromium", "--headless=new"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-background-networking", "--no-proxy-server", "--hide-scrollbars=false", "--force-color-profile=srgb",
         "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
         "--disable-backgrounding-occluded-windows", "--lang=en-GB"]


# Where a profile lies: in memory, if possible. Chromium waits for its disk, and tests beside it sync a disk without rest.
PROFILES = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def trust(certificate):
    """What Chromium knows a key by: a hash of its SubjectPublicKeyInfo (RFC 7469 §2.4)."""
    pem = subprocess.run(
        ["openssl", "x509", "-in", certificate, "-noout", "-pubkey"],
        check=True, capture_output=True).stdout
    key = base64.b64decode(b"".join(pem.splitlines()[1:-1]))
    pin = base64.b64encode(hashlib.sha256(key).digest()).decode()
    return f"--ignore-certificate-errors-spki-list={pin}"


class Failure(Exception):
    pass


class Browser:
    def __init__(self, *flags, profile=None, is_whole=False):
        self.folder = contextlib.nullcontext(profile) if profile else tempfile.TemporaryDirectory(
            dir=PROFILES, ignore_cleanup_errors=True)
        profile = self.folder.__enter__()
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        def descriptors():  # the browser reads from 3 and writes to 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *(WHOLE if is_whole else ENGINE), *FLAGS, "--remote-debugging-pipe",
             f"--user-data-dir={profile}", *flags, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
            preexec_fn=descriptors, env={**os.environ, "TZ": "UTC"})
        os.close(to_browser)
        os.close(from_browser)
        self.count, self.answers, self.pages = 0, {}, {}
        self.lock = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        data = b""
        while chunk := os.read(self.input, 1 << 20):
            data += chunk
            *messages, data = data.split(b"\0")
            for message in map(json.loads, messages):
                with self.lock:
                    if "id" in message:
                        self.answers[message["id"]] = message
                        self.lock.notify_all()
                    elif page := self.pages.get(message.get("sessionId")):
                        page.events.put(message)

    def call(self, method, session=None, **params):
        with self.lock:
            self.count += 1
            number = self.count
            message = {"id": number, "method": method, "params": params}
            if session:
                message["sessionId"] = session
            os.write(self.output, json.dumps(message).encode() + b"\0")
            if not self.lock.wait_for(lambda: number in self.answers, PATIENCE_S):
                raise Failure(f"{method}: no answer")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise Failure(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, address="about:blank", width=1280, height=800, context=None):
        params = {"browserContextId": context} if context else {}
        target = self.call("Target.createTarget", url="about:blank", **params)["targetId"]
        page = Page(self, target)
        page.size(width, height)
        if address != "about:blank":
            page.go(address)
        return page

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.folder.__exit__(None, None, None)


class Waiting:
    """A page that can evaluate expressions."""

    def wait(self, condition, patience_s=PATIENCE_S):
        """Waits until the expression is true, and returns its value."""
        end = time.monotonic() + patience_s
        while True:
            try:
                if value := self.evaluate(f"(value => value instanceof Node ? true : value)({condition})"):
                    return value
            except Failure as failure:
                if not self.is_replaced(failure) or time.monotonic() > end:
                    raise
            if time.monotonic() > end:
                shown = self.evaluate("`${document.URL}: ${document.body.innerText}`")
                raise Failure(f"not in {patience_s} s: {condition}\n{shown[:1500]}")
            time.sleep(0.02)


class Page(Waiting):
    least_width = 0

    def __init__(self, browser, target):
        self.browser, self.target, self.events = browser, target, queue.Queue()
        self.errors = []
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self.session] = self
        for domain in "Page", "Runtime", "Log", "Network":
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def size(self, width, height, **more):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  **{"deviceScaleFactor": 1, "mobile": False, **more})

    def media(self, **features):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": name.replace("_", "-"), "value": value} for name, value in features.items()])

    def go(self, address):
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, script):
        """The value of an expression, or of the promise that it gives."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True,
                           userGesture=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Failure(f"{script}: {details.get('exception', {}).get('description', details['text'])}")
        return answer["result"].get("value")

    def is_replaced(self, failure):
        return "context" in str(failure) or "navigated" in str(failure)

    KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "F6": (117, ""), "F1": (112, ""),
            "ArrowUp": (38, ""), "ArrowDown": (40, ""), "ArrowLeft": (37, ""), "ArrowRight": (39, ""),
            "PageUp": (33, ""), "PageDown": (34, ""), "Home": (36, ""), "End": (35, ""), "Delete": (46, ""),
            "Backspace": (8, "")}

    def press(self, key, shift=False, ctrl=False, alt=False):
        modifiers = alt * 1 + ctrl * 2 + shift * 8
        code, text = self.KEYS.get(key, (ord(key.upper()) if len(key) == 1 else 0, key if len(key) == 1 else ""))
        params = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": code,
                  "code": f"Key{key.upper()}" if len(key) == 1 and key.isalpha() else key}
        if text and not ctrl and not alt:
            params["text"] = text
        self.call("Input.dispatchKeyEvent", type="keyDown", **params)
        params.pop("text", None)
        self.call("Input.dispatchKeyEvent", type="keyUp", **params)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        x, y = self.evaluate(f"""(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")
        for kind in "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def wheel(self, selector, distance):
        x, y = self.evaluate(f"""(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=distance)

    def offline(self, is_offline):
        self.call("Network.emulateNetworkConditions", offline=is_offline, latency=0, downloadThroughput=-1,
                  uploadThroughput=-1)

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def problems(self):
        """What the page has reported as errors since the last call."""
        found = []
        while not self.events.empty():
            event = self.events.get()
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(" ".join(str(argument.get("value", argument.get("description"))) for argument in params["args"]))
            elif event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        return found
