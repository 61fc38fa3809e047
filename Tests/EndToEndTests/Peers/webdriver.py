"""Firefox by WebDriver BiDi and WebKit by WebDriver, with the same pages as chromium.py: what a person does, and questions."""
import asyncio
import base64
import json
import os
import queue
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

from chromium import PATIENCE_S, Failure, Waiting

KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "F1": "\ue031", "F6": "\ue036", "ArrowUp": "\ue013",
        "ArrowDown": "\ue015", "ArrowLeft": "\ue012", "ArrowRight": "\ue014", "PageUp": "\ue00e", "PageDown": "\ue00f",
        "Home": "\ue011", "End": "\ue010", "Delete": "\ue017", "Backspace": "\ue003"}
MODIFIERS = {"shift": "\ue008", "ctrl": "\ue009", "alt": "\ue00a"}
# Longer texts are put in at once, as by pasting.
TYPED = 60


class Page(Waiting):
    """What both kinds of driver have in common: `run(script)` and `act(actions)` differ."""
    least_width = 0

    def go(self, address):
        self.navigate(address)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def evaluate(self, script):
        """The value of an expression, or of the promise that it gives."""
        answer = self.run(f"Promise.resolve({script}).then(value => JSON.stringify({{ value }}))")
        return json.loads(answer).get("value")

    def is_replaced(self, failure):
        return True  # a page that is being replaced answers nothing, or that an element is missing

    def press(self, key, **modifiers):
        held = [MODIFIERS[name] for name, is_held in modifiers.items() if is_held]
        value = KEYS.get(key, key)
        self.act([{"type": "key", "id": "keyboard", "actions": [
            *({"type": "keyDown", "value": one} for one in held), {"type": "keyDown", "value": value},
            {"type": "keyUp", "value": value}, *({"type": "keyUp", "value": one} for one in held)]}])

    def type(self, text):
        if len(text) > TYPED or not text.isascii():
            self.evaluate(f"document.execCommand('insertText', false, {json.dumps(text)})")
            return
        self.act([{"type": "key", "id": "keyboard", "actions": [
            {"type": kind, "value": letter} for letter in text for kind in ("keyDown", "keyUp")]}])

    def place(self, selector):
        return [round(number) for number in self.evaluate(f"""(() => {{
            const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]; }})()""")]

    def click(self, selector):
        x, y = self.place(selector)
        self.act([{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
            {"type": "pointerMove", "x": x, "y": y}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}])

    def wheel(self, selector, distance):
        x, y = self.place(selector)
        self.act([{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": x, "y": y, "deltaX": 0, "deltaY": distance}]}])


class Firefox:
    """Headless Firefox over WebDriver BiDi, on a port that it chooses."""
    program = "firefox-esr"
    PREFERENCES = {
        "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False,
        "toolkit.telemetry.enabled": False, "app.update.enabled": False, "app.normandy.enabled": False,
        "network.captive-portal-service.enabled": False, "network.connectivity-service.enabled": False,
        "services.settings.server": "data:,", "browser.startup.page": 0, "browser.safebrowsing.update.enabled": False,
        "dom.serviceWorkers.testing.enabled": True, "focusmanager.testmode": True, "dom.timeout.enable_budget_timer_throttling": False,
        "network.proxy.type": 0, "dom.disable_open_during_load": False,
    }

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        with open(f"{self.folder.name}/user.js", "w") as file:
            file.writelines(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in self.PREFERENCES.items())
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", self.program, "--headless", "--no-remote", "--remote-debugging-port=0",
             "--profile", self.folder.name, "about:blank"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, env={**os.environ, "HOME": self.folder.name, "TZ": "UTC", "MOZ_DISABLE_CONTENT_SANDBOX": "1"})
        for line in self.process.stderr:
            if match := re.search(r"WebDriver BiDi listening on (ws://\S+)", line):
                break
        else:
            raise Failure("Firefox has not started")
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.count, self.answers, self.pages = 0, {}, {}
        self.lock = threading.Condition()
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self._later(self._connect(f"{match[1]}/session")).result(PATIENCE_S)
        self.version = self.call("session.new", capabilities={})["capabilities"]["browserVersion"]
        self.call("session.subscribe", events=["log.entryAdded"])
        return self

    def _later(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop)

    async def _connect(self, address):
        import websockets
        self.socket = await websockets.connect(address, max_size=None, ping_interval=None)
        self.reading = asyncio.ensure_future(self._read())

    async def _read(self):
        import websockets
        while True:
            try:
                message = json.loads(await self.socket.recv())
            except websockets.ConnectionClosed:
                return
            with self.lock:
                if "id" in message:
                    self.answers[message["id"]] = message
                    self.lock.notify_all()
                elif page := self.pages.get(message["params"].get("source", {}).get("context")):
                    page.events.put(message["params"])

    async def _close(self):
        await self.socket.close()
        await self.reading

    def call(self, method, **params):
        with self.lock:
            self.count += 1
            number = self.count
        self._later(self.socket.send(json.dumps({"id": number, "method": method, "params": params}))).result(PATIENCE_S)
        with self.lock:
            if not self.lock.wait_for(lambda: number in self.answers, PATIENCE_S):
                raise Failure(f"{method}: no answer")
            answer = self.answers.pop(number)
        if answer["type"] == "error":
            raise Failure(f"{method}: {answer['message']}")
        return answer["result"]

    def page(self, address="about:blank", width=1280, height=800):
        # A window each: a tab in the background is not drawn.
        page = FirefoxPage(self, self.call("browsingContext.create", type="window")["context"])
        page.size(width, height)
        if address != "about:blank":
            page.go(address)
        return page

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self._later(self._close()).result(PATIENCE_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.folder.cleanup()


class FirefoxPage(Page):
    def __init__(self, browser, context):
        self.browser, self.context, self.events = browser, context, queue.Queue()
        browser.pages[context] = self

    def navigate(self, address):
        self.browser.call("browsingContext.navigate", context=self.context, url=address, wait="interactive")

    def run(self, script):
        result = self.browser.call("script.evaluate", expression=script, target={"context": self.context}, awaitPromise=True,
                                   userActivation=True)
        if result["type"] == "exception":
            raise Failure(f"{script}: {result['exceptionDetails']['text']}")
        return result["result"]["value"]

    def act(self, actions):
        self.browser.call("input.performActions", context=self.context, actions=actions)

    def size(self, width, height):
        self.browser.call("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.browser.call("browsingContext.captureScreenshot", context=self.context)["data"]))

    def close(self):
        self.browser.call("browsingContext.close", context=self.context)

    def problems(self):
        """What the page has reported as errors since the last call."""
        found = []
        while not self.events.empty():
            entry = self.events.get()
            if entry["level"] == "error" or (entry["level"] == "warn" and entry["type"] == "console"):
                found.append(str(entry["text"]))
        return found


class WebKit:
    """WebKitGTK's browser for tests on a screen of its own, over WebDriver."""
    program = "WebKitWebDriver"

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        numbers, writing = os.pipe()
        self.screen = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "Xvfb", "-displayfd", str(writing), "-screen", "0", "1600x1200x24", "-nolisten", "tcp"],
            pass_fds=(writing,), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        with os.fdopen(numbers) as file:
            display = file.readline().strip()
        with socket.create_server(("127.0.0.1", 0)) as free:  # the driver takes no port 0
            port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", self.program, "-p", str(port)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            env={**os.environ, "DISPLAY": f":{display}", "HOME": self.folder.name, "TZ": "UTC", "LIBGL_ALWAYS_SOFTWARE": "1",
                 "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1", "WEBKIT_DISABLE_COMPOSITING_MODE": "1", "GDK_BACKEND": "x11",
                 "XDG_DATA_HOME": f"{self.folder.name}/data", "XDG_CACHE_HOME": f"{self.folder.name}/cache", "no_proxy": "*"})
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.request("GET", "/status")
                break
            except OSError:
                if time.monotonic() > end:
                    raise Failure("WebKitWebDriver has not started") from None
                time.sleep(0.05)
        answer = self.request("POST", "/session", {"capabilities": {"alwaysMatch": {
            "pageLoadStrategy": "eager", "timeouts": {"script": PATIENCE_S * 1000},
            "webkitgtk:browserOptions": {"binary": browser_of_webkit(), "args": ["--automation"]}}}})
        self.session, self.version = f"/session/{answer['sessionId']}", answer["capabilities"]["browserVersion"]
        self.isFresh = True
        self.current = None
        return self

    def request(self, method, path, body=None):
        request = urllib.request.Request(f"{self.base}{path}", None if method == "GET" else json.dumps(body or {}).encode(),
                                         {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S + 10) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Failure(f"{path}: {error.read().decode(errors='replace')[:500]}") from None

    def page(self, address="about:blank", width=1280, height=800):
        if self.isFresh:
            handle = self.request("GET", f"{self.session}/window")
        else:
            handle = self.request("POST", f"{self.session}/window/new", {"type": "window"})["handle"]
        self.isFresh = False
        page = WebKitPage(self, handle)
        page.size(width, height)
        if address != "about:blank":
            page.go(address)
        return page

    def __exit__(self, *_):
        try:
            self.request("DELETE", self.session)
        except (Failure, OSError):
            pass
        for process in self.process, self.screen:
            process.kill()
            process.wait()
        self.folder.cleanup()


def browser_of_webkit():
    """MiniBrowser, which is in no folder of PATH."""
    for version in "4.1", "6.0", "4.0":
        for folder in f"/usr/lib/x86_64-linux-gnu/webkit2gtk-{version}", f"/usr/lib/aarch64-linux-gnu/webkit2gtk-{version}", f"/usr/libexec/webkitgtk-{version}":
            if os.access(f"{folder}/MiniBrowser", os.X_OK):
                return f"{folder}/MiniBrowser"
    return None


class WebKitPage(Page):
    least_width = 480  # of a window with a title

    def __init__(self, browser, handle):
        self.browser, self.handle = browser, handle

    def send(self, method, path, body=None):
        if self.browser.current != self.handle:
            self.browser.request("POST", f"{self.browser.session}/window", {"handle": self.handle})
            self.browser.current = self.handle
        return self.browser.request(method, f"{self.browser.session}{path}", body)

    def navigate(self, address):
        self.send("POST", "/url", {"url": address})

    def run(self, script):
        answer = self.send("POST", "/execute/async", {"args": [], "script": f"""const done = arguments[0];
            try {{ ({script}).then(value => done([value]), error => done([null, String(error)])); }} catch (error) {{ done([null, String(error)]); }}"""})
        if len(answer) > 1:
            raise Failure(f"{script}: {answer[1]}")
        return answer[0]

    def act(self, actions):
        self.send("POST", "/actions", {"actions": actions})

    def size(self, width, height):
        # A window cannot be made of a size within; what is around the page is as large as before.
        self.send("POST", "/window/rect", {"width": width, "height": height})
        inner = self.evaluate("[innerWidth, innerHeight]")
        self.send("POST", "/window/rect", {"width": 2 * width - inner[0], "height": 2 * height - inner[1]})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("GET", "/screenshot")))

    def close(self):
        self.send("DELETE", "/window")
        self.browser.current = None

    def problems(self):
        return []  # the driver does not tell


BROWSERS = {"firefox": Firefox, "webkit": WebKit}


def missing(name):
    """What is to be installed for a browser, or nothing."""
    browser = BROWSERS[name]
    if not shutil.which(browser.program):
        return {"firefox": "firefox-esr", "webkit": "webkit2gtk-driver"}[name]
    if name == "webkit" and browser_of_webkit() is None:
        return "MiniBrowser of WebKitGTK"
    if name == "webkit" and not shutil.which("Xvfb"):
        return "xvfb"
    return None
