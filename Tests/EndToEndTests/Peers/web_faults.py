"""web_faults.py CASE RELAY: what a browser, a person or another tab does to the page that it cannot prevent; prints "good"."""
import json
import pathlib
import signal
import subprocess
import tempfile
import threading

from chromium import PROFILES, Browser
from web_support import DATABASES, FIELD, IS_KEPT, ONLINE, RELAY, Relay, check, play, quiet, until, wait_for_text, write

COMPOSER = "document.querySelector('relay-composer textarea')"
SAID = "[...document.querySelectorAll('.toast, .note:not([hidden]), .problem')].map(one => one.textContent).join(' ')"


def put(page, text):
    """Inserts a text as a paste, a drop or an extension does."""
    page.evaluate(f"(area => {{ area.focus(); area.value = {json.dumps(text)}; area.dispatchEvent(new Event('input')); }})({COMPOSER})")


def before(page, script):
    """Has a script run before those of the page."""
    page.call("Page.addScriptToEvaluateOnNewDocument", source=script)
    return page


# MARK: What one writes


def control_characters(browser, folder):
    """A text with control characters, as a terminal or a word processor gives it, is sent without them."""
    relay = Relay(RELAY, folder, "")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    sent = []
    for text, expected in (("line\x0btab", "linetab"), ("\x1b[1mbold\x1b[0m", "[1mbold[0m"), ("nul\x00x\x07", "nulx"), ("x\x85y\u2028z", "x\ny\nz"),
                           ("tab\tok", "tab\tok"), ("\x0cpage", "page")):
        put(page, text)
        check(page.evaluate(f"{COMPOSER}.value") == expected, text)
        page.press("Enter")
        sent.append(expected)
        until(lambda: relay.texts("general") == sent, f"{text!r} was not sent")
    # An edit, too, once the page has been told that the last one is stored.
    page.wait("[...document.querySelectorAll('.row.own .mark')].filter(mark => mark.textContent === '✓').length === 6")
    until(lambda: page.press("ArrowUp") or page.evaluate(f"{COMPOSER}.value === 'page'"), "it is edited")
    put(page, "an\x1b edit\x0b")
    page.press("Enter")
    until(lambda: relay.texts("general")[-1] == "an edit", "the edit")
    # What cannot be sent stays where it was written, and why is said there.
    put(page, "\u200b\u200b")
    page.press("Enter")
    page.wait("document.querySelector('relay-composer').textContent.includes('The text is blank.')")
    check(page.evaluate(f"{COMPOSER}.value") == "\u200b\u200b", "it was dropped")
    put(page, "another one")
    page.wait("!document.querySelector('relay-composer').textContent.includes('The text is blank.')")
    quiet(page)
    relay.stop()


def stored_before_arrived(browser, folder):
    """An own message whose acknowledgement comes before it: it is edited, and replied to, and not the one before it."""
    relay = Relay(RELAY, folder, "")
    relay.send("ada", "general", "the one before")
    page = before(browser.page(), """
        window.held = [];
        Object.defineProperty(WebSocket.prototype, "onmessage", { set(take) {
          this.addEventListener("message", (event) => {
            if (window.held && JSON.parse(event.data).type === "message") window.held.push(() => take.call(this, event));
            else take.call(this, event);
          });
        } });""")
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    page.evaluate("window.held.splice(0).forEach(take => take())")
    page.wait("document.querySelectorAll('.row').length === 1")
    write(page, "the last one")
    page.wait("[...document.querySelectorAll('.row .mark')].map(mark => mark.textContent).join() === '✓,✓'")
    page.press("ArrowUp")
    check(page.evaluate(f"{COMPOSER}.value") == "the last one", "another one is edited")
    page.press("Escape")
    row = "[...document.querySelectorAll('.row')].at(-1)"
    for key, expected in (("e", f"{COMPOSER}.value === 'the last one'"), ("Escape", f"{COMPOSER}.value === ''"),
                          ("r", "document.querySelector('.banner').textContent.includes('the last one')"), ("Escape", f"{COMPOSER}.value === ''")):
        if key != "Escape":
            page.evaluate(f"{row}.focus()")
        page.press(key)
        page.wait(expected)
    page.press("ArrowUp")
    put(page, "the last one, edited")
    page.press("Enter")
    until(lambda: relay.texts("general") == ["the one before", "the last one, edited"], "the edit")
    page.press("ArrowUp")
    check(page.evaluate(f"{COMPOSER}.value") == "the last one, edited", "what is edited is older than its edit")
    page.press("Escape")
    page.evaluate("{ const all = window.held; window.held = undefined; all.forEach(take => take()); }")
    wait_for_text(page, "the last one, edited")
    quiet(page)
    relay.stop()


def refused_edits(browser, folder):
    """A refused edit keeps its text: in the composer, or beside what one has begun to write; and an edit that was not finished is there after a reload."""
    relay = Relay(RELAY, folder, "limits: { edits_per_entry: 1 }")
    number, = relay.send("ada", "general", "fist")
    relay.send("ada", "general", {"kind": "edit", "target": number, "text": "first"})
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA' && document.querySelectorAll('.row').length === 1")

    def edit(text):
        page.wait(f"{COMPOSER}.value === ''")
        page.press("ArrowUp")
        page.wait(f"{COMPOSER}.value === 'first'")
        put(page, text)

    edit("first, corrected")
    page.press("Enter")
    page.wait(f"{SAID}.includes('The edit was not accepted')")
    page.wait(f"{COMPOSER}.value === 'first, corrected' && document.querySelector('.banner').textContent.includes('Edit your message')")
    # A reload before that would tell it again.
    page.wait(f"{DATABASES}.then(kept => !JSON.stringify(kept).includes('first, corrected'))")
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && {COMPOSER}.value === 'first, corrected' && document.querySelector('.banner').textContent.includes('Edit your message')")
    page.evaluate(f"{COMPOSER}.focus()")
    page.press("Escape")
    # The answer comes while one writes something else.
    page.offline(True)
    edit("first, again")
    page.press("Enter")
    put(page, "something else")
    page.offline(False)
    page.wait("document.querySelector('.toast.lasting')", patience_s=90)
    check(page.evaluate(f"{COMPOSER}.value") == "something else", "what one writes was replaced")
    page.evaluate("document.querySelector('.toast.lasting .link').click()")
    page.wait(f"{COMPOSER}.value === 'first, again'")
    page.evaluate(f"{COMPOSER}.focus()")
    page.press("Escape")
    page.wait(f"{COMPOSER}.value === 'something else'")
    relay.stop()


def told(browser, folder):
    """Nothing fails without a word: an error that no part of the page tells is said too."""
    relay = Relay(RELAY, folder, "")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE}")
    page.evaluate("void Promise.reject(new Error('of nobody'))")
    page.wait(f"{SAID}.includes('of nobody')")
    page.evaluate("setTimeout(() => { throw new Error('in a timer'); })")
    page.wait(f"{SAID}.includes('in a timer')")
    page.problems()
    # Over plain HTTP there is no clipboard.
    relay.send("bo", "general", "to copy")
    wait_for_text(page, "to copy")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.querySelector('.row').focus()")
    page.press("Enter")
    page.wait("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Copy text')")
    page.evaluate("[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Copy text').click()")
    page.wait(f"{SAID}.includes('The text was not copied')")
    relay.stop()


# MARK: What never answers

NEVER = {
    "opening the database": "IDBFactory.prototype.open = () => ({});",
    "a transaction": """const { get } = Object.getOwnPropertyDescriptor(IDBRequest.prototype, 'result');
        const put = IDBObjectStore.prototype.put;
        IDBObjectStore.prototype.put = function (value, key) { return key === 'owner' ? {} : put.call(this, value, key); };""",
    "a commit": """const transaction = IDBDatabase.prototype.transaction; let count = 0;
        IDBDatabase.prototype.transaction = function (...all) { const one = transaction.apply(this, all);
          if (count++ > 0) Object.defineProperty(one, 'oncomplete', { set() {} }); return one; };""",
    "locks": "LockManager.prototype.request = () => new Promise(() => {}); LockManager.prototype.query = () => new Promise(() => {});",
    "refused locks": "LockManager.prototype.request = LockManager.prototype.query = () => Promise.reject(new DOMException('denied', 'SecurityError'));",
    "the worker": "ServiceWorkerContainer.prototype.register = ServiceWorkerContainer.prototype.getRegistration = () => new Promise(() => {});",
    "channels": "window.BroadcastChannel = class { constructor() { throw new DOMException('denied', 'SecurityError'); } };",
    "whatever may be forbidden": """for (const [owner, name] of [[window, 'indexedDB'], [window, 'localStorage'], [window, 'sessionStorage'], [window, 'caches'],
        [Navigator.prototype, 'locks'], [Navigator.prototype, 'serviceWorker']])
        Object.defineProperty(owner, name, { get() { throw new DOMException('denied', 'SecurityError'); } });""",
    "requests": """const send = window.fetch; window.fetch = (address, init) => String(address).startsWith('/v1/') ? new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal.reason)); }) : send(address, init);""",
}


def never(browser, folder):
    """The page goes on without what never answers: it connects, and sends."""
    relay = Relay(RELAY, folder, "")
    for what, script in NEVER.items():
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        page = before(browser.page(context=context), script)
        page.go(f"{relay.url}/?user=ada&room=general")
        page.wait(f"{ONLINE} && {COMPOSER}", patience_s=30)
        page.evaluate(f"{COMPOSER}.focus()")
        write(page, f"without {what}")
        until(lambda: relay.texts("general")[-1:] == [f"without {what}"], what)
        page.wait(f"document.querySelectorAll('.row.own .mark.stored, .row.own .mark.received').length === {len(relay.texts('general'))}")
        page.close()
        page = before(browser.page(context=context), script)
        page.go(f"{relay.url}/")
        page.wait("document.querySelector('#sign-in-name')", patience_s=30)
        page.close()
    relay.stop()


def silent_tab(browser, folder):
    """A tab that gets no answer from the one that has the connection connects by itself."""
    relay = Relay(RELAY, folder, "")
    leader = browser.page(f"{relay.url}/?user=ada&room=general")
    leader.wait(f"{ONLINE} && {COMPOSER}")
    follower = browser.page(f"{relay.url}/?user=ada&room=general")
    follower.wait(f"{ONLINE} && {COMPOSER}")
    reader = browser.page(f"{relay.url}/?user=ada&room=general")
    reader.wait(f"{ONLINE} && {COMPOSER}")
    leader.call("Debugger.enable")
    leader.call("Debugger.pause")
    threading.Thread(target=lambda: leader.browser.call("Runtime.evaluate", leader.session, expression="1"), daemon=True).start()
    until(lambda: any(event["method"] == "Debugger.paused" for event in list(leader.events.queue)), "paused")
    third = browser.page(f"{relay.url}/?user=ada&room=general")
    third.wait(f"{COMPOSER}")
    for page in follower, third:  # toasts do not stay until the connection is there
        page.evaluate(f"heard = ''; new MutationObserver(() => heard += {SAID}).observe(document.body, {{ childList: true, subtree: true }})")
    for page, text in (follower, "from the second"), (third, "from the third"):
        page.evaluate(f"{COMPOSER}.focus()")
        write(page, text)
        until(lambda: text in relay.texts("general"), text)
        page.wait(f"{ONLINE} && heard.includes('a connection of its own')")
    for page in reader, follower, third:  # also one in which nobody writes
        page.wait("document.querySelectorAll('.row').length === 2")
    leader.call("Debugger.resume")
    leader.wait("document.querySelectorAll('.row').length === 2")
    check(sorted(relay.texts("general")) == ["from the second", "from the third"], relay.texts("general"))
    relay.stop()


def stalled(browser, folder):
    """A part of the page that never comes is missed with a word; and a page opens from what is kept while the relay stands still."""
    relay = Relay(RELAY, folder, "")
    relay.send("bo", "general", "before")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 1")
    page.wait(IS_KEPT)
    page.wait("localStorage.getItem('relay.list:ada')?.includes('before')")
    page.call("Network.setBypassServiceWorker", bypass=True)
    page.call("Fetch.enable", patterns=[{"urlPattern": "*/web/*"}])
    page.evaluate("document.querySelector('.menu-button').click()")
    page.wait(f"{SAID}.includes('could not be loaded')")
    page.call("Fetch.disable")
    page.call("Network.setBypassServiceWorker", bypass=False)
    relay.process.send_signal(signal.SIGSTOP)
    try:
        page.call("Page.navigate", url=f"{relay.url}/?user=ada&room=general")
        page.wait("document.querySelectorAll('.row').length === 1 && document.querySelector('.health').dataset.state !== 'online'", patience_s=30)
    finally:
        relay.process.send_signal(signal.SIGCONT)
    page.wait(ONLINE)
    relay.stop()


# MARK: Addresses


def misnamed(browser, folder):
    """An address is understood as wschat takes names; what is no name is said, and the page starts all the same."""
    relay = Relay(RELAY, folder, "")
    page = browser.page()
    for query, title in (("user=ADA&room=General", "General"), ("user=@ada&room=%23general", "General"), ("user=ada&to=@bo", "bo"), ("user=ada&to=Bo", "bo"),
                         ("user=ada&room=@bo", "bo"), ("user=ada&room=dm:bo:ada", "bo"), ("user=ada&room=__proto__", "__proto__"), ("user=ada&room=%20team%20", "team")):
        page.go("about:blank#")
        page.call("Page.navigate", url=f"{relay.url}/?{query}")
        page.wait(f"location.pathname === '/' && {ONLINE} && document.querySelector('relay-conversation h1')?.textContent === '{title}'")
        check(page.evaluate(SAID) == "", f"{query}: {page.evaluate(SAID)}")
    quiet(page)
    for query, said in (("user=ada&to=ada", "is you"), ("user=ada&room=@ada", "is you"), ("user=ada&to=bo%20smith", "“bo smith” is not a user name"), ("user=ada&to=%23general", "is a room"),
                        ("user=ada&room=Foo%20Bar", "“Foo Bar” is not the name of a room"), ("user=ada&room=..", "is not the name of a room"),
                        ("user=ada&room=dm:bo:cy", "conversation of other people"), ("user=ada&room=sys:canary", "room of the relay"),
                        (f"user=ada&room={'x' * 200}", "is not the name of a room"), (f"user=ada&to={'y' * 70}", "is not a user name")):
        page.call("Page.navigate", url="about:blank")
        page.wait("location.href === 'about:blank'")
        page.call("Page.navigate", url=f"{relay.url}/?{query}")
        page.wait(f"location.pathname === '/' && {ONLINE} && {SAID}.includes({json.dumps(said)}) && document.querySelector('.nothing-open').textContent.includes({json.dumps(said)})")
        page.wait("document.querySelector('.menu-button')")
        page.evaluate("document.querySelector('.menu-button').click()")
        # The start went on: there are notifications.
        page.wait("[...document.querySelectorAll('.menu [role=menuitemcheckbox]')].some(item => item.textContent === 'Sounds') || (document.querySelector('.menu-button').click(), false)")
    quiet(page)
    for query, said in ("user=Ada%20Lovelace", "is not a user name"), ("user=..", "is not a user name"):
        page.call("Page.navigate", url="about:blank")
        page.wait("location.href === 'about:blank'")
        page.call("Page.navigate", url=f"{relay.url}/?{query}")
        page.wait(f"document.querySelector('#sign-in-name') && {SAID}.includes({json.dumps(said)})")
    relay.stop()


# MARK: What the browser does not allow


def blocked(browser, folder):
    """With all site data blocked one signs in, writes, and goes from one conversation to another."""
    relay = Relay(RELAY, folder, "")
    with tempfile.TemporaryDirectory(dir=PROFILES, ignore_cleanup_errors=True) as profile:
        default = pathlib.Path(profile) / "Default"
        default.mkdir()
        (default / "Preferences").write_text(json.dumps({"profile": {"default_content_setting_values": {"cookies": 2}}}))
        with Browser(profile=profile, is_whole=True) as strict:
            page = strict.page(f"{relay.url}/")
            check("SecurityError" in page.evaluate("(() => { try { return localStorage.length; } catch (error) { return error.name; } })()"), "nothing is blocked")
            page.wait("document.activeElement?.id === 'sign-in-name'")
            write(page, "ada")
            page.wait(f"{ONLINE}", patience_s=30)
            page.go(f"{relay.url}/?user=ada&room=general")
            page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'", patience_s=30)
            write(page, "without storage")
            until(lambda: relay.texts("general") == ["without storage"], "sent")
            page.type("a draft")
            relay.send("bo", "dm:ada:bo", "hello")
            page.wait("document.querySelectorAll('.conversation').length === 2")
            page.press("ArrowDown", alt=True)
            page.wait(f"document.querySelector('relay-conversation h1').textContent === 'bo' && {COMPOSER}.value === ''")
            page.press("ArrowUp", alt=True)
            page.wait(f"document.querySelector('relay-conversation h1').textContent === 'General' && {COMPOSER}.value === 'a draft'")
            sign_out(page)
            page.wait("document.querySelector('#sign-in-name')", patience_s=30)
    relay.stop()


def outdated(browser, folder):
    """Parts of the page that are gone, since the relay has another version, are missed with a word, and a way out."""
    relay = Relay(RELAY, folder, "")
    page = browser.page()
    page.call("Network.setBypassServiceWorker", bypass=True)
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    page.call("Network.setBlockedURLs", urls=["*/web/*"])
    page.evaluate("document.querySelector('#app').dataset.version = 'former'")
    for press in (lambda: page.evaluate("document.querySelector('.menu-button').click()"), lambda: page.press("k", ctrl=True),
                  lambda: page.press("f", ctrl=True), lambda: page.press("f", ctrl=True, shift=True), lambda: page.press("F1"), lambda: page.type(":ta")):
        press()
        page.wait(f"{SAID}.includes('A new version of this page is here')")
        page.evaluate("document.querySelectorAll('.toast [aria-label=Close]').forEach(button => button.click())")
        page.wait("document.querySelector('.toast') === null")
    page.evaluate(f"{COMPOSER}.value = ''")
    write(page, "it still sends")
    until(lambda: relay.texts("general") == ["it still sends"], "sent")
    page.evaluate("document.querySelector('.menu-button').click()")
    page.wait("document.querySelector('.toast .link')")
    page.call("Network.setBlockedURLs", urls=[])
    page.evaluate("document.querySelector('.toast .link').click()")
    page.wait(f"document.querySelector('#app') && document.querySelector('#app').dataset.version !== 'former' && {ONLINE}")
    relay.stop()


class Held:
    """Holds the requests of a page for a part until they are released, or lets them fail. It begins before the page is loaded: later it would miss some."""

    def __init__(self, page, part):
        self.page, self.part, self.failed = page, part, set()
        page.call("Fetch.enable", patterns=[{"urlPattern": f"*/web/*/{part}"}])

    def requests(self):
        return {event["params"]["requestId"] for event in list(self.page.events.queue)
                if event["method"] == "Fetch.requestPaused"} - self.failed

    def wait(self):
        until(self.requests, f"{self.part} is not requested")

    def fail(self):
        self.wait()
        for request in self.requests():
            self.failed.add(request)
            self.page.call("Fetch.failRequest", requestId=request, errorReason="InternetDisconnected")

    def release(self):
        self.wait()
        self.page.call("Fetch.disable")


def late(browser, folder):
    """What one writes while a part that takes the keyboard is on its way reaches that part, or nothing: neither the composer nor another field."""
    relay = Relay(RELAY, folder, "")
    relay.send("ada", "general", "a needle in the hay")
    relay.send("bo", "dm:ada:bo", "hello")
    row = "document.querySelector('.row')"
    composer = f"{COMPOSER}.value === '' && document.querySelector('.banner').hidden"
    title = "document.querySelector('relay-conversation h1').textContent"

    def fresh(part):
        page = browser.page()
        page.call("Network.setBypassServiceWorker", bypass=True)
        held = Held(page, part)
        page.go(f"{relay.url}/?user=ada&room=general")
        page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA' && {row} && document.querySelectorAll('.conversation').length === 2")
        return page, held

    def press(page, keys):
        for key in keys:
            page.press(key)

    def by_row(key):
        def act(page):
            page.evaluate(f"{row}.focus()")
            page.press(key)
        return act

    def by_menu(button, label):
        def act(page):
            page.evaluate(f"document.querySelector({json.dumps(button)}).click()")
            item = f"[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === {json.dumps(label)})"
            page.wait(item)
            page.evaluate(f"{item}.click()")
        return act

    def switch(page):
        page.press("k", ctrl=True)

    def search(page):
        page.press("f", ctrl=True)

    def dialog(label):
        return f"document.querySelector('dialog[open][aria-label={json.dumps(label)}]')"

    more = '[aria-label="About this conversation"]'
    # What opens it, the part, the keys, and what has come of them.
    for what, part, opening, keys, outcome in (
            ("Ctrl+K", "dialogs.js", switch, "bo", f"{dialog('Go to a conversation')}?.querySelector('[role=option] b')?.textContent === 'bo' && {FIELD}.value === 'bo'"),
            ("Ctrl+K, Enter", "dialogs.js", switch, ["b", "o", "Enter", "x", "Enter"], f"{title} === 'bo' && !document.querySelector('dialog')"),
            ("Ctrl+F", "search-bar.js", search, "needle", f"{FIELD}.matches('.search input') && {FIELD}.value === 'needle'"),
            ("Ctrl+F, Enter", "search-bar.js", search, [*"needle", "Enter"], "document.querySelector('.search .result')?.textContent.includes('Enter: older')"),
            ("Ctrl+Shift+F", "search-all.js", lambda page: page.press("f", ctrl=True, shift=True), [*"needle", "Enter"],
             f"{dialog('Search all conversations')}?.querySelector('.result')?.textContent === '1 message found.' && {FIELD}.value === 'needle'"),
            ("F1", "dialogs.js", lambda page: page.press("F1"), ["x", "Enter"], dialog("Keys and commands")),
            ("the menu", "popups.js", lambda page: page.evaluate("document.querySelector('.menu-button').click()"), ["x", "Enter"], "document.querySelector('.menu[aria-label=Menu]')"),
            ("a room", "dialogs.js", by_menu(".menu-button", "Open or create a room…"), [*"team", "Enter"], f"{title} === 'team'"),
            ("a conversation's menu", "actions.js", lambda page: page.evaluate(f"document.querySelector({json.dumps(more)}).click()"), ["x", "Enter"],
             "document.querySelector('.menu[aria-label=\"This conversation\"]')"),
            ("a row's menu", "actions.js", by_row("Enter"), ["x", "Enter", "e"], "document.querySelector('.menu[aria-label=Message]')"),
            ("a reaction", "actions.js", by_row("+"), "tada", f"{FIELD}.matches('.emoji input') && {FIELD}.value === 'tada'"),
            ("a reaction, Enter", "emoji.js", by_row("+"), [*"tada", "Enter"], "document.querySelector('.reaction')?.textContent.includes('🎉')"),
            ("forwarding", "dialogs.js", by_row("f"), "bo", f"{dialog('Forward to')}?.querySelector('[role=option] b')?.textContent === 'bo' && {FIELD}.value === 'bo'"),
            ("deleting", "actions.js", by_row("Delete"), ["x", "Enter"], dialog("Delete this message?"))):
        page, held = fresh(part)
        opening(page)
        press(page, keys)
        held.wait()
        check(page.evaluate(composer), f"{what}: the composer has {page.evaluate(f'{COMPOSER}.value')!r}")
        held.release()
        page.wait(outcome)
        check(page.evaluate(composer), f"{what}: afterwards the composer has {page.evaluate(f'{COMPOSER}.value')!r}")
        check(page.evaluate("document.querySelector('.loading') === null"), f"{what}: it still waits")
        quiet(page)
        page.close()
    check(relay.texts("general") == ["a needle in the hay"] and relay.texts("dm:ada:bo") == ["hello"], "something was sent")
    # One can change one's mind; the second time nothing is waited for.
    page, held = fresh("dialogs.js")
    switch(page)
    press(page, "bo")
    page.press("Escape")
    page.wait(f"!document.querySelector('dialog') && document.activeElement === {COMPOSER}")
    held.release()
    page.wait("performance.getEntriesByType('resource').some(one => one.name.endsWith('/dialogs.js') && one.responseEnd > 0)")
    press(page, "mine")
    page.wait(f"{COMPOSER}.value === 'mine' && document.querySelector('dialog') === null")
    switch(page)
    press(page, "bo")
    page.wait(f"{dialog('Go to a conversation')} && {FIELD}.value === 'bo' && {COMPOSER}.value === 'mine'")
    page.press("Escape")
    page.wait(f"document.activeElement === {COMPOSER}")
    quiet(page)
    page.evaluate(f"{COMPOSER}.value = ''; {COMPOSER}.dispatchEvent(new Event('input'))")  # the draft
    page.close()
    # A part that does not come is missed with a word, where one writes; and then the focus is where it was.
    page, held = fresh("dialogs.js")
    for close in (lambda: page.press("Escape"), lambda: page.evaluate("document.querySelector('.toast [aria-label=Close]').click()")):
        switch(page)
        press(page, "b")
        held.fail()
        press(page, ["o", "Enter"])
        page.wait(f"{SAID}.includes('could not be loaded')")
        press(page, ["x", "Enter"])
        check(page.evaluate(f"{composer} && document.activeElement !== {COMPOSER}"), "the composer has it")
        close()
        page.wait(f"!document.querySelector('dialog') && !document.querySelector('.toast') && document.activeElement === {COMPOSER}")
    switch(page)
    press(page, ["b", "o", "Enter"])
    held.release()
    page.wait(f"{title} === 'bo'")
    relay.stop()


# MARK: Signing out

KEPT = """(async () => [...Object.keys(localStorage), ...Object.keys(sessionStorage), ...(await indexedDB.databases()).map(one => `database ${one.name}`)].sort())()"""


def sign_out(page):
    page.evaluate("document.querySelector('.menu-button').click()")
    item = "[...document.querySelectorAll('[role=menuitem]')].find(item => item.textContent === 'Sign out')"
    page.wait(item)
    page.evaluate(f"{item}.click()")
    page.wait("document.querySelector('dialog .primary')")
    page.evaluate("document.querySelector('dialog .primary').click()")


def signed_out(browser, folder):
    """Signing out ends all tabs of the user, and removes all that is kept of the user, and nothing of anybody else."""
    relay = Relay(RELAY, folder, "")
    relay.send("cy", "general", "a message")

    def use(user):
        page = browser.page(f"{relay.url}/?user={user}&room=general")
        page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA' && document.querySelector('.row')")
        return page

    def fill(page, user):
        page.evaluate("document.querySelector('[aria-label=\"About this conversation\"]').click()")
        page.wait("[...document.querySelectorAll('.menu [role=menuitemcheckbox]')].some(item => item.textContent === 'Muted')")
        page.evaluate("[...document.querySelectorAll('.menu [role=menuitemcheckbox]')].find(item => item.textContent === 'Muted').click()")
        page.evaluate(f"{COMPOSER}.focus()")
        page.type(f"a draft of {user}")
        page.wait(f"['muted:{user}', 'list:{user}', 'draft:{user}:general'].every(key => localStorage.getItem(`relay.${{key}}`))")

    others = {user: use(user) for user in ("bob", "b", "bo-2")}
    for user, page in others.items():
        fill(page, user)
    first, second, third = use("bo"), use("bo"), use("bo")
    fill(first, "bo")
    second.evaluate(f"{COMPOSER}.focus()")
    second.type(" and more")
    sign_out(second)  # which has no connection of its own
    for page in first, second, third:
        page.wait("location.pathname + location.search === '/' && document.querySelector('#sign-in-name')", patience_s=30)
    check("another tab" in first.evaluate(SAID) and "another tab" in third.evaluate(SAID), "the other tabs say why")
    check(second.evaluate("document.querySelector('#sign-in-name').value") != "bo", "the name is offered")
    for page in first, second, third, others["bob"]:
        kept = page.evaluate(KEPT)
        check(not any(key.split(":")[-1] == "bo" or ":bo:" in key or key.endswith("/relay:bo") for key in kept), kept)
        for user in others:
            for key in f"relay.muted:{user}", f"relay.list:{user}", f"relay.draft:{user}:general", f"database relay:{user}":
                check(key in kept, f"{key} is gone: {kept}")
    for user, page in others.items():
        check(page.evaluate(f"{COMPOSER}.value") == f"a draft of {user}", user)
        page.evaluate(f"{COMPOSER}.focus()")
        page.press("Enter")
        until(lambda: f"a draft of {user}" in relay.texts("general"), user)
    # Nothing comes back, and one can sign in again, and out by the tab that has the connection.
    for page in first, second:
        page.go(f"{relay.url}/?user=bo&room=general")
        page.wait(f"{ONLINE} && {COMPOSER} && {COMPOSER}.value === ''")
    sign_out(first)
    for page in first, second:
        page.wait("location.pathname + location.search === '/' && document.querySelector('#sign-in-name')", patience_s=30)
    check("database relay:bo" not in first.evaluate(KEPT), first.evaluate(KEPT))
    relay.stop()


def signed_out_over_http(browser, folder):
    """Over plain HTTP, where browsers have no locks, the same; and with a token, each tab loses its own."""
    secret = "0123456789abcdef0123456789abcdef"
    relay = Relay(RELAY, folder, f"auth: {{ mode: jwt, secret: {secret} }}")

    def issue():
        return subprocess.run([RELAY, "token", "--user", "bo", "--ttl", "1h", "--config", relay.folder / "relay.yaml"],
                              check=True, capture_output=True, text=True).stdout.strip()

    with Browser("--host-resolver-rules=MAP chat.test 127.0.0.1") as plain:
        pages = [plain.page(f"http://chat.test:{relay.port}/?room=general#token={issue()}") for _ in range(2)]
        for page in pages:
            page.wait(f"{ONLINE} && {COMPOSER}")
        check(pages[0].evaluate("navigator.locks === undefined && !isSecureContext"), "a secure context")
        sign_out(pages[0])
        for page in pages:
            page.wait("location.pathname + location.search === '/' && document.querySelector('#sign-in-name')", patience_s=30)
            kept = page.evaluate(KEPT)
            check(not any("bo" in key or "token" in key for key in kept), kept)
    relay.stop()


if __name__ == "__main__":
    play(globals())
