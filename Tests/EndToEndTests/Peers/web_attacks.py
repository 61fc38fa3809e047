"""web_attacks.py CASE RELAY: what the worst user could send to stop or mislead the page of another one. Prints "good"."""
import concurrent.futures
import http.server
import itertools
import json
import pathlib
import re
import struct
import subprocess
import threading
import time
import zlib

from web_support import ONLINE, RELAY, WITHOUT_LIMITS, Relay, check, play, until, wait_for_text, write

SHOWN = "[...document.querySelectorAll('.row')].length"
DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
MANY_MARKS = re.compile("[\u0300-\u036f]{7}")


def works(page, text):
    """The page still takes a message, sends it, and shows it."""
    page.evaluate("document.querySelector('textarea').focus()")
    write(page, text)
    wait_for_text(page, text, ".own")
    page.wait(f"[...document.querySelectorAll('.row.own')].some(row => row.textContent.includes({json.dumps(text)}) && row.querySelector('.mark.stored, .mark.received, .mark.read'))")


def heavy_texts(browser, folder):
    """The work for a text grows with its length and no faster, and it gets a limited number of elements."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    # Thirty times as long as a message may be: what grows with the square of the length takes a thousand times as long.
    for name, text in {
        "a link and parentheses": "'https://a.example/' + ')'.repeat(n)", "pairs": "'https://a.example/' + '()'.repeat(n / 2)",
        "a mention and dots": "'@a' + '.'.repeat(n) + 'a'", "mentions": "'@ada '.repeat(n / 5)", "links": "'http://a.b '.repeat(n / 11)",
        "backticks": "'`'.repeat(n)", "code": "'`a`'.repeat(n / 3)", "blocks": "'```a'.repeat(n / 4)", "an open block": "'```' + 'a'.repeat(n)",
        "marks": "'a' + '\\u0300'.repeat(n)", "marks and joiners": "'a' + '\\u0300\\u200d'.repeat(n / 2)", "joiners": "'a\\u0300' + '\\u200d'.repeat(n)",
        "white space": "'a' + ' '.repeat(n)", "emoji": "'👩‍❤️‍👨'.repeat(n / 8)",
    }.items():
        milliseconds, nodes = page.evaluate(f"""(async () => {{
          const modules = await import(new URL('modules.js', document.querySelector('script[type=module]').src));
          const {{ nodes }} = Object.values(modules).find(module => module.nodes);
          const n = 240000, text = {text}, began = performance.now();
          const made = nodes(text, {{ name: (user) => user, user: 'ada' }});
          return [performance.now() - began, made.length]; }})()""")
        check(milliseconds < 5000, f"{name}: {milliseconds:.0f} ms")
        check(nodes <= 402, f"{name}: {nodes} nodes")
    heavy = ["https://a.example/" + ")" * 8000, "@a" + "." * 8000 + "a", "`" * 8000, "```a```" * 1100, "`a`" * 2700,
             "http://a.b " * 740, "@ada " * 1600, "a" + "\u0300" * 4000, "x" * 8190, "\n".join("y" * 4000), "👩‍❤️‍👨" * 400]
    for text in heavy * 6:  # a request may not be as large as all of them
        relay.send("mallory", "heavy", text)
    page.go(f"{relay.url}/?user=ada&room=heavy")
    page.wait(f"{ONLINE} && {SHOWN} >= 5")
    works(page, "still here")
    most = page.evaluate("Math.max(...[...document.querySelectorAll('.row')].map(row => row.querySelectorAll('*').length))")
    check(most < 900, f"{most} elements for one message")
    check(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "wider than the page")
    relay.stop()


def disguises(browser, folder):
    """Neither names nor texts turn what is around them, cover it with marks, or pretend to lead elsewhere."""
    zalgo, turned = "Z" + "\u0301" * 60, "\u202eadA\u202c"
    (pathlib.Path(folder) / "people.yaml").write_text(json.dumps([
        {"user": "mallory", "name": zalgo}, {"user": "trudy", "name": turned}], ensure_ascii=False))
    relay = Relay(RELAY, folder, f"{WITHOUT_LIMITS}\ndirectory: {{ kind: local, file: {folder}/people.yaml }}")
    links = {"https://bank.example@evil.example/": False, "https://bank.example:443@evil.example/login": False,
             "http://:secret@evil.example/": False, "https://example.org/a_(b)": True, "https://evil.example/אב/moc.knab": True}
    for user in "mallory", "trudy":
        relay.send(user, "general", f"from {user} {zalgo} {turned}", *links)
        relay.send(user, f"dm:ada:{user}", f"direct {zalgo} {turned}")
    relay.send("mallory", "general", *({"kind": "react", "target": 1, "emoji": emoji, "on": True} for emoji in ("1" + "\u0300" * 20, "\u202eko")))
    relay.send("trudy", "general", {"text": "an answer", "reply_to": 1})
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && {SHOWN} === {2 * len(links) + 3} && document.querySelectorAll('.conversation').length === 3")
    page.wait("document.querySelectorAll('.reaction').length === 2 && document.querySelector('.quotation b').textContent !== 'Reply'")
    for room in "general", "dm:ada:mallory", "dm:ada:trudy":
        page.evaluate(f"[...document.querySelectorAll('.conversations li')].find(item => item.row.room === {json.dumps(room)}).firstElementChild.click()")
        page.wait(f"document.querySelector('relay-conversation').room === {json.dumps(room)} && {SHOWN} > 0")
        if room == "general":
            shown = dict(page.evaluate("""[...document.querySelectorAll('.row a')].map(link => [link.textContent, link.dir])"""))
            check(shown == {text: "ltr" for text, is_link in links.items() if is_link}, f"links: {shown}")
        everything = page.evaluate("""[document.title, document.body.innerText, ...[...document.querySelectorAll('[aria-label], [title]')]
            .map(element => `${element.getAttribute('aria-label')} ${element.title}`)].join('\\n')""")
        for what, pattern in ("turned", DIRECTION), ("many marks", MANY_MARKS):
            found = pattern.search(everything)
            check(not found, f"{room}: {what}: {found and everything[max(0, found.start() - 60):found.end() + 20]!r}")
        check("\u0301\u0301" in everything, f"{room}: some marks stay")
    relay.stop()


def reactions(browser, folder):
    """As many different reactions as the relay allows, each as long as it allows: the message stays usable."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    target = relay.send("bo", "general", "everyone likes this")[0]
    for user in range(5):
        relay.send(f"user{user}", "general", *({"kind": "react", "target": target, "emoji": chr(0x1F600 + 10 * user + number) * 8, "on": True} for number in range(10)))
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.reaction').length === 50")
    check(page.evaluate("""[...document.querySelectorAll('.reaction')].every(button => {
        const box = button.getBoundingClientRect(), row = button.closest('.bubble').getBoundingClientRect();
        return box.left >= row.left && box.right <= row.right; })"""), "beside the message")
    page.evaluate("document.querySelector('.reaction').click()")
    page.wait("document.querySelector('.reaction.own .count')?.textContent === '2'")
    works(page, "so do I")
    relay.stop()


def crowd(browser, folder):
    """Thousands of strangers write at once: the list has each of them once, and the page goes on."""
    people = 3000
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")

    def each(text):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: relay.send(f"stranger{number}", f"dm:ada:stranger{number}", text), range(people)))

    each("first")
    works(page, "between")
    # As many as a user sees who looks through the list.
    page.evaluate("""(async () => { const list = document.querySelector('.conversations');
      while (list.children.length < 500) { list.scrollTop = 1e9; await new Promise(requestAnimationFrame); } })()""")
    each("second")
    page.wait("document.title.startsWith('(99+)')")
    page.wait("""(() => { const items = [...document.querySelectorAll('.conversations li')].map(item => item.row);
      return items.length >= 50 && new Set(items.map(row => row.room)).size === items.length
        && items.slice(0, 50).filter(row => row.room !== 'general').every(row => row.last.text === 'second' && row.unread === 2); })()""")
    # What was last written is first, once nothing is on its way: the relay tells of a room once a second.
    numbers = itertools.count()

    def is_first():
        works(page, f"afterwards {next(numbers)}")
        return page.evaluate("document.querySelector('.conversations li').row.room") == "general"

    until(is_first, "the open conversation is not first")
    began = time.monotonic()
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    check(time.monotonic() - began < 5, "the page stands still")
    relay.stop()


def png(width, height):
    """A black picture: large ones are small files."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer, line = zlib.compressobj(9), bytes(1 + (width + 7) // 8)
    pixels = b"".join(packer.compress(line) for _ in range(height)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def pictures(browser, folder):
    """Pictures that are huge, broken or never come leave initials; the others are shown, as what the relay has made of them."""
    files = {"good": png(64, 64), "huge": png(14_000, 14_000), "wide": png(6000, 100), "broken": png(64, 64)[:40]}
    ending = threading.Event()

    class Pictures(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            kind = re.match("/([a-z]+)", self.path)[1]
            if kind == "never":
                ending.wait()
                return
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.send_header("Content-Length", str(len(files[kind])))
            self.end_headers()
            self.wfile.write(files[kind])

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pictures) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        people = [(kind, number) for kind, count in (("never", 2), ("huge", 6), ("wide", 2), ("broken", 2), ("good", 6)) for number in range(count)]
        (pathlib.Path(folder) / "people.yaml").write_text(json.dumps([
            {"user": f"{kind}{number}", "name": f"{kind} {number}", "avatar": f"http://127.0.0.1:{server.server_port}/{kind}{number}.png"}
            for kind, number in people]))
        relay = Relay(RELAY, folder, f"{WITHOUT_LIMITS}\ndirectory: {{ kind: local, file: {folder}/people.yaml, private_avatars: true }}")
        page = browser.page(f"{relay.url}/?user=ada&room=general")
        page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length >= {len(people)}")
        page.wait("document.querySelectorAll('.conversation img').length === 8")
        # The relay waits for a picture for some seconds, the page for the relay's answer.
        page.wait("performance.getEntriesByType('resource').filter(entry => entry.name.includes('/v1/avatars/')).length === 18")
        began = time.monotonic()
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        check(time.monotonic() - began < 5, "the page stands still")
        shown = page.evaluate("[...document.querySelectorAll('.conversation img')].map(image => image.closest('li').row.user).sort()")
        check(shown == [*(f"good{number}" for number in range(6)), "wide0", "wide1"], shown)
        check(page.evaluate("[...document.querySelectorAll('.conversation img')].every(image => image.naturalWidth <= 128)"), "large")
        check(page.evaluate("[...document.querySelectorAll('.conversation')].every(button => button.querySelector('.avatar').childNodes.length === 1)"), "initials")
        ending.set()
        relay.stop()
        server.shutdown()


def foreign_token(browser, folder):
    """An address with the token of another user changes who one is only after a question."""
    relay = Relay(RELAY, folder, "auth: { mode: jwt, secret: 0123456789abcdef0123456789abcdef }")

    def issue(user, lifetime="1h"):
        return subprocess.run([RELAY, "token", "--user", user, "--ttl", lifetime, "--config", relay.folder / "relay.yaml"],
                              check=True, capture_output=True, text=True).stdout.strip()

    page = browser.page(f"{relay.url}/?room=general#token={issue('ada', '8s')}")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    page.evaluate(f"location.hash = '#token={issue('mallory')}'")
    page.wait("document.querySelector('dialog')?.textContent.includes('You are ada here') && document.querySelector('dialog').textContent.includes('as mallory')")
    check(page.evaluate("location.hash") == "", "the token is still in the address")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null")
    works(page, "written by ada")
    check(relay_senders(relay, issue("ada")) == ["ada"], "sent by another user")
    # When the session has expired, it goes on with a token of the same user only.
    page.wait("document.querySelector('dialog input[type=password]')")
    page.evaluate("document.querySelector('dialog input').focus()")
    write(page, issue("mallory"))
    page.wait("document.querySelector('dialog .problem').textContent !== ''")
    page.evaluate("document.querySelector('dialog input').select()")
    write(page, issue("ada"))
    page.wait(f"document.querySelector('dialog') === null && {ONLINE}")
    works(page, "also by ada")
    page.evaluate(f"location.hash = '#token={issue('mallory')}'")
    page.wait("document.querySelector('dialog .primary')")
    page.click("dialog .primary")
    page.wait(f"{ONLINE} && document.querySelector('.account b').textContent === 'mallory'")
    page.evaluate("document.querySelector('textarea').focus()")
    works(page, "written by mallory")
    until(lambda: relay_senders(relay, issue("ada")) == ["ada", "ada", "mallory"], "three messages")
    relay.stop()


def relay_senders(relay, token):
    return [entry["from"] for entry in relay.get(f"/v1/rooms/general/messages?limit=10&token={token}")["entries"]]


play(globals())
