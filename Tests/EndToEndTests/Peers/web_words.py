"""web_words.py CASE RELAY: what the web page says and offers, and what it never sends. Prints "good"."""
import json
import pathlib
import re
import signal
import socket
import threading
import time

from web_support import IS_KEPT, ONLINE, RELAY, WITHOUT_LIMITS, Relay, check, in_whole_browser, play, quiet, until, wait_for_text, write

NOTE = "document.querySelector('relay-composer .note:not([hidden])')?.textContent"
COMPOSER = "document.querySelector('relay-composer textarea').value"
READY = f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'"
TITLE = "document.querySelector('relay-conversation h1').textContent"


SAID = {"block": "eve is blocked.", "unblock": "eve is no longer blocked.",
        "report": "The message was reported to the moderators of this room."}


def clear(page):
    page.evaluate("(input => { input.focus(); input.value = ''; input.dispatchEvent(new Event('input', { bubbles: true })); })"
                  "(document.querySelector('relay-composer textarea'))")


def commands(browser, folder):
    """A command is carried out or explained, by each of its names, and never sent as text."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "general", "one @ada", "two", "three @ada", "four")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{READY} && document.querySelectorAll('.row').length === 4")
    table = page.evaluate("import(`/web/${document.querySelector('#app').dataset.version}/commands.js`).then(({ table }) => table)")
    check(len(table) > 15, table)
    # Unknown ones, and such without a sense, stay where they were written.
    for text in ("/jion foo", "/jion", "/nick bo", "/join", "/join not a room", "/msg", "/msg ada", "/msg no/body", "/me", "/goto",
                 "/goto never", "/help now", "/quit", "/mute not/a", "/kick", "/role eve king", "/title", "\n/jion"):
        clear(page)
        page.type(text)
        page.press("Enter")
        page.wait(f"{NOTE}")
        check(page.evaluate(COMPOSER) == text, f"{text!r} has become {page.evaluate(COMPOSER)!r}")
    check(page.evaluate(NOTE).startswith("/jion is no command: /help shows them. Write //jion"), page.evaluate(NOTE))
    # Two slashes send one; one alone, and one within a text, are text.
    for text, sent in ("//jion", "/jion"), ("/", "/"), ("either/or", "either/or"):
        clear(page)
        write(page, text)
        wait_for_text(page, sent, ".own")
    arguments = {"join": "#general", "msg": "@bo", "me": "waves", "goto": "today", "search": "two", "create": "Tea", "title": "Tea",
                 "role": "eve owner", "block": "@eve", "unblock": "eve", "report": "spam", **dict.fromkeys(("invite", "kick", "ban", "unban", "op", "deop"), "@eve")}
    for names, _, _, *absence in table:
        name, *others = names.split()
        for alias in (name, *others):
            clear(page)
            text = f"/{alias} {arguments.get(name, '')}".strip()
            page.type(text)
            page.wait("document.querySelector('.offers').hidden || document.querySelectorAll('.offers [role=option]').length > 0")
            page.press("Enter")
            if name == "accept":
                page.wait(f"{NOTE} === 'Only direct conversations are requests.'")
            elif absence:
                page.wait(f"{NOTE}?.startsWith({json.dumps(absence[0])})")
            else:
                if name in SAID:
                    page.wait(f"{NOTE} === {json.dumps(SAID[name])}")
                page.wait(f"{COMPOSER} === '' || {json.dumps(text)} === ''", 8)
            # What stands in for a part that is being loaded need not become a dialog.
            page.wait("document.querySelector('dialog.loading') === null")
            if page.evaluate("document.querySelector('dialog') !== null") or name in ("searchall", "help", "leave"):
                page.wait("document.querySelector('dialog:not(.loading)')")
                page.press("Escape")
                page.wait("document.querySelector('dialog') === null")
            if name == "search":
                # It takes the focus once it is loaded.
                page.wait("document.activeElement.closest('.search')")
            page.evaluate("document.querySelector('[aria-label=\"Close the search\"]')?.click()")
            if name in ("msg", "create"):
                page.wait(f"{TITLE} === '{'bo' if name == 'msg' else 'Tea'}'")
                page.go(f"{relay.url}/?user=ada&room=general")
                page.wait(f"{READY} && document.querySelectorAll('.row').length >= 7")
    until(lambda: "* ada waves" in relay.texts("general"), "what one does is sent")
    check(relay.texts("general") == ["one @ada", "two", "three @ada", "four", "/jion", "/", "either/or", "* ada waves"], relay.texts("general"))
    # What is said to one person is read by nobody else.
    clear(page)
    write(page, "/msg Bo  /quit  you")
    wait_for_text(page, "/quit  you", ".own")
    check(page.evaluate("location.search") == "?user=ada&to=bo", page.evaluate("location.search"))
    until(lambda: relay.texts("dm:ada:bo", "bo") == ["/quit  you"], "it is sent to bo")
    check("/quit  you" not in relay.texts("general"), "it was sent to the room")
    # In a reply too; an edit is a text.
    # A text can be edited once it is acknowledged.
    until(lambda: page.press("ArrowUp") or page.evaluate(f"{COMPOSER} === '/quit  you'"), "it is edited")
    page.evaluate("document.activeElement.select()")
    write(page, "/topic")
    wait_for_text(page, "/topic", ".own")
    page.press("ArrowUp", shift=True)
    page.wait("document.activeElement.classList.contains('row')")
    page.press("r")
    page.wait("!document.querySelector('.banner').hidden && document.activeElement.tagName === 'TEXTAREA'")
    write(page, "/secret words")
    page.wait(f"{NOTE}?.startsWith('/secret is no command')")
    check(page.evaluate(COMPOSER) == "/secret words", "kept")
    clear(page)
    # Mentions and dates lead to their messages.
    write(page, "/join general")
    page.wait(f"{TITLE} === 'General'")
    wait_for_text(page, "three @ada")
    write(page, "/mention")
    page.wait("document.querySelector('.row.flash')?.message.text === 'three @ada' || document.activeElement.message?.text === 'three @ada'")
    quiet(page)
    relay.stop()


def offers(browser, folder):
    """A name that one types is a person's first, and a room's only where the room exists or is asked for by `#`."""
    relay = Relay(RELAY, folder, f"{WITHOUT_LIMITS}\nrooms: {{ listed: [{{ room: general, title: General }}] }}")
    page = browser.page(f"{relay.url}/?user=bo")
    page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length === 1")
    last = "[...document.querySelectorAll('.conversation')].map(row => row.querySelector('.title').textContent + ': ' + row.querySelector('.last').textContent)"
    choice = "[...document.querySelectorAll('.choice')].map(row => row.querySelector('small').textContent)"

    def offered(query):
        page.evaluate(f"(input => {{ input.focus(); input.value = {json.dumps(query)}; input.dispatchEvent(new Event('input')); }})(document.querySelector('.find input'))")
        listed = page.evaluate(last)
        page.press("k", ctrl=True)
        page.wait("document.querySelector('dialog:not(.loading) input') === document.activeElement")
        page.type(query)
        chosen = page.evaluate(choice)
        page.press("Escape")
        page.wait("document.querySelector('dialog') === null")
        check(len(listed) == len(chosen), f"{query}: {listed}, {chosen}")
        return listed, chosen

    for query, listed, chosen in [
        ("ada", ["ada: Write to @ada"], ["Write to @ada"]),
        ("@ada", ["ada: Write to @ada"], ["Write to @ada"]),
        ("#ada", ["ada: Open the room #ada"], ["Open the room #ada"]),
        ("general", ["General: No messages yet", "general: Write to @general"], ["room", "Write to @general"]),
        ("#gen", ["General: No messages yet", "gen: Open the room #gen"], ["room", "Open the room #gen"]),
        ("@general", ["general: Write to @general"], ["Write to @general"]),
        ("bo", [], []),
    ]:
        found = offered(query)
        check(found == (listed, chosen), f"{query}: {found}")
    # Enter takes the first offer: what is written next is for her alone.
    page.evaluate("(input => { input.focus(); input.value = ''; input.dispatchEvent(new Event('input')); })(document.querySelector('.find input'))")
    page.press("k", ctrl=True)
    page.wait("document.querySelector('dialog:not(.loading) input') === document.activeElement")
    write(page, "ada")
    page.wait("location.search === '?user=bo&to=ada' && document.activeElement?.tagName === 'TEXTAREA'")
    write(page, "for you alone")
    until(lambda: relay.texts("dm:ada:bo", "ada") == ["for you alone"], "sent to ada")
    # A person that has the name comes before a room that has it.
    relay.send("team", "dm:bo:team", "hello")
    relay.send("bo", "team", "hello")
    page.wait("document.querySelectorAll('.conversation').length === 4")
    check(offered("team")[1] == ["@team", "room"] or offered("team")[1] == ["Write to @team", "room"], offered("team"))
    quiet(page)
    relay.stop()


class FreezingProxy:
    """Passes bytes on, or holds those of one direction until they may go on; it closes nothing."""

    def __init__(self, port):
        self.target, self.gates = port, {"to the relay": threading.Event(), "to the page": threading.Event()}
        for gate in self.gates.values():
            gate.set()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
                relay = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return
            for source, target, gate in (client, relay, "to the relay"), (relay, client, "to the page"):
                threading.Thread(target=self._pass, args=(source, target, self.gates[gate]), daemon=True).start()

    @staticmethod
    def _pass(source, target, gate):
        try:
            while data := source.recv(1 << 16):
                gate.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()


def frozen(browser, folder):
    """A relay that does not answer is told at once, for as long as it lasts, and no answer from before counts afterwards."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    proxy = FreezingProxy(relay.port)
    page = browser.page(f"{proxy.url}/?user=ada&room=general")
    health = "document.querySelector('.health').textContent"
    for direction, text in ("to the relay", None), ("to the page", None), ("to the relay", "written meanwhile"):
        page.wait(f"{READY} && /^Online · \\d+ ms$/.test({health})")
        proxy.gates[direction].clear()
        began, waited = time.monotonic(), 0
        if text:
            write(page, text)
        page.wait(f"/waiting \\d+ s/.test({health})")
        while waited < 4:
            said = page.evaluate(health)
            match = re.fullmatch(r"No answer, waiting (\d+) s", said)
            check(match and waited <= int(match[1]) <= time.monotonic() - began, f"{direction}: {said!r} after {time.monotonic() - began:.1f} s")
            waited = int(match[1])
            time.sleep(0.05)
        proxy.gates[direction].set()
        thawed, shown = time.monotonic(), None
        while shown is None:
            said = page.evaluate(health)
            if match := re.fullmatch(r"Online · (\d+) ms", said):
                shown = int(match[1])
                check(shown <= 1000 * (time.monotonic() - thawed), f"{direction}: {said!r}, {time.monotonic() - thawed:.2f} s after it")
            check(time.monotonic() - thawed < 30, f"{direction}: {said!r} in the end")
            time.sleep(0.02)
    wait_for_text(page, "written meanwhile", ".own")
    until(lambda: relay.texts("general") == ["written meanwhile"], "it arrived once")
    # A second tab, which has no connection of its own, says the same.
    second = browser.page(f"{proxy.url}/?user=ada&room=general")
    second.wait(f"{READY} && /^Online · \\d+ ms$/.test({health})")
    proxy.gates["to the page"].clear()
    for one in page, second:
        one.wait(f"/waiting \\d+ s/.test({health})")
    proxy.gates["to the page"].set()
    second.wait(f"/^Online · \\d+ ms$/.test({health})")
    quiet(page)
    relay.stop()


# What a person sees of the relay's state.
SHOWN = """(() => ({
  title: document.title,
  list: [...document.querySelectorAll('.conversation')].map(row => ['.title', '.last', '.unread', 'time'].map(part => row.querySelector(part)?.textContent ?? '')
    .concat(row.querySelector('.face').className.trim())),
  head: ['.subtitle', '.members'].map(part => document.querySelector(part).hidden ? '' : document.querySelector(part).textContent),
  rows: [...document.querySelectorAll('.row')].slice(-12).map(row => ['.text', '.mark', '.reactions'].map(part => row.querySelector(part)?.textContent ?? '')
    .concat(row.querySelector('.mark')?.className ?? '')) }))()"""


def fresh(browser, folder):
    """After each kind of event, a page that was open all the time shows what one shows that is opened now."""
    relay = Relay(RELAY, folder, f"{WITHOUT_LIMITS}\nrooms: {{ listed: [{{ room: general, title: General }}, {{ room: quiet, title: Quiet }}] }}")

    def visit(user, address):
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        return browser.page(f"{relay.url}/?user={user}&{address}", context=context), context

    page, _ = visit("ada", "room=general")
    page.wait(READY)

    def compare(what):
        other, context = visit("ada", page.evaluate("location.search.split('&')[1] ?? ''"))
        other.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length > 0")
        until(lambda: page.evaluate(SHOWN) == other.evaluate(SHOWN), lambda: f"{what}: the page shows {page.evaluate(SHOWN)}, a fresh one {other.evaluate(SHOWN)}")
        other.close()
        browser.call("Target.disposeBrowserContext", browserContextId=context)

    def see(condition, what):
        page.wait(condition)
        compare(what)

    compare("nothing has happened")
    relay.send("bo", "quiet", "in a room that is only listed")
    see("[...document.querySelectorAll('.last')].some(last => last.textContent === 'bo: in a room that is only listed')", "a message in a listed room")
    relay.send("bo", "general", *[f"message {number}" for number in range(433)])
    see("document.querySelector('.members').textContent === '2 members'", "messages of a new member")
    cy, _ = visit("cy", "room=general")
    see("document.querySelector('.members').textContent === '3 members'", "a new member")
    cy.close()
    relay.request("cy", [{"type": "leave", "room": "general", "forget": True}])
    see("document.querySelector('.members').textContent === '2 members'", "a member left")
    bo, _ = visit("bo", "to=ada")
    bo.wait(READY)
    write(page, "/msg bo hello")
    wait_for_text(page, "hello", ".own")
    see("document.querySelector('.subtitle').textContent === '@bo · online'", "a first message to a user who is online")
    page.go(page.evaluate("location.href"))
    see(f"{ONLINE} && document.querySelector('.subtitle').textContent === '@bo · online'", "the same after a reload")
    bo.close()
    see("document.querySelector('.subtitle').textContent.startsWith('@bo · last seen')", "the peer went")
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait(READY)
    old, last = relay.send("ada", "team", "an old message", "the last one")
    relay.send("di", "dm:ada:di", "a later message")
    see("document.querySelectorAll('.conversation').length === 6", "new conversations")
    first = "document.querySelector('.conversation .title').textContent"
    for what, user, entry in [
        ("an old message is deleted", "ada", {"kind": "delete", "target": old}),
        ("the last message is edited", "ada", {"kind": "edit", "target": last, "text": "the last one, edited"}),
        ("it is reacted to", "bo", {"kind": "react", "target": last, "emoji": "👍", "on": True}),
        ("it is deleted", "ada", {"kind": "delete", "target": last}),
    ]:
        relay.send(user, "team", entry)
        compare(what)
        check(page.evaluate(first) == "di", f"{what}: {page.evaluate(first)} is the first conversation")
    own, = relay.send("ada", "general", "an own message")
    see("[...document.querySelectorAll('.row.own .mark')].some(mark => mark.textContent === '✓')", "an own message")
    relay.send("ada", "general", {"kind": "delete", "target": own})
    see("document.querySelector('.row.own.deleted') && !document.querySelector('.row.own.deleted .mark')", "an own message is deleted")
    # Nobody asks for the members again and again.
    second, _ = visit("ada", "room=general")
    second.wait(READY)
    joined = "Network.webSocketFrameReceived"
    time.sleep(2)
    while not page.events.empty():
        page.events.get()
    time.sleep(4)
    frames = [event for event in list(page.events.queue) if event["method"] == joined and '"joined"' in event["params"]["response"]["payloadData"]]
    check(len(frames) <= 1, f"{len(frames)} joins while nothing happens")
    relay.stop()


# A clock that can be moved.
CLOCK = """(() => { const Real = Date; let ms = Number(new URLSearchParams(location.hash.slice(1)).get('clock') ?? 0); window.moveClock = to => { ms = to; };
  window.Date = class extends Real { constructor(...from) { from.length ? super(...from) : super(Real.now() + ms); } static now() { return Real.now() + ms; } }; })()"""
# All that names a day or a time.
TIMES = "JSON.stringify(['.day', '.row time', '.conversation time', '.subtitle', '.search .result', '.found time'].map(part => [...document.querySelectorAll(part)].map(one => one.textContent)))"


def days(browser, folder):
    """A page that is open over midnight, and while the zone changes, shows what one shows that is opened then."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "dm:ada:bo", "of the evening")
    relay.send("bo", "general", "one", "two")

    def visit(context=None, clock=0, zone="Asia/Kathmandu"):
        page = browser.page(context=context)
        page.call("Page.addScriptToEvaluateOnNewDocument", source=CLOCK)
        page.call("Emulation.setTimezoneOverride", timezoneId=zone)
        page.go(f"{relay.url}/?user=ada&to=bo#clock={clock}")
        page.wait(f"{READY} && document.querySelector('.row')")
        page.press("f", ctrl=True)
        page.wait("document.activeElement.type === 'search'")
        write(page, "evening")
        page.wait("document.querySelector('.search .result')?.textContent.endsWith('Enter: older')")
        return page

    page = visit()
    # In a zone in which no midnight is near.
    hour = page.evaluate("new Date().getUTCHours()")
    zones = [f"Etc/GMT{difference:+d}" for difference in ((hour - 12), (hour - 14))]
    seen = page.evaluate(TIMES)
    for clock, zone, heading in [(0, zones[0], "Today"), (0, zones[1], "Today"), (86_400_000, zones[1], "Yesterday"), (86_400_000, zones[0], "Yesterday"),
                                 (3 * 86_400_000, zones[0], None)]:
        page.call("Emulation.setTimezoneOverride", timezoneId=zone)
        page.evaluate(f"moveClock({clock})")
        context = browser.call("Target.createBrowserContext")["browserContextId"]
        fresh_page = visit(context, clock, zone)
        expected = fresh_page.evaluate(TIMES)
        until(lambda: page.evaluate(TIMES) == expected, lambda: f"{clock}, {zone}: the page shows {page.evaluate(TIMES)}, a fresh one {expected}")
        check(expected != seen, f"{clock}, {zone}: nothing has changed: {seen}")
        check(heading is None or json.loads(expected)[0] == [heading], f"{clock}, {zone}: {expected}")
        seen = expected
        fresh_page.close()
        browser.call("Target.disposeBrowserContext", browserContextId=context)
    # A search of all conversations that is open meanwhile.
    page.evaluate("moveClock(0)")
    page.wait("document.querySelector('.day').textContent === 'Today'")
    page.press("f", ctrl=True, shift=True)
    page.wait("document.querySelector('dialog:not(.loading) input') === document.activeElement")
    write(page, "one")
    page.wait("/^\\d/.test(document.querySelector('.found time')?.textContent)")
    page.evaluate("moveClock(86400000)")
    page.wait("document.querySelector('.found time').textContent === 'Yesterday'")
    quiet(page)
    relay.stop()


@in_whole_browser
def refusals(browser, folder):
    """What the page cannot do is said where one tries it, with what to do; and nothing leads away from the page."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(READY)
    # A text that is too long.
    page.type("x" * 10800)
    page.wait(f"/is too long: the relay takes 8192 bytes. Shorten it, or send it in parts/.test({NOTE})")
    page.press("Enter")
    page.wait(f"{NOTE} === 'Not sent. The text is too long: the relay takes 8192 bytes. Shorten it, or send it in parts.'")
    check(page.evaluate(f"{COMPOSER}.length") == 10800, "it stays")
    clear(page)
    check(page.evaluate(NOTE) is None, "it is said for as long as it is so")
    # Files are taken, wherever they are pasted or dropped, and never opened.
    chosen = "document.querySelectorAll('.attachments li').length"
    count = 0
    file = "(data => { data.items.add(new File(['x'], 'a.png', { type: 'image/png' })); return data; })(new DataTransfer())"
    for event, place in [(f"new ClipboardEvent('paste', {{ clipboardData: {file}, bubbles: true, cancelable: true, composed: true }})", "textarea")] + [
            (f"new DragEvent('{kind}', {{ dataTransfer: {file}, bubbles: true, cancelable: true, composed: true }})", place)
            for place in ("textarea", ".scroller", "relay-list", "body") for kind in ("dragover", "drop")]:
        clear(page)
        check(not page.evaluate(f"document.querySelector('{place}').dispatchEvent({event})"), f"{event[:30]} on {place} has its effect")
        if "dragover" not in event:
            count += 1
            page.wait(f"{chosen} === {count}")
    # One that is really dropped.
    (pathlib.Path(folder) / "a.html").write_text("<title>another page</title>")
    for kind in "dragEnter", "dragOver", "drop":
        page.call("Input.dispatchDragEvent", type=kind, x=800, y=300, data={"items": [], "files": [f"{folder}/a.html"], "dragOperationsMask": 1})
    page.wait(f"{chosen} === {count + 1}")
    check(page.evaluate("location.pathname") == "/", "the file was opened")
    # Text is pasted and dropped as always, also beside a picture of it.
    clear(page)
    both = file.replace("return data", "data.setData('text/plain', 'a cell'); return data")
    check(page.evaluate(f"document.querySelector('textarea').dispatchEvent(new ClipboardEvent('paste', {{ clipboardData: {both}, bubbles: true, cancelable: true }}))"),
          "a text is pasted")
    check(page.evaluate("document.querySelector('textarea').dispatchEvent(new DragEvent('dragover', { dataTransfer: (data => { data.setData('text/plain', 'x'); return data; })(new DataTransfer()),"
                        " bubbles: true, cancelable: true }))"), "a text is dropped")
    # Notifications that the browser denies.
    for setting, text in ("denied", "does not let this site notify you"), ("granted", None):
        browser.call("Browser.setPermission", permission={"name": "notifications"}, setting=setting, origin=relay.url)
        page.wait(f"Notification.permission === '{setting}'")
        page.evaluate("document.querySelector('.menu-button').click()")
        page.wait("[...document.querySelectorAll('.menu button')].find(button => button.textContent === 'Notifications')")
        page.evaluate("[...document.querySelectorAll('.menu button')].find(button => button.textContent === 'Notifications').click()")
        if text:
            page.wait(f"document.querySelector('dialog')?.textContent.includes('{text}')")
            page.press("Enter")
            page.wait("document.querySelector('dialog') === null")
    page.wait("localStorage.getItem('relay.notifications') === 'on'")
    quiet(page)
    relay.stop()


# A store that fails from a moment on.
FAILING_STORE = """for (const name of ['add', 'put']) { const write = IDBObjectStore.prototype[name];
  IDBObjectStore.prototype[name] = function (...what) { if (window.isFull) throw new DOMException('The disk is full.', 'QuotaExceededError'); return write.apply(this, what); }; }"""


def conditions(browser, folder):
    """That the store has failed stands above all else for as long as it lasts; and leaving asks while something is not sent."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    address = f"{relay.url}/?user=ada&room=general"
    condition = "document.querySelector('.conditions').textContent"
    asks = "(event => { window.dispatchEvent(event); return event.defaultPrevented; })(new Event('beforeunload', { cancelable: true }))"
    page = browser.page()
    page.call("Page.addScriptToEvaluateOnNewDocument", source=FAILING_STORE)
    page.go(address)
    page.wait(READY)
    check(page.evaluate(condition) == "" and not page.evaluate(asks), "nothing is wrong")
    page.evaluate("window.isFull = true")
    write(page, "one")
    wait_for_text(page, "one", ".own")
    text = "Messages are not kept on this device: what is not sent yet is lost when this page is closed."
    page.wait(f"{condition}.startsWith({json.dumps(text)})")
    page.wait("document.querySelector('.row.own .mark').textContent.startsWith('✓')")
    check(not page.evaluate(asks), "all is sent")
    write(page, "/nothing")
    page.wait(f"{NOTE}")
    clear(page)
    # Also in a tab that is opened later.
    second = browser.page(address)
    second.wait(f"{READY} && {condition}.startsWith({json.dumps(text)})")
    page.wait(IS_KEPT)
    relay.stop(signal.SIGKILL)
    page.wait("document.querySelector('.health').dataset.state === 'waiting'")
    write(page, "two")
    page.wait("document.querySelector('.row.waiting')")
    check(page.evaluate(asks), "leaving asks")
    check(page.evaluate(condition).startswith(text), "it stands")
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row.waiting').length === 0")
    check(not page.evaluate(asks), "all is sent again")
    # The tab that leads has gone; the store of the next one works.
    page.close()
    second.wait(f"{condition} === ''")
    write(second, "three")
    until(lambda: relay.texts("general") == ["one", "two", "three"], lambda: relay.texts("general"))
    relay.stop()


if __name__ == "__main__":
    play(globals())
