"""web_conversations.py CASE RELAY: plays one case of what one reads and writes in the web page, and prints "good"."""
import json
import pathlib
import signal

from web_support import (ECHO, IS_KEPT, ONLINE, RELAY, WITHOUT_LIMITS, Relay, check, in_whole_browser, play, quiet, rows,
                         until, wait_for_text, write)


def composing(browser, folder):
    """Keys of an input method never send; what is pasted keeps its lines; a long text is not cut off."""
    relay = Relay(RELAY, folder, "")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    page.call("Input.imeSetComposition", text="にほん", selectionStart=3, selectionEnd=3)
    page.call("Input.dispatchKeyEvent", type="rawKeyDown", key="Process", windowsVirtualKeyCode=229, code="Enter")
    page.evaluate("""document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
        { key: "Enter", isComposing: true, bubbles: true, cancelable: true }))""")
    page.evaluate("""document.activeElement.dispatchEvent(new KeyboardEvent("keydown",
        { key: "Enter", keyCode: 229, bubbles: true, cancelable: true }))""")
    check(page.evaluate("document.querySelectorAll('.row').length") == 0, "a composition was sent")
    page.type("日本")
    page.press("Enter")
    wait_for_text(page, "日本", ".own")
    page.evaluate("""document.execCommand("insertText", false, "one\\ntwo\\n\\nthree")""")
    check(page.evaluate("document.querySelectorAll('.row').length") == 1, "a paste was sent")
    page.press("Enter")
    until(lambda: "one\ntwo\n\nthree" in relay.texts("general"), "the lines")
    page.type("x" * 9000)
    page.press("Enter")
    check(page.evaluate("document.querySelector('textarea').value.length") == 9000, "a text that is too long stays")
    check(page.evaluate("document.querySelector('relay-composer .count').textContent") == "-808", "how much too long")
    quiet(page)
    relay.stop()


def completion(browser, folder):
    """Names after @ and emoji after : are completed; a reaction is found by its name, and taken back."""
    relay = Relay(RELAY, folder, ECHO)
    number, = relay.send("bo", "general", "a message")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA' && document.querySelectorAll('.row').length === 1")
    page.type("done :tad")
    page.wait("document.querySelector('.offers:not([hidden]) [aria-selected=true]')?.textContent === '🎉 :tada:'")
    page.press("Tab")
    check(page.evaluate("document.querySelector('textarea').value") == "done 🎉 ", "completed by Tab")
    page.type("@ec")
    page.wait("document.querySelector('.offers:not([hidden]) [aria-selected=true]')?.textContent === 'Echo @echo'")
    page.press("Enter")
    check(page.evaluate("document.querySelector('textarea').value") == "done 🎉 @echo ", "completed by Enter, and not sent")
    page.type("at 10:30 :) a::b")
    check(page.evaluate("document.querySelector('.offers').hidden"), "a time and a smiley are none")
    page.press("Enter")
    wait_for_text(page, "done 🎉 @echo at 10:30 :) a::b", ".own")
    page.evaluate(f"document.querySelector('relay-timeline').row({number}).focus()")
    for emoji, is_on in ("🚀", True), ("🚀", False):
        page.press("+")
        page.wait("document.querySelector('.menu.emoji') && document.activeElement.type === 'search'")
        bottom = page.evaluate("document.querySelector('.menu.emoji').getBoundingClientRect().bottom")
        check(bottom <= 800, f"it ends at {bottom}")
        page.type("rocket")
        page.wait("document.querySelector('.grid [aria-selected=true]').textContent === '🚀' && document.querySelectorAll('.grid [role=option]').length === 1")
        check(page.evaluate("document.querySelector('.grid [role=option]').getAttribute('aria-label').endsWith(', yours')") != is_on, "says whether it is one's own")
        page.press("Enter")
        page.wait(f"(document.querySelector('.reaction.own')?.textContent === '{emoji}1') === {str(is_on).lower()}")
        page.wait(f"document.activeElement.message?.seq === {number}")
        until(lambda: bool(relay.get("/v1/rooms/general/messages?user=ada&fold=1")["entries"][0].get("reactions")) == is_on, "the log has it")
    page.press("+")
    page.wait("document.activeElement.type === 'search'")
    page.type("nothing like this")
    page.wait("document.querySelector('.grid .nothing')")
    page.press("Enter")
    page.press("Escape")
    page.wait(f"document.querySelector('.menu') === null && document.activeElement.message.seq === {number}")
    quiet(page)
    relay.stop()


def changes(browser, folder):
    """Own edits, deletions and reactions are shown at once, dim; what the relay refuses is as before, with the reason."""
    relay = Relay(RELAY, folder, "limits: { edits_per_entry: 2 }")
    first, second, third = relay.send("ada", "general", "to be edited", "to be deleted", "to be reacted to")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA' && document.querySelectorAll('.row').length === 3")

    def row(seq):
        return f"document.querySelector('relay-timeline').row({seq})"

    def edit(text):
        page.evaluate(f"{row(first)}.focus()")
        page.press("e")
        page.wait("document.activeElement.tagName === 'TEXTAREA' && document.activeElement.value !== ''")
        page.evaluate("document.activeElement.select()")
        write(page, text)

    page.wait(IS_KEPT)
    relay.stop(signal.SIGKILL)
    page.wait("!document.querySelector('.notice').hidden")
    edit("edited")
    page.wait(f"{row(first)}.classList.contains('waiting') && {row(first)}.querySelector('.text').textContent === 'edited'")
    page.evaluate(f"{row(second)}.focus()")
    page.press("Delete")
    page.wait("document.querySelector('dialog.question')")
    page.press("Enter")
    page.wait(f"{row(second)}.matches('.waiting.deleted')")
    page.evaluate(f"{row(third)}.focus()")
    page.press("+")
    page.wait("document.activeElement.type === 'search'")
    page.press("Enter")
    page.wait(f"{row(third)}.querySelector('.reaction.own.waiting')?.textContent === '👍1' && !{row(third)}.matches('.waiting')")
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    page.wait("document.querySelectorAll('relay-timeline .waiting').length === 0")
    log = relay.get("/v1/rooms/general/messages?user=ada&fold=1")["entries"]
    check(log[0]["text"] == "edited" and log[1]["deleted"] and log[2]["reactions"] == {"👍": ["ada"]}, log)
    edit("edited again")
    page.wait(f"{row(first)}.matches(':not(.waiting)') && {row(first)}.querySelector('.text').textContent === 'edited again'")
    edit("edited too often")
    page.wait("document.querySelector('.toast')?.textContent.startsWith('The edit was not accepted: ')")
    page.wait(f"{row(first)}.matches(':not(.waiting)') && {row(first)}.querySelector('.text').textContent === 'edited again'")
    check(page.evaluate("document.querySelector('relay-conversation').timeline.rowCount") == 3, "a refused change is no row")
    quiet(page)
    relay.stop()


def clipping(browser, folder):
    """A message of thousands of lines, or data, is cut, and shown as a whole on demand."""
    relay = Relay(RELAY, folder, "limits: { text_bytes: 16384 }")
    long, wide, data = relay.send("bo", "general", "\n".join(str(number) for number in range(3000)), "x" * 16000,
                                  {"kind": "data", "data": [1] * 3000})
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 3")

    def height(seq):
        return page.evaluate(f"document.querySelector('relay-timeline').row({seq}).offsetHeight")

    check(all(height(seq) < 1500 for seq in (long, wide, data)), [height(seq) for seq in (long, wide, data)])
    label = page.evaluate(f"document.querySelector('relay-timeline').row({wide}).getAttribute('aria-label').length")
    check(label < 500, f"a label of {label}")
    for seq in long, data:
        page.evaluate(f"document.querySelector('relay-timeline').row({seq}).querySelector('.all').click()")
        page.wait(f"document.querySelector('relay-timeline').row({seq}).querySelector('.all') === null")
    check(height(long) > 50_000, height(long))
    check(height(data) < 1500, "data scrolls by itself")
    check(page.evaluate(f"document.querySelector('relay-timeline').row({data}).querySelector('.text').textContent.length") > 9000, "all of it")
    quiet(page)
    relay.stop()


def people(browser, folder):
    """A sender, a member and the other of a conversation are told apart by @user, and lead to a conversation with them."""
    relay = Relay(RELAY, folder, "")
    relay.send("bo", "general", "from bo")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelector('.row .name')?.title === '@bo'")
    page.wait("document.querySelector('.members').textContent === '2 members'")
    page.evaluate("document.querySelector('.members').focus()")
    page.press("Enter")
    page.wait("document.querySelectorAll('.menu [role=menuitem]').length === 2")
    found = page.evaluate("[...document.querySelectorAll('.menu [role=menuitem]')].map(item => item.textContent)")
    check(found == ["ada (you)", "bo – write"], found)
    page.press("Escape")
    page.wait("document.activeElement.matches('.members')")
    page.evaluate("document.querySelector('.row .name').click()")
    page.wait("document.activeElement.textContent === 'bo – write'")
    page.press("Enter")
    page.wait("location.search === '?user=ada&to=bo' && document.querySelector('.subtitle').textContent.startsWith('@bo')")
    page.wait("document.activeElement.tagName === 'TEXTAREA'")
    write(page, "to bo")
    until(lambda: relay.texts("dm:ada:bo") == ["to bo"], "sent")
    page.evaluate("history.back()")
    page.wait("document.querySelector('relay-conversation h1')?.textContent === 'General' && document.querySelector('.row')")
    page.evaluate("document.querySelector('.row').focus()")
    page.press("Enter")
    page.wait("[...document.querySelectorAll('.menu [role=menuitem]')].some(item => item.textContent === 'Write to bo')")
    quiet(page)
    relay.stop()


def meeting(browser, folder):
    """Two users of a relay that knows no people find each other in the list, with presence."""
    relay = Relay(RELAY, folder, "")
    titles = "[...document.querySelectorAll('.conversation')].map(row => row.querySelector('.title').textContent" \
        " + (row.querySelector('.face.online') ? ' online' : ''))"
    ada = browser.page(f"{relay.url}/?user=ada")
    ada.wait(f"{ONLINE} && JSON.stringify({titles}) === JSON.stringify(['General'])")
    bo = browser.page(f"{relay.url}/?user=bo")
    bo.wait(f"JSON.stringify({titles}) === JSON.stringify(['General', 'ada online'])")
    ada.wait(f"JSON.stringify({titles}) === JSON.stringify(['General', 'bo online'])")
    bo.close()
    ada.wait(f"JSON.stringify({titles}) === JSON.stringify(['General', 'bo'])")
    ada.press("k", ctrl=True)
    ada.wait("document.activeElement.closest('dialog')")
    write(ada, "bo")
    ada.wait("location.search === '?user=ada&to=bo'")
    write(ada, "hello")
    until(lambda: relay.texts("dm:ada:bo") == ["hello"], "sent")
    quiet(ada)
    relay.stop()


def order(browser, folder):
    """Rooms with a message come first, then those without one, then the people that one never wrote to."""
    (pathlib.Path(folder) / "people.yaml").write_text(json.dumps(
        [{"user": user, "name": user.title()} for user in ("bo", "cy", "di")]))
    relay = Relay(RELAY, folder, f"directory: {{ kind: local, file: {folder}/people.yaml }}\n"
                          "rooms: { listed: [{ room: general, title: General }, { room: quiet, title: Quiet }] }")
    relay.send("bo", "general", "a message")
    relay.send("cy", "dm:ada:cy", "a later message")
    page = browser.page(f"{relay.url}/?user=ada")
    titles = "[...document.querySelectorAll('.conversation .title')].map(title => title.textContent)"
    page.wait(f"{ONLINE} && JSON.stringify({titles}) === JSON.stringify(['Cy', 'General', 'Quiet', 'Bo', 'Di'])")
    relay.send("di", "dm:ada:di", "the latest message")
    page.wait(f"{titles}[0] === 'Di' && document.querySelectorAll('.conversation').length === 5")
    quiet(page)
    relay.stop()


def leaving(browser, folder):
    """A room is left after a question, leaves the list, and can be opened again."""
    relay = Relay(RELAY, folder, "")
    relay.send("bo", "team", "a message")
    relay.send("bo", "other", "a message")
    page = browser.page(f"{relay.url}/?user=ada&room=other")
    page.wait(f"{ONLINE} && document.querySelector('.row')")
    page.go(f"{relay.url}/?user=ada&room=team")
    page.wait(f"{ONLINE} && document.querySelector('.row') && document.querySelectorAll('.conversation').length === 3")

    def leave(answer):
        page.evaluate("document.querySelector('[aria-label=\"About this conversation\"]').focus()")
        page.press("Enter")
        page.wait("document.querySelector('.menu .dangerous')")
        page.press("End")
        page.press("Enter")
        page.wait("document.querySelector('dialog')?.textContent.includes('open the room again by its name')")
        page.press(answer)
        page.wait("document.querySelector('dialog') === null")

    leave("Escape")
    check(page.evaluate("document.querySelector('relay-conversation h1').textContent") == "team", "not left without a yes")
    leave("Enter")
    page.wait("document.querySelector('.nothing-open').hidden === false && document.querySelectorAll('.conversation').length === 2")
    check("team" not in [row["room"] for row in relay.get("/v1/rooms?user=ada")["rooms"]], "the relay knows")
    relay.send("bo", "team", "unheard")
    page.go(f"{relay.url}/?user=ada")
    page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length === 2")
    page.go(f"{relay.url}/?user=ada&room=team")
    wait_for_text(page, "unheard")
    page.wait("document.querySelectorAll('.conversation').length === 3")
    quiet(page)
    relay.stop()


NOTICED = """window.noticed = [];
  ServiceWorkerRegistration.prototype.showNotification = async (title, options) => { noticed.push(`${title}: ${options.body}`); };
  window.tones = 0; const create = AudioContext.prototype.createOscillator;
  AudioContext.prototype.createOscillator = function () { tones++; return create.call(this); }"""


@in_whole_browser
def notifications(browser, folder):
    """What is urgent notifies and sounds, once for two tabs, and not while one looks, nor where it is muted."""
    relay = Relay(RELAY, folder, "")
    relay.send("ada", "general", "it makes ada a member")
    relay.send("bo", "dm:ada:bo", "a message")
    browser.call("Browser.grantPermissions", origin=relay.url, permissions=["notifications"])
    pages = [browser.page() for _ in range(2)]
    elsewhere = browser.page()
    for page in pages:
        page.call("Page.addScriptToEvaluateOnNewDocument", source=NOTICED)
        page.go(f"{relay.url}/?user=ada&room=other")
        page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length === 3 && navigator.serviceWorker.ready.then(() => true)")
    first = pages[0]

    def menu(button, entry):
        first.evaluate(f"document.querySelector('{button}').click()")
        label = f"[...document.querySelectorAll('.menu [role=menuitemcheckbox]')].find(item => item.textContent === '{entry}')"
        first.wait(label)
        first.evaluate(f"{label}.click()")

    for entry in "Notifications", "Sounds":
        menu(".menu-button", entry)
        until(lambda: first.evaluate(f"localStorage.getItem('relay.{entry.lower()}')") == "on", entry)

    def noticed():
        return [text for page in pages for text in page.evaluate("noticed")]

    def blur():
        for page in pages:
            page.call("Emulation.setFocusEmulationEnabled", enabled=False)
        elsewhere.call("Page.bringToFront")
        first.wait("!document.hasFocus()")
        until(lambda: first.evaluate("navigator.locks.query().then(({ held }) => held.every(({ name }) => !name.startsWith('relay.focus')))"), "nobody looks")

    # While one looks at a tab, its list says enough.
    relay.send("bo", "dm:ada:bo", "while one looks")
    for page in pages:
        page.wait("[...document.querySelectorAll('.conversation .last')].some(last => last.textContent === 'while one looks')")
    check(noticed() == [], noticed())
    blur()
    tones = sum(page.evaluate("tones") for page in pages)
    relay.send("bo", "general", "not urgent")
    relay.send("bo", "dm:ada:bo", "a direct one")
    until(lambda: len(noticed()) == 1, "the direct one")
    relay.send("bo", "general", "for @ada")
    until(lambda: len(noticed()) == 2, "the mention")
    check(noticed() == ["bo: a direct one", "General: bo: for @ada"], noticed())
    check(sum(page.evaluate("tones") for page in pages) == tones + 4, "two tones each")
    # Muted.
    for page in pages:
        page.call("Emulation.setFocusEmulationEnabled", enabled=True)
    first.evaluate("[...document.querySelectorAll('.conversation')].find(row => row.textContent.includes('a direct one')).click()")
    first.wait("document.querySelector('relay-conversation h1')?.textContent === 'bo'")
    menu("[aria-label=\"About this conversation\"]", "Muted")
    first.evaluate("[...document.querySelectorAll('.conversation')].find(row => row.textContent.includes('General')).click()")
    for page in pages:
        page.wait("document.querySelector('.is-muted .title')?.textContent === 'bo'")
    blur()
    relay.send("bo", "dm:ada:bo", "a muted one")
    relay.send("cy", "dm:ada:cy", "another direct one")
    until(lambda: len(noticed()) == 3, "the one that is not muted")
    check(noticed()[-1] == "cy: another direct one", noticed())
    first.wait("document.title.startsWith('(1) ')")
    relay.stop()


def dates(browser, folder):
    """A date leads to the first message of that day, written by keys or chosen."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "general", *[f"message {number}" for number in range(1, 301)])
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length >= 30")

    def choose(script):
        page.evaluate("document.querySelector('[aria-label=\"About this conversation\"]').click()")
        page.wait("document.querySelector('.menu')")
        page.press("Enter")
        page.wait("document.activeElement.type === 'date'")
        page.evaluate(f"(input => {{ {script}; input.dispatchEvent(new Event('change')); }})(document.activeElement)")

    today = page.evaluate("(() => { const now = new Date(); return new Date(now - now.getTimezoneOffset() * 60000).toISOString().slice(0, 10); })()")
    choose("window.latest = input.max; input.value = '0002-01-01'")
    check(page.evaluate("latest") == today, "today is the latest day")
    check(page.evaluate("document.querySelector('.flash') === null"), "a year that is being written")
    page.evaluate(f"(input => {{ input.value = '{today}'; input.dispatchEvent(new Event('change')); }})(document.activeElement)")
    page.wait("document.querySelector('.flash')?.message.seq === 1")
    quiet(page)
    relay.stop()


def forwarding(browser, folder):
    """A message is forwarded by keys to a conversation that is chosen by some letters, with the name of its author."""
    relay = Relay(RELAY, folder, "")
    number, = relay.send("bo", "general", "worth it")
    relay.send("cy", "dm:ada:cy", "hello")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 1 && document.querySelectorAll('.conversation').length === 2")
    page.evaluate("document.querySelector('.row').focus()")
    page.press("f")
    page.wait("document.activeElement.closest('dialog')")
    write(page, "cy")
    page.wait("location.search === '?user=ada&to=cy'")
    wait_for_text(page, "worth it", ".own")
    page.wait("document.querySelector('.row.own .forwarded').textContent === 'Forwarded from bo' && document.querySelector('.row.own .mark.stored, .row.own .mark.received')")
    entry = relay.get("/v1/rooms/dm:ada:cy/messages?user=ada")["entries"][-1]
    check(entry["forward"]["room"] == "general" and entry["forward"]["seq"] == number, entry)
    quiet(page)
    relay.stop()


def search_all(browser, folder):
    """All conversations are searched, the newest first; a result opens its message; without a connection what is stored."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "general", *["nothing" for _ in range(900)])
    old, = relay.send("bo", "team", "An old Café")
    relay.send("bo", "team", *["nothing" for _ in range(1200)])
    relay.send("bo", "dm:ada:bo", "the newest café")
    relay.send("bo", "private", "a café of others")
    for room in "general", "team":
        relay.send("ada", room, "hello")  # it makes ada a member
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length === 3 && document.querySelectorAll('.row').length > 0")
    page.evaluate("document.querySelector('relay-list input').focus()")
    page.type("cafe")
    page.wait("!document.querySelector('.search-messages').hidden")
    page.evaluate("document.querySelector('.search-messages').click()")
    page.wait("document.querySelector('dialog .result')?.textContent === '2 messages found.'")
    found = page.evaluate("[...document.querySelectorAll('.found .last')].map(last => last.textContent)")
    check(found == ["bo: the newest café", "bo: An old Café"], found)
    page.press("ArrowDown")
    page.press("ArrowDown")
    page.press("Enter")
    page.wait(f"document.querySelector('relay-conversation h1')?.textContent === 'team' && document.activeElement.message?.seq === {old}")
    page.wait("""(() => { const box = document.activeElement.getBoundingClientRect(); return box.top > 50 && box.bottom < 750; })()""")
    page.press("f", ctrl=True, shift=True)
    page.wait("document.activeElement.closest('dialog')")
    write(page, "no such words")
    page.wait("document.querySelector('dialog .result').textContent === 'No message found.'")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null")
    # A search can be ended while it is going on.
    page.press("f", ctrl=True, shift=True)
    page.wait("document.activeElement.closest('dialog')")
    write(page, "nothing")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null")
    page.wait(IS_KEPT)
    relay.stop()
    page.wait("!document.querySelector('.notice').hidden")
    page.press("f", ctrl=True, shift=True)
    page.wait("document.activeElement.closest('dialog')")
    write(page, "nothing")
    page.wait("/of what is stored on this device/.test(document.querySelector('dialog .result').textContent)")
    check(page.evaluate("document.querySelectorAll('.found').length") > 100, "stored ones")
    quiet(page)


def unread(browser, folder):
    """A conversation opens at the first unread message, wherever that is; what was in view is read, and no more."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("ada", "general", "the last one of mine")
    for count, room in (400, "general"), (20, "few"):
        if room == "few":
            relay.send("ada", room, "the last one of mine")
        relay.send("bo", room, *[f"message {number}" for number in range(2, count + 2)])
        page = browser.page(f"{relay.url}/?user=ada&room={room}")
        page.wait(f"{ONLINE} && document.querySelector('.unread-line')?.closest('.row').message.seq === 2")
        page.wait("""(() => { const box = document.querySelector('.unread-line').getBoundingClientRect(); return box.top > 60 && box.top < 600; })()""")
        check(page.evaluate("!document.querySelector('.newest').hidden"), "nothing below")
        page.wait(f"+document.querySelector('.conversation[aria-current] .unread')?.textContent.replace('+', '') >= {min(99, count) - 18}")
        page.press("End", ctrl=True)
        page.wait("document.querySelector('.conversation[aria-current] .unread') === null")
        until(lambda: next(row for row in relay.get("/v1/rooms?user=ada")["rooms"] if row["room"] == room)["unread"] == 0, "read")
        quiet(page)
    # Whoever goes to the newest message at once is not taken to the first unread one.
    relay.send("ada", "hasty", "the last one of mine")
    relay.send("bo", "hasty", *[f"message {number}" for number in range(2, 402)])
    page.evaluate("""document.querySelector('relay-timeline').addEventListener('view', event => {
        if (document.querySelector('relay-conversation h1').textContent !== 'hasty' || window.isHasty || !document.querySelector('.row')) return;
        window.isHasty = true; event.target.toNewest(); })""")
    page.wait("[...document.querySelectorAll('.conversation .title')].some(title => title.textContent === 'hasty')")
    page.evaluate("[...document.querySelectorAll('.conversation')].find(row => row.textContent.includes('hasty')).click()")
    page.wait("window.isHasty && document.querySelector('.conversation[aria-current] .unread') === null")
    wait_for_text(page, "message 401")
    page.wait("document.querySelector('relay-timeline').isAtEnd")
    quiet(page)
    relay.stop()


FIRST_ROW = """(() => {
  const top = document.querySelector('.scroller').getBoundingClientRect().top;
  return [...document.querySelectorAll('.row')].find(row => row.querySelector('.content').getBoundingClientRect().top >= top);
})()"""


def long_room(browser, folder):
    """5,000 messages: at most 200 rows, every message once on the way up, jumps to any place."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "general", *[f"message {number}" for number in range(1, 5001)])
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length >= 50")
    page.wait("document.querySelector('relay-timeline').isAtEnd")
    check(rows(page)[-1] == "message 5000", rows(page)[-1])
    seen = page.evaluate("""(async () => {
      const scroller = document.querySelector('.scroller'), seen = [], frame = () => new Promise(requestAnimationFrame);
      let most = 0;
      for (let end = performance.now() + 30000; performance.now() < end && !seen.includes(4300);) {
        scroller.scrollTop -= 400;
        await frame();
        const rows = [...document.querySelectorAll('.row')];
        most = Math.max(most, rows.length);
        const numbers = rows.map(row => row.message.seq);
        if (numbers.some((number, index) => index > 0 && number !== numbers[index - 1] + 1)) return 'a gap';
        seen.push(...numbers.filter(number => !seen.includes(number)));
      }
      return [most, seen.length, Math.min(...seen)];
    })()""")
    check(seen[0] <= 200 and seen[2] <= 4300 and seen[1] == 5001 - seen[2], seen)
    for number in 2500, 1, 4999, 3:
        page.evaluate(f"document.querySelector('relay-timeline').show({number}).then(() => true)")
        page.wait(f"document.querySelector('.flash')?.message.seq === {number}")
        check(page.evaluate("document.querySelectorAll('.row').length") <= 200, "too many rows")
        page.wait("""(() => { const box = document.querySelector('.flash').getBoundingClientRect();
          return box.top > 60 && box.bottom < 740; })()""")
    # The scrollbar's position is the share of the log.
    page.evaluate("document.querySelector('relay-timeline').show(2500).then(() => true)")
    page.wait("Math.abs(document.querySelector('.bar').getAttribute('aria-valuenow') - 2500) < 15")
    box = page.evaluate("(() => { const { left, top, width, height } = document.querySelector('.bar').getBoundingClientRect(); return [left + width / 2, top, height]; })()")
    for kind, share in ("mousePressed", 0.25), ("mouseReleased", 0.25):
        page.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1] + box[2] * share, button="left", clickCount=1)
    page.wait("Math.abs(document.querySelector('.flash')?.message.seq - 1250) < 150")
    page.press("End", ctrl=True)
    page.wait("document.querySelector('relay-timeline').isAtEnd")
    page.wait("[...document.querySelectorAll('.row')].at(-1).message.seq === 5000")
    # Search finds what is not loaded.
    page.press("f", ctrl=True)
    page.wait("document.activeElement.closest('.search')")
    write(page, "message 1234")
    page.wait("document.querySelector('.flash')?.message.seq === 1234")
    quiet(page)
    relay.stop()


def drift(browser, folder):
    """What is at the top of the view stays there, within a pixel, in every frame that is painted."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    text = "a room is a log and a subscription is a cursor " * 3
    relay.send("bo", "general", *[f"{number}: " + text[:20 + number * 37 % 120] for number in range(400)])
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row').length >= 50")
    page.wait("document.querySelector('relay-timeline').isAtEnd")
    for _ in range(6):
        page.wheel("relay-timeline", -500)
    page.wait("!document.querySelector('relay-timeline').isAtEnd && document.querySelector('.scroller').scrollTop > 0")
    page.evaluate("new Promise(done => document.querySelector('.scroller').addEventListener('scrollend', done, { once: true, passive: true }) || setTimeout(done, 500))")
    # After each paint: a message that is posted in a frame comes after it.
    seq = page.evaluate(f"""(() => {{
      const row = {FIRST_ROW}, body = row.querySelector('.content');
      window.kept = row; window.worst = 0;
      const place = () => row.querySelector('.content').getBoundingClientRect().top - document.querySelector('.scroller').getBoundingClientRect().top;
      const start = place(), channel = new MessageChannel();
      window.frames = 0;
      // What this test changes between the frame and the message is not painted yet.
      const given = () => `${{innerWidth}} ${{innerHeight}} ${{document.body.style.fontSize}}`;
      channel.port1.onmessage = ({{ data }}) => {{
        if (data === given()) {{ frames++; worst = Math.max(worst, row.isConnected ? Math.abs(place() - start) : 1e6); }}
        requestAnimationFrame(() => channel.port2.postMessage(given()));
      }};
      channel.port2.postMessage(given());
      return row.message.seq; }})()""")

    def steady(what):
        # Everything that was caused is painted after two frames.
        page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))")
        worst = page.evaluate("worst")
        check(worst <= 1, f"{what} moved the view by {worst} px")

    near = range(seq - 30, seq + 20)
    relay.send("bo", "general", *[{"kind": "react", "target": number, "emoji": "👍", "on": True} for number in near])
    page.wait(f"document.querySelector('relay-timeline').row({near[-1]}).querySelector('.reactions')")
    steady("reactions")
    relay.send("bo", "general", *[{"kind": "edit", "target": number, "text": f"edited {number} " + text * 4} for number in near])
    page.wait(f"document.querySelector('relay-timeline').row({near[-1]}).querySelector('.text').textContent.startsWith('edited')")
    steady("edits")
    relay.send("bo", "general", *[{"kind": "delete", "target": number} for number in near if number % 3 == 0 and number != seq])
    page.wait(f"document.querySelector('relay-timeline').row({max(n for n in near if n % 3 == 0 and n != seq)}).classList.contains('deleted')")
    steady("deletions")
    relay.send("bo", "general", *[f"new {number}" for number in range(250)])
    page.wait("document.querySelector('.newest').dataset.count === '99+'")
    steady("new messages")
    relay.send("bo", "general", *["later"] * 3)
    page.evaluate("""document.querySelectorAll('.avatar').forEach(avatar => {
      const image = document.createElement('img'); image.src = new URL('icon.svg', document.querySelector('link[rel=icon]').href); avatar.replaceChildren(image); })""")
    steady("pictures")
    for width, height in (700, 800), (max(390, page.least_width), 844), (1280, 500), (1280, 800):
        page.size(width, height)
        page.wait(f"innerWidth === {width} && innerHeight === {height}")
        steady(f"a window of {width}×{height}")
    page.evaluate("document.body.style.setProperty('font-size', '20px')")
    steady("a larger font")
    page.evaluate("document.body.style.removeProperty('font-size')")
    steady("the usual font")
    check(page.evaluate("frames") > 20 and page.evaluate("kept.isConnected"), "too few frames")
    quiet(page)
    relay.stop()


if __name__ == "__main__":
    play(globals())
