"""web.py CASE RELAY: plays one case with the web page of a relay in headless Chromium, and prints "good"."""
import gzip
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from web_support import (ECHO, IS_KEPT, ONLINE, RELAY, WITHOUT_LIMITS, Failure, Relay, check, check_accessible,
                         in_whole_browser, play, quiet, rows, until, wait_for_text, write)


def first_chat(browser, folder):
    """From the address to the first answer, by keyboard alone."""
    relay = Relay(RELAY, folder, ECHO)
    page = browser.page(f"{relay.url}/")
    page.wait("document.activeElement?.id === 'sign-in-name'")
    write(page, "Ada Lovelace")
    page.wait("document.querySelector('.problem').textContent !== ''")
    page.evaluate("document.activeElement.value = ''")
    write(page, "Ada")
    page.wait(ONLINE)
    page.wait("document.activeElement?.type === 'search'")
    page.wait("[...document.querySelectorAll('.conversation .title')].some(title => title.textContent === 'Echo')")
    write(page, "ech")
    page.wait("document.activeElement?.tagName === 'TEXTAREA'")
    write(page, "hello")
    wait_for_text(page, "hello", ".own")
    wait_for_text(page, "hello", ":not(.own)")
    page.wait("document.querySelector('.row.own .mark.read')")
    check(page.evaluate("location.search") == "?user=ada&to=echo", page.evaluate("location.search"))
    check(page.evaluate("document.title") == "Echo · relay", page.evaluate("document.title"))
    page.wait("document.querySelector('.conversation[aria-current] .unread') === null")
    # A message that is edited, answered, and deleted by keys.
    page.press("ArrowUp")
    page.wait("document.querySelector('textarea').value === 'hello'")
    write(page, ", again")
    wait_for_text(page, "hello, again", ".own")
    page.press("ArrowUp", shift=True)
    page.wait("document.activeElement.classList.contains('row')")
    page.press("r")
    page.wait("!document.querySelector('.banner').hidden && document.activeElement.tagName === 'TEXTAREA'")
    write(page, "an answer")
    page.wait("document.querySelector('.row.own .quotation')")
    quiet(page)
    relay.stop()


def below_a_path(browser, folder):
    """Below a path: from the link of the first account to a conversation, which opens without a connection, too."""
    provider = "sign_in: [invite, github], github: { client_id: relay, client_secret: a-secret-of-tests }"
    relay = Relay(RELAY, folder, f"auth: {{ mode: accounts, {provider} }}\npath_prefix: /chat")
    here = f"{relay.url}/chat"
    link = re.search(f"{re.escape(here)}/join/\\S+", (pathlib.Path(folder) / "relay.log").read_text())[0]
    page = browser.page(f"{here}/?room=general")
    page.wait("document.querySelector('a.way')")
    way = page.evaluate("document.querySelector('a.way').href")
    check(way == f"{here}/sign-in/github?return=%2F%3Froom%3Dgeneral", f"the way to a provider: {way}")
    page.go(link)
    page.wait("document.activeElement?.id === 'join-name'")
    write(page, "Ada")
    page.wait(f"{ONLINE} && location.href === '{here}/'")
    # Without the slash at the end, as a person writes it.
    page.go(f"{here}?room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA' && location.href === '{here}/?room=general'")
    write(page, "hello")
    page.wait("document.querySelector('.row.own .mark.stored, .row.own .mark.received')")
    page.wait("navigator.serviceWorker.ready.then(({ scope, active }) => active.state === 'activated' && scope === document.baseURI.split('?')[0])")
    cookie, = page.call("Network.getCookies")["cookies"]
    check(cookie["path"] == "/chat/", cookie)
    sent = [event["params"]["request"]["url"] for event in list(page.events.queue) if event["method"] == "Network.requestWillBeSent"]
    others = [url for url in sent if not url.startswith((here, here.replace("http", "ws"), "data:", "blob:"))]
    check(len(sent) > 8 and not others, f"requests beside it: {others}")
    quiet(page)
    # Back from a provider.
    page.go(f"{here}/sign-in/github/callback?state=unknown")
    page.wait(f"location.href === '{here}/' && document.body.innerText.includes('took too long')")
    relay.stop()
    page.go(f"{here}/?room=general")
    wait_for_text(page, "hello", ".own")
    page.go(f"{here}/join/abcdef")
    page.wait("document.body?.innerText.includes('The relay cannot be reached.')")


def addresses(browser, folder):
    """What an address says is opened, with the composer focused; reloading and going back keep to it."""
    relay = Relay(RELAY, folder, ECHO)
    page = browser.page(f"{relay.url}/?user=ada&to=echo")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    page.wait("document.querySelector('relay-conversation h1')?.textContent === 'Echo'")
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait("document.querySelector('relay-conversation h1')?.textContent === 'General'")
    page.wait("[...document.querySelectorAll('.conversation .title')].some(title => title.textContent === 'Echo')")
    page.press("k", ctrl=True)
    page.wait("document.querySelector('dialog input') === document.activeElement")
    write(page, "echo")
    page.wait("location.search === '?user=ada&to=echo'")
    page.wait("document.querySelector('relay-conversation h1')?.textContent === 'Echo'")
    page.evaluate("history.back()")
    page.wait("document.querySelector('relay-conversation h1')?.textContent === 'General'")
    write(page, "draft")
    write(page, "kept")
    page.type("not sent")
    page.press("ArrowDown", alt=True)
    page.wait("document.querySelector('relay-conversation h1')?.textContent === 'Echo' && document.querySelector('textarea').value === ''")
    page.press("ArrowUp", alt=True)
    page.wait("document.querySelector('textarea').value === 'not sent'")
    quiet(page)
    relay.stop()


def regions(browser, folder):
    """F6 goes round; arrows move within; nothing that is focused gets lost."""
    relay = Relay(RELAY, folder, ECHO)
    relay.send("bo", "general", *[f"message {number}" for number in range(30)])
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 30 && document.querySelectorAll('.conversation').length === 2")
    page.wait("document.activeElement.tagName === 'TEXTAREA'")
    seen = []
    for _ in range(4):
        page.press("F6")
        seen.append(page.evaluate("document.activeElement.closest('relay-list, relay-timeline, relay-composer').localName"))
    check(seen == ["relay-list", "relay-timeline", "relay-composer", "relay-list"], seen)
    page.press("F6")
    for _ in range(3):
        page.press("ArrowUp")
    check(page.evaluate("document.activeElement.message.seq") == 27, "arrows")
    check(page.evaluate("document.querySelectorAll('.row[tabindex=\"0\"]').length") == 1, "one stop for Tab")
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    check(label.startswith("bo: message 26, "), label)
    page.press("Enter")
    page.wait("document.activeElement.getAttribute('role') === 'menuitem'")
    page.press("Escape")
    check(page.evaluate("document.activeElement.message.seq") == 27, "the focus returns from the menu")
    page.press("Escape")
    check(page.evaluate("document.activeElement.tagName") == "TEXTAREA", "Escape goes to the composer")
    relay.send("bo", "general", "for the announcer")
    page.wait("document.querySelector('[aria-live=polite]').textContent === 'bo: for the announcer'")
    quiet(page)
    relay.stop()


def magnified(browser, folder):
    """At 200 %, on 320 pixels, in forced colors and with reduced motion nothing is cut, and the focus is seen."""
    relay = Relay(RELAY, folder, ECHO)
    number, = relay.send("bo", "general", "see https://example.org/" + "x" * 90, "`code` " * 30)[:1]
    relay.send("ada", "general", {"text": "an answer " * 20, "reply_to": number}, {"kind": "react", "target": number, "emoji": "👍", "on": True})
    page = browser.page()
    cut = """[...document.querySelectorAll('button, input, textarea, h1, .subtitle, .text, .day, .reaction, .notice')].filter(element => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && element.checkVisibility({ visibilityProperty: true }) && (box.left < -1 || box.right > innerWidth + 1);
      }).map(element => element.outerHTML.slice(0, 120))"""
    for name, width, height, scale, features in (
            ("200 %", 640, 400, 2, {}), ("320 pixels", 320, 568, 1, {}), ("200 % on a phone", 320, 256, 2, {}),
            ("forced colors", 1280, 800, 1, {"forced_colors": "active"}), ("reduced motion", 1280, 800, 1, {"prefers_reduced_motion": "reduce"})):
        page.size(width, height, deviceScaleFactor=scale)
        page.media(**features)
        for address in "/?user=ada", "/?user=ada&room=general":
            page.go(f"{relay.url}{address}")
            page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length === 2")
            if "room" in address:
                page.wait("document.querySelectorAll('.row').length === 3")
            for screen in "", "a menu", "a dialog", "the keys":
                if screen == "a menu":
                    page.evaluate("[...document.querySelectorAll('.menu-button, [aria-label=\"About this conversation\"]')].find(button => button.checkVisibility()).click()")
                    page.wait("document.querySelector('.menu')")
                elif screen:
                    page.press("Escape")
                    page.wait("document.querySelector('dialog, .menu') === null")
                    page.press("F1") if screen == "the keys" else page.press("k", ctrl=True)
                    page.wait(f"document.querySelector('dialog {'.keys' if screen == 'the keys' else '.choices'}')")
                where = f"{name}, {address}, {screen}"
                check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{where}: wider than the page")
                found = page.evaluate(cut)
                check(not found, f"{where}: cut: {found}")
            page.press("Escape")
            page.wait("document.querySelector('dialog') === null")
            # Each stop of Tab shows that it has the focus.
            for _ in range(6):
                page.press("Tab")
                seen = page.evaluate("""(() => { let element = document.activeElement;
                    if (element === document.body) return true;
                    const row = element.closest('.row'); if (row === element) element = row.querySelector('.bubble');
                    const style = getComputedStyle(element), field = element.closest('.field');
                    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1 || (field !== null && getComputedStyle(field).boxShadow !== 'none')
                      || (field !== null && getComputedStyle(field).outlineStyle !== 'none') || element.outerHTML.slice(0, 150); })()""")
                check(seen is True, f"{name}, {address}: the focus is not seen: {seen}")
        if "prefers_reduced_motion" in features:
            page.evaluate("document.querySelector('relay-timeline').show(1).then(() => true)")
            moving = page.evaluate("document.getAnimations().filter(({ effect }) => effect.getKeyframes().some(frame => 'transform' in frame || 'translate' in frame || 'top' in frame)).length")
            check(moving == 0, f"{moving} animations move something")
            check(page.evaluate("[...document.querySelectorAll('*')].every(element => ['0s', ''].includes(getComputedStyle(element).transitionDuration))"), "a transition")
    relay.stop()


def returning(browser, folder):
    """Whoever was at the end still is when the connection is back, the notice goes, and a message comes at the same time."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "general", *[f"message {number}" for number in range(60)])
    page = browser.page(f"{relay.url}/?user=ada&room=general", width=390, height=844)
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length >= 30")
    page.press("End", ctrl=True)
    page.wait("document.querySelector('relay-timeline').isAtEnd")
    page.wait(IS_KEPT)
    for number in range(5):
        relay.stop(signal.SIGKILL)
        page.wait("!document.querySelector('.notice').hidden && document.querySelector('relay-timeline').isAtEnd")
        relay.start()
        relay.send("bo", "general", f"back {number}")
        page.wait(f"{ONLINE} && document.querySelector('.notice').hidden")
        wait_for_text(page, f"back {number}")
        page.wait("document.querySelector('relay-timeline').isAtEnd && document.querySelector('.newest').hidden")
    # The view becomes higher, is laid out, and a message makes the content longer: all in one frame.
    page.evaluate("document.querySelector('.notice').hidden = false; document.querySelector('.notice').textContent = 'x '.repeat(200)")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    check(page.evaluate("document.querySelector('relay-timeline').isAtEnd"), "a notice has come")
    page.evaluate("""new Promise(done => { const notice = document.querySelector('.notice');
      requestAnimationFrame(() => { notice.hidden = true; document.querySelector('.scroller').getBoundingClientRect();
        const row = document.querySelector('.rows').lastElementChild; row.style.paddingBottom = '90px'; setTimeout(done, 100); }); })""")
    page.wait("document.querySelector('relay-timeline').isAtEnd")
    box = page.evaluate("(() => { const { scrollHeight, clientHeight, scrollTop } = document.querySelector('.scroller'); return scrollHeight - clientHeight - scrollTop; })()")
    check(abs(box) <= 1, f"{box} px from the end")
    relay.stop()


def restart(browser, folder):
    """While the relay is away messages are dim, and each is sent once when it is back."""
    relay = Relay(RELAY, folder, ECHO)
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    write(page, "before")
    page.wait("document.querySelector('.row.own .mark.stored')")
    page.wait(IS_KEPT)
    relay.stop(signal.SIGKILL)
    page.wait("!document.querySelector('.notice').hidden")
    for number in range(5):
        write(page, f"offline {number}")
    page.wait("document.querySelectorAll('.row.waiting').length === 5")
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    page.wait("document.querySelectorAll('.row.waiting').length === 0 && document.querySelectorAll('.row.own .mark.stored').length === 6")
    page.wait("document.querySelector('.notice').hidden")
    expected = ["before", *(f"offline {number}" for number in range(5))]
    check(relay.texts("general") == expected, relay.texts("general"))
    check(rows(page) == expected, rows(page))
    quiet(page)
    relay.stop()


def offline(browser, folder):
    """Without a relay the page opens with what was seen last, takes messages, and sends them once it can."""
    relay = Relay(RELAY, folder, ECHO)
    relay.send("bo", "general", *[f"message {number}" for number in range(30)])
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 30")
    page.wait(IS_KEPT)
    # So too for a page that the worker did not take over by itself; as here, that may happen to one that is just being opened.
    page.evaluate("window.isOld = true")
    page.call("Page.reload", ignoreCache=True)
    page.wait(f"!window.isOld && {ONLINE} && navigator.serviceWorker.controller !== null")
    page.wait("localStorage.getItem('relay.list:ada')?.includes('message 29')")
    relay.stop()
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait("document.querySelectorAll('.row').length === 30")
    check(rows(page)[-1] == "message 29", rows(page)[-1])
    page.wait("document.querySelector('.conversation[aria-current] .title').textContent === 'General'")
    write(page, "written offline")
    page.wait("document.querySelectorAll('.row.waiting').length === 1")
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait("document.querySelectorAll('.row.waiting').length === 1")
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    page.wait("document.querySelectorAll('.row.own .mark.stored').length === 1 && document.querySelectorAll('.row').length === 31")
    check(relay.texts("general")[-2:] == ["message 29", "written offline"], "sent once")
    stored = page.evaluate("""(async () => { const addresses = [];
      for (const name of await caches.keys()) for (const request of await (await caches.open(name)).keys()) addresses.push(new URL(request.url).pathname);
      return addresses; })()""")
    check(stored and all(re.fullmatch(r"/web/[0-9a-z]+/.+", address) for address in stored), stored)
    relay.stop()


def two_tabs(browser, folder):
    """Two tabs of one user, and another user: each sees each message once, and what is read is read in both."""
    relay = Relay(RELAY, folder, ECHO)
    # Not every browser pretends that each page has the focus: the last one has it, and reads.
    other = browser.page(f"{relay.url}/?user=bo&room=general")
    first = browser.page(f"{relay.url}/?user=ada&room=general")
    second = browser.page(f"{relay.url}/?user=ada&room=general")
    for page in first, second, other:
        page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    for number in range(10):
        write(first, f"first {number}")
        write(second, f"second {number}")
        write(other, f"other {number}")
    for page in first, second, other:
        page.wait("document.querySelectorAll('.row').length === 30 && document.querySelectorAll('.row.waiting').length === 0")
    for page in first, second, other:
        until(lambda: rows(page) == relay.texts("general"), f"{rows(page)}, not {relay.texts('general')}")
    other.wait("document.querySelectorAll('.mark.read').length === 10")
    second.evaluate("document.querySelector('textarea').focus()")
    second.type("t")
    other.wait("document.querySelector('.subtitle').textContent === 'ada is typing…'")
    for page in first, second, other:
        quiet(page)
    relay.stop()


def token(browser, folder):
    """A token is in the address only until it is read; another one renews it; a bad one is asked for again."""
    relay = Relay(RELAY, folder, "auth: { mode: jwt, secret: 0123456789abcdef0123456789abcdef }")

    def issue(lifetime):
        return subprocess.run([RELAY, "token", "--user", "ada", "--ttl", lifetime, "--config", relay.folder / "relay.yaml"],
                              check=True, capture_output=True, text=True).stdout.strip()

    page = browser.page(f"{relay.url}/")
    page.wait("document.querySelector('#sign-in-name')?.type === 'password'")
    page.go(f"{relay.url}/?room=general#token={issue('6s')}")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    check(page.evaluate("location.hash") == "", "the token is still in the address")
    check(page.evaluate("Object.values({ ...localStorage }).every(value => !value.includes('.ey'))"), "the token is stored")
    write(page, "with the first token")
    page.wait("document.querySelector('.row.own .mark.stored')")
    page.evaluate(f"location.hash = '#token={issue('1h')}'")

    def is_renewed():  # before the first one has expired, and on the same connection
        while not page.events.empty():
            event = page.events.get()
            if '"type":"renewed"' in event["params"].get("response", {}).get("payloadData", ""):
                return True
        return False

    until(is_renewed, "no renewal")
    write(page, "with the second token")
    page.wait("document.querySelectorAll('.row.own .mark.stored').length === 2")
    check(page.evaluate("document.querySelector('dialog') === null && location.hash === ''"), "asked for a token")
    page.close()  # the tabs of a user share its connection
    page = browser.page(f"{relay.url}/?room=general#token={issue('1h')[:-6]}AAAAAA")
    page.wait("document.querySelector('dialog input[type=password]')")
    page.evaluate("document.querySelector('dialog input').focus()")
    write(page, issue("1h"))
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 2 && document.querySelector('dialog') === null")
    relay.stop()


def directory(browser, folder):
    """A directory that is rate-limited says until when, and is complete afterwards."""
    script = pathlib.Path(__file__).resolve().parents[2] / "DirectoriesTests/directory.py"
    reset = int(time.time()) + 6
    service = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "/usr/bin/python3", script, json.dumps({"remaining": 0, "limit": None, "reset": reset})],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = int(service.stdout.readline())
    relay = Relay(RELAY, folder, f"""directory:
  kind: github
  source: org:acme
  base_url: http://127.0.0.1:{port}
  refresh_s: 1""")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    text = page.wait("/rate-limited until/.test(document.querySelector('.foot')?.textContent) && document.querySelector('.foot').textContent")
    shown = page.evaluate(f"new Date({reset * 1000}).toLocaleTimeString(undefined, {{timeStyle: 'short'}})")
    check(shown in text, f"{text}, not {shown}")
    page.wait("[...document.querySelectorAll('.conversation .title')].some(title => title.textContent === 'Person-0003')")
    page.wait("document.querySelector('.foot').hidden")
    quiet(page)
    relay.stop()
    service.kill()


ATTACKS = [
    "<img src=x onerror=window.hacked=1>", "<script>window.hacked=1</script>", "\"><svg/onload=window.hacked=1>",
    "javascript:window.hacked=1", "[x](javascript:window.hacked=1)", "http://x\" onmouseover=\"window.hacked=1",
    "https://user:pass@evil.example/%22%3E<b>", "data:text/html,<script>window.hacked=1</script>",
    "</textarea><style>*{display:none}</style>", "{{constructor.constructor('window.hacked=1')()}}", "${window.hacked=1}",
    "`</code><script>window.hacked=1</script>`", "```\n</pre><script>window.hacked=1</script>\n```",
    "@ada<img src=x onerror=window.hacked=1>", "\u202egpj.exe\u202c", "vbscript:msgbox(1)", "&lt;b&gt;bold&lt;/b&gt;",
    "https://evil.example/‮moc.elgoog", "ftp://evil.example/", "x" * 8000, "\u0300" * 2000 + "z",
]


def attacks(browser, folder):
    """What others write is text: in messages, names, rooms, reactions, quotations, titles and pictures."""
    (pathlib.Path(folder) / "people.yaml").write_text(json.dumps([
        {"user": "mallory", "name": "<img src=x onerror=window.hacked=1>", "avatar": "javascript:window.hacked=1"},
        {"user": "trudy", "name": "\"><script>window.hacked=1</script>", "avatar": "data:image/svg+xml,<svg onload='window.hacked=1'/>"},
    ]))
    relay = Relay(RELAY, folder, f"""{WITHOUT_LIMITS}
directory: {{ kind: local, file: {folder}/people.yaml }}
rooms: {{ listed: [{{ room: general, title: "<b onmouseover=window.hacked=1>General</b>" }}] }}""")
    numbers = relay.send("mallory", "general", *ATTACKS)
    relay.send("trudy", "general", *[{"text": text[:500], "reply_to": number} for number, text in zip(numbers, ATTACKS)])
    relay.send("trudy", "general", *[{"kind": "react", "target": numbers[0], "emoji": emoji, "on": True}
                                     for emoji in ("<b>1</b>", "__proto__", "\"><img>")])
    relay.send("trudy", "general", {"kind": "data", "data": {"html": ATTACKS[0], "__proto__": {"x": ATTACKS[1]}}})
    relay.send("mallory", "dm:ada:mallory", ATTACKS[0])
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"""{ONLINE} && (document.querySelectorAll('.row').length === {len(ATTACKS) * 2 + 1}
        || (document.querySelector('.scroller').scrollTop = 0))""")
    page.evaluate("document.querySelectorAll('.quotation, .reaction, .conversation').forEach(element => element.dispatchEvent(new MouseEvent('mouseover', { bubbles: true })))")
    page.evaluate("document.querySelectorAll('.all').forEach(button => button.click())")
    page.wait("document.querySelector('.all') === null")
    shown = page.evaluate("[...document.querySelectorAll('.row .text')].map(text => text.textContent)")
    for text in ATTACKS:
        expected = re.sub("\u0300{7,}", "\u0300" * 6, re.sub("[\u202a-\u202e\u2066-\u2069]", "", text))
        if "`" not in expected:
            check(expected in shown, f"not shown as text: {expected[:80]!r}")
    found = page.evaluate("""[...document.querySelectorAll('a')].map(link => link.protocol + ' ' + link.rel)""")
    check(set(found) <= {"http: noopener noreferrer nofollow", "https: noopener noreferrer nofollow"}, found)
    strange = page.evaluate("""[...document.querySelectorAll('relay-timeline script, relay-timeline style, relay-timeline iframe, relay-timeline b *,'
      + 'relay-list script, [onerror], [onload], [onmouseover], .text img, .text svg')].map(element => element.outerHTML.slice(0, 100))""")
    check(strange == [], strange)
    # Nothing is wider than the page.
    check(page.evaluate("document.documentElement.scrollWidth <= innerWidth && document.querySelector('.scroller').scrollWidth <= document.querySelector('.scroller').clientWidth + 1"), "wider than the page")
    for address in "javascript:window.hacked=1", "<img src=x onerror=window.hacked=1>", "../../x", "\"'><script>window.hacked=1</script>":
        quoted = urllib.parse.quote(address)
        page.go(f"{relay.url}/?user=ada&room={quoted}&to={quoted}")
        page.wait(ONLINE)
        page.go(f"{relay.url}/?user={quoted}&room={quoted}#token={quoted if 'x' == address else ''}")
    check(page.evaluate("window.hacked === undefined"), "a script of someone else has run")
    # Text that is assigned as HTML, and a script that is not the relay's, are refused by the policy.
    page.go(f"{relay.url}/?user=ada&room=general")
    for script in ("document.body.innerHTML = '<b>x</b>'", "document.createElement('script').text = 'window.hacked=1'",
                   "setTimeout('window.hacked=1')"):
        check(page.evaluate(f"(() => {{ try {{ {script}; return 'done'; }} catch (error) {{ return error.name; }} }})()")
              in ("TypeError", "EvalError"), script)
    check(page.evaluate("""new Promise(done => { addEventListener('securitypolicyviolation', event => done(event.effectiveDirective), { once: true });
      const image = document.createElement('img'); image.src = 'https://evil.example/pixel.png'; document.body.append(image); })""") == "img-src", "pictures from elsewhere")
    relay.stop()


def framing(browser, folder):
    """No page may frame the messenger, and a page of another origin has no conversation unless it is allowed."""
    import http.server

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(self.server.html.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        origin = f"http://127.0.0.1:{server.server_port}"
        closed = Relay(RELAY, folder, "")
        server.html = f"<!doctype html><iframe src='{closed.url}/?user=ada'></iframe>"
        page = browser.page(f"{origin}/")
        page.wait("document.querySelector('iframe')")
        until(lambda: any("frame-ancestors" in problem or "Refused to display" in problem or "Framing" in problem for problem in page.problems())
              or page.evaluate("document.querySelector('iframe').contentDocument === null"), "framed")
        tree = page.call("Page.getFrameTree")["frameTree"].get("childFrames", [])
        check(all(not frame["frame"]["url"].startswith(closed.url) for frame in tree), tree)
        server.html = f"<!doctype html><script type=module src='{closed.url}/embed.js'></script><relay-room src='{closed.url}' user=ada room=general></relay-room>"
        page.go(f"{origin}/")
        page.wait("customElements.get('relay-room') !== undefined")
        page.wait("document.querySelector('relay-room').relay?.health.state === 'waiting'")
        closed.stop()
        other = tempfile.mkdtemp(dir=folder)
        relay = Relay(RELAY, other, f"auth: {{ origins: ['{origin}'] }}\n{ECHO}")
        server.html = (f"<!doctype html><style>relay-room {{ height: 400px; --accent: green }}</style><script type=module src='{relay.url}/embed.js'></script>"
                       f"<relay-room src='{relay.url}' user=ada room=general title=General></relay-room>")
        page.go(f"{origin}/")
        page.wait("document.querySelector('relay-room')?.shadowRoot?.querySelector('textarea')")
        page.evaluate("document.querySelector('relay-room').shadowRoot.querySelector('textarea').focus()")
        write(page, "from another page")
        page.wait("document.querySelector('relay-room').shadowRoot.querySelector('.row.own .mark.stored')")
        check(relay.texts("general") == ["from another page"], "sent")
        relay.stop()


def size(browser, folder):
    """What the first visit loads, compressed: at most 64 KiB, in few files. Every file that another one names is there."""
    relay = Relay(RELAY, folder, "")

    def load(path):
        with urllib.request.urlopen(urllib.request.Request(f"{relay.url}{path}", headers={"Accept-Encoding": "gzip"})) as answer:
            return answer.read()

    page = load("/")
    names = ["/" + name for name in re.findall(r'(?:href|src)="(web/[^"]+)"', gzip.decompress(page).decode())]
    sizes = {name.split("/", 3)[3]: len(load(name)) for name in names}
    total = len(page) + sum(sizes.values())
    print(f"{len(sizes) + 1} files, {total} bytes", file=sys.stderr)
    check(5 <= len(sizes) <= 8 and total <= 64 * 1024, f"{total} bytes: {sizes}")
    check(len(load("/embed.js")) < 1024, "embed.js")
    seen, waiting = set(), [name for name in names if name.endswith(".js")] + [names[0].rsplit("/", 1)[0] + "/relay-room.js"]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        text = load(name)
        text = gzip.decompress(text).decode() if text[:2] == b"\x1f\x8b" else text.decode()
        waiting += [urllib.parse.urljoin(name, path) for path in re.findall(r'(?m)^(?:import|export)[^"\n]*"([^"]+)";$|import\("(\.[^"]+)"\)', text)
                    for path in path if path]
    check(len(seen) > 10 and not any(name.endswith(("/dom.js", "/timeline.js")) for name in seen), f"each module once: {seen}")
    relay.stop()


def accessibility(browser, folder):
    """axe-core finds nothing on any screen, dark or light."""
    relay = Relay(RELAY, folder, ECHO)
    number, = relay.send("bo", "general", "see https://example.org/x, `code`, @ada")
    relay.send("ada", "general", {"text": "an answer", "reply_to": number}, {"kind": "react", "target": number, "emoji": "👍", "on": True})
    relay.send("bo", "dm:ada:bo", "unread")
    for theme, contrast in ("light", "no-preference"), ("dark", "no-preference"), ("light", "more"):
        page = browser.page()
        page.media(prefers_color_scheme=theme, prefers_contrast=contrast, prefers_reduced_motion="reduce")

        def clean(screen):
            check_accessible(page, f"{theme}, {screen}")

        page.go(f"{relay.url}/")
        page.wait("document.querySelector('.sign-in')")
        clean("sign-in")
        page.go(f"{relay.url}/?user=ada&room=general")
        page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 2 && document.querySelectorAll('.conversation').length === 3")
        clean("a conversation")
        page.evaluate("document.querySelector('relay-timeline').enter()")
        page.press("ArrowUp")
        page.press("Enter")
        page.wait("document.querySelector('.menu')")
        clean("a menu")
        page.press("Escape")
        page.press("+")
        page.wait("document.querySelector('.menu.emoji') && document.activeElement.type === 'search'")
        clean("reactions")
        page.press("Escape")
        page.press("r")
        page.wait("!document.querySelector('.banner').hidden")
        page.evaluate("document.querySelector('relay-composer').text = ''")  # the draft of the page before
        page.type("@ec")
        page.wait("!document.querySelector('.offers').hidden")
        clean("a reply with a completion")
        page.press("Escape")
        page.press("f", ctrl=True)
        page.wait("document.activeElement.closest('.search')")
        write(page, "nothing like this")
        page.wait("document.querySelector('.result').textContent === 'No older matches'")
        clean("a search")
        page.press("Escape")
        page.press("k", ctrl=True)
        page.wait("document.querySelector('dialog .choices')")
        clean("the switcher")
        page.press("Escape")
        page.press("F1")
        page.wait("document.querySelector('dialog.sheet')")
        clean("the keys")
        page.press("Escape")
        page.size(320, 600)
        page.wait("innerWidth === 320")
        clean("320 pixels")
        page.close()
    relay.stop()


@in_whole_browser
def budgets(browser, folder):
    """Paint, memory, frames and long tasks."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "general", *[f"message {number} with some words of text" for number in range(10_000)])
    # The second visit: the files are in the cache, the processor is slowed down.
    watch = """window.tasks = []; window.frames = [];
      new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => Math.round(entry.duration)))).observe({ type: 'longtask', buffered: true });
      (() => { let last; const frame = now => {
        if (window.usable === undefined && document.querySelector('.row') && document.activeElement?.tagName === 'TEXTAREA') window.usable = now;
        if (last) frames.push(now - last); last = now; requestAnimationFrame(frame); }; requestAnimationFrame(frame); })()"""
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait("document.querySelector('.row')")
    page.call("Page.addScriptToEvaluateOnNewDocument", source=watch)
    page.call("Emulation.setCPUThrottlingRate", rate=4)
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait("window.usable !== undefined")
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    usable = page.evaluate("usable")
    page.call("Emulation.setCPUThrottlingRate", rate=1)
    page.go(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length >= 50")
    page.evaluate("tasks.length = 0")
    page.evaluate("""(async () => { const scroller = document.querySelector('.scroller');
      while (document.querySelector('.row').message.seq > 1) { scroller.scrollTop -= 700; await new Promise(requestAnimationFrame); } })()""")
    scrolling = page.evaluate("Math.max(0, ...tasks)")
    page.call("HeapProfiler.collectGarbage")
    heap = page.evaluate("performance.memory.usedJSHeapSize") / 1e6
    page.press("End", ctrl=True)
    page.wait("document.querySelector('relay-timeline').isAtEnd")
    page.evaluate("tasks.length = frames.length = 0")
    for _ in range(30):  # 1,000 messages a second for three seconds
        began = time.monotonic()
        relay.send("bo", "general", *["live, with some words of text"] * 100)
        time.sleep(max(0, began + 0.1 - time.monotonic()))
    page.wait("document.querySelector('relay-timeline').isAtEnd && [...document.querySelectorAll('.row')].at(-1).message.seq === 13000")
    live = page.evaluate("frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)]")
    page.evaluate("tasks.length = 0")
    relay.send("bo", "general", *["caught up"] * 10_000)
    page.wait("document.querySelector('relay-timeline').isAtEnd && [...document.querySelectorAll('.row')].at(-1).message.seq === 23000")
    flood = page.evaluate("Math.max(0, ...tasks)")
    # Rooms that are opened and left keep nothing.
    relay.send("bo", "other", "x")
    page.call("HeapProfiler.collectGarbage")
    before = page.evaluate("performance.memory.usedJSHeapSize")
    for _ in range(60):
        page.press("ArrowDown", alt=True)
        page.wait("document.querySelector('.row')")
    page.call("HeapProfiler.collectGarbage")
    leaked = (page.evaluate("performance.memory.usedJSHeapSize") - before) / 1e6
    figures = (f"first paint {paint:.0f} ms, usable {usable:.0f} ms (4 times slower); heap {heap:.1f} MB; longest task scrolling {scrolling} ms; "
               f"p95 of frames at 1,000 messages/s {live:.1f} ms; longest task catching up 10,000: {flood} ms; 60 switches {leaked:.1f} MB")
    print(figures, file=sys.stderr)
    check(paint <= 300 and usable <= 500 and heap <= 30 and live <= 17 and max(scrolling, flood) <= 50 and leaked <= 2, figures)
    relay.stop()


def turned_off(browser, folder):
    relay = Relay(RELAY, folder, "", "--no-web")
    for path in "/", "/embed.js", "/service-worker.js":
        try:
            urllib.request.urlopen(f"{relay.url}{path}")
        except urllib.error.HTTPError as error:
            check(error.code == 404, f"{path}: {error.code}")
        else:
            raise Failure(f"{path} is served")
    relay.stop()


if __name__ == "__main__":
    play(globals())
