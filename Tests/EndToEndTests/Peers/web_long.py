"""web_long.py CASE RELAY: the web page over many kills, reloads and switches of the room. Prints "good"."""
import http.client
import json
import random
import secrets
import signal
import sys
import threading
import time
import urllib.error

from web_support import IS_KEPT, ONLINE, PATIENCE_S, RELAY, WITHOUT_LIMITS, Relay, check, play, rows, until, write


def kills(browser, folder):
    """30 kills of the relay and 30 reloads of the page: what either side has written is there once, in its order."""
    rounds = 30
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    address = f"{relay.url}/?user=ada&room=general"
    page = browser.page(address)
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    page.wait(IS_KEPT)
    others, written, ending = [], [], threading.Event()

    def keep_writing():  # a peer that sends again what was not answered, with the same id
        while not ending.is_set():
            text, name = f"peer {len(others)}", secrets.token_hex(12)
            while True:
                try:
                    relay.request("bo", [{"type": "send", "room": "general", "id": name, "text": text}])
                    break
                except (urllib.error.URLError, http.client.HTTPException, OSError):
                    time.sleep(0.02)
            others.append(text)
            ending.wait(0.1)

    peer = threading.Thread(target=keep_writing, daemon=True)
    peer.start()
    for number in range(rounds):
        for part in range(3):
            written.append(f"page {number} {part}")
            write(page, written[-1])
            if part == number % 3:
                time.sleep(chance.random() * 0.1)
                relay.stop(signal.SIGKILL)
        # A conversation that was just opened may still go to its first unread message.
        page.wait(f"[...document.querySelectorAll('.row.own .text')].some(text => text.textContent === {json.dumps(written[-1])})"
                  " || (document.querySelector('relay-timeline').toNewest(), false)")
        is_reloaded_first = chance.random() < 0.5
        if is_reloaded_first:
            page.go(address)
        relay.start()
        if not is_reloaded_first:
            time.sleep(chance.random() * 0.2)
            page.go(address)
        page.wait("document.activeElement?.tagName === 'TEXTAREA'")
        page.evaluate("document.querySelector('.notice .link')?.click()")
    ending.set()
    peer.join(PATIENCE_S)
    page.wait(f"{ONLINE} && document.querySelectorAll('.row.waiting').length === 0")

    def stored():
        texts, after = [], 0
        while entries := relay.get(f"/v1/rooms/general/messages?user=ada&limit=500&after={after}")["entries"]:
            texts += [entry["text"] for entry in entries]
            after = entries[-1]["seq"]
        return texts

    until(lambda: len(stored()) >= len(written) + len(others), f"lost with seed {seed}: {set(written + others) - set(stored())}")
    texts = stored()
    for who, expected in ("page", written), ("peer", others):
        found = [text for text in texts if text.startswith(who)]
        check(found == expected, f"seed {seed}, {who}: {found}, not {expected}")
    page.press("End", ctrl=True)
    until(lambda: rows(page) == texts[-len(rows(page)):], f"seed {seed}: the page shows {rows(page)}, not {texts[-200:]}")
    # And all that came before, page by page, once.
    seen = page.evaluate("""(async () => {
      const scroller = document.querySelector('.scroller'), seen = new Map();
      for (let end = performance.now() + 50000; performance.now() < end && !seen.has(1);) {
        for (const row of document.querySelectorAll('.row')) seen.set(row.message.seq, row.querySelector('.text').textContent);
        scroller.scrollTop -= 400;
        await new Promise(requestAnimationFrame);
      }
      return [...seen].sort(([a], [b]) => a - b).map(([, text]) => text); })()""")
    check(seen == texts, f"seed {seed}: scrolled over {len(seen)}, not {len(texts)}; other: {[pair for pair in zip(seen, texts) if pair[0] != pair[1]][:5]}")
    print(f"{len(written)} messages of the page, {len(others)} of a peer", file=sys.stderr)
    relay.stop()


# Ends the page in the turn in which it shows a text; what the page has not written by then is lost.
RELOAD_WITH_ROW = """(text => {
  window.isOld = true;
  new MutationObserver((_, observer) => {
    if (![...document.querySelectorAll('.row.waiting .text')].some(row => row.textContent === text)) return;
    observer.disconnect();
    location.reload();
  }).observe(document.querySelector('relay-timeline'), { childList: true, subtree: true });
})"""


def reloads(browser, folder):
    """90 times without a relay: what a person has just written is there after a reload in that moment, once, in its order."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    relay.send("bo", "general", "hello")
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA' && document.querySelector('.row')")
    page.wait(IS_KEPT)
    relay.stop(signal.SIGKILL)
    written = [f"line {number}" for number in range(90)]
    for text in written:
        page.evaluate(f"{RELOAD_WITH_ROW}({json.dumps(text)})")
        write(page, text)
        page.wait("!window.isOld && document.activeElement?.tagName === 'TEXTAREA' && document.querySelector('relay-timeline')")
    waiting = "[...document.querySelectorAll('.row.waiting .text')].map(row => row.textContent)"
    until(lambda: len(page.evaluate(waiting)) >= len(written), f"lost: {set(written) - set(page.evaluate(waiting))}")
    check(page.evaluate(waiting) == written, f"waiting: {page.evaluate(waiting)}")
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    page.wait(f"{ONLINE} && document.querySelectorAll('.row.waiting').length === 0")
    check(relay.texts("general") == ["hello", *written], f"stored: {relay.texts('general')}")
    until(lambda: rows(page) == ["hello", *written][-len(rows(page)):], f"the page shows {rows(page)}")
    relay.stop()


def switching(browser, folder, switches=400):
    """Rooms that are opened and left, while messages arrive in them, leave nothing behind."""
    relay = Relay(RELAY, folder, f"{WITHOUT_LIMITS}\nrooms: {{ listed: [] }}")
    rooms = [f"room{number}" for number in range(6)]
    for room in rooms:
        relay.send("ada", room, "mine")
        relay.send("bo", room, *[f"message {number} of {room}, with some words" for number in range(250)])
    page = browser.page(f"{relay.url}/?user=ada&room=room0")
    page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length === {len(rooms)} && document.querySelector('.row')")
    ending = threading.Event()

    def keep_writing():
        number = 0
        while not ending.is_set():
            relay.send("bo", rooms[number % len(rooms)], f"live {number}", {"kind": "react", "target": 3, "emoji": "👍", "on": number % 2 == 0})
            number += 1
            ending.wait(0.02)

    def switch(count):
        """Goes round the rooms; each is drawn before the next one is opened."""
        for start in range(0, count, 50):
            seen = page.evaluate("""(async () => { let seen = 0;
              for (let left = %d; left > 0; left--) {
                document.dispatchEvent(new KeyboardEvent('keydown', { key: left %% 7 ? 'ArrowDown' : 'ArrowUp', altKey: true, bubbles: true, cancelable: true }));
                for (let frames = 60; frames > 0; frames--) {
                  await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
                  if (!document.querySelector('.row')) continue;
                  seen++;
                  break;
                }
              }
              return seen; })()""" % min(50, count - start))
            drawn.append(seen)

    def open_first():
        """The same room with the same rows."""
        page.evaluate("[...document.querySelectorAll('.conversations li')].find(item => item.row.room === 'room0').firstElementChild.click()")
        page.wait("document.querySelector('relay-conversation').room === 'room0' && document.querySelectorAll('.row').length >= 30")
        # It goes to the first unread message by itself, when it knows that.
        page.wait("document.querySelector('relay-timeline').isAtEnd || (document.querySelector('relay-timeline').toNewest(), false)")
        for _ in range(3):
            page.evaluate("new Promise(done => setTimeout(done, 200))")
            page.call("HeapProfiler.collectGarbage")
        counters = page.call("Memory.getDOMCounters")
        return {"heap": page.evaluate("performance.memory.usedJSHeapSize") / 1e6, "listeners": counters["jsEventListeners"],
                "nodes": counters["nodes"] - page.evaluate("document.querySelectorAll('.rows *').length"), "documents": counters["documents"]}

    drawn = []
    for round_ in range(2):
        ending.clear()
        peer = threading.Thread(target=keep_writing, daemon=True)
        peer.start()
        switch(100 if round_ == 0 else switches)
        ending.set()
        peer.join(PATIENCE_S)
        figures = open_first()
        if round_ == 0:
            before = figures
    print(f"{switches} switches: before {before}, after {figures}", file=sys.stderr)
    check(sum(drawn) >= 0.9 * (100 + switches), f"only {sum(drawn)} switches were drawn")
    check(figures["heap"] - before["heap"] < 3, f"heap: {before}, {figures}")
    check(figures["listeners"] - before["listeners"] < 60, f"listeners: {before}, {figures}")
    check(figures["nodes"] - before["nodes"] < 600, f"nodes: {before}, {figures}")
    check(figures["documents"] == before["documents"], f"documents: {before}, {figures}")
    # A browser writes fewer addresses into its history than a program can open rooms.
    problems = [problem for problem in page.problems() if "Throttling navigation" not in problem]
    check(not problems, f"the page has reported: {problems}")
    relay.stop()


def hour(browser, folder):
    """As many switches as a restless person makes in an hour, one a second."""
    switching(browser, folder, switches=3600)


if __name__ == "__main__":
    play(globals())
