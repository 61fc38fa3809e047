"""web_files.py CASE RELAY: plays a case of the web page with files, and prints "good"."""
import hashlib
import json
import os
import pathlib
import secrets
import struct
import sys
import urllib.request
import zlib

from accounts_support import ACCOUNTS, Person, first
from files import Files, chunk, png
from web_rooms import opened
from web_support import (IS_KEPT, ONLINE, RELAY, WITHOUT_LIMITS, Relay, check, check_accessible, in_whole_browser, play, quiet, until,
                         wait_for_text, write)

CHOSEN = "document.querySelectorAll('.attachments li').length"
# The pictures that one sees.
IN_VIEW = """[...document.querySelectorAll('.row .picture')].filter(frame => {
  const { top, bottom } = frame.getBoundingClientRect();
  return bottom > 0 && top < innerHeight; })"""
SLOW = WITHOUT_LIMITS.replace("limits: {", "limits: { file_bytes_per_s: 100000,")


def content(size):
    """What `drop` makes a file of."""
    return bytes(index * 7 % 251 for index in range(size))


def drop(page, name, size, media_type):
    page.evaluate(f"""(() => {{
        const data = new DataTransfer();
        const bytes = Uint8Array.from({{ length: {size} }}, (_, index) => (index * 7) % 251);
        data.items.add(new File([bytes], {json.dumps(name)}, {{ type: {json.dumps(media_type)} }}));
        document.querySelector('relay-timeline').dispatchEvent(new DragEvent('drop',
            {{ dataTransfer: data, bubbles: true, cancelable: true, composed: true }}));
    }})()""")


def files(relay):
    return [entry for entry in relay.history("general", user="bo") if entry["kind"] == "file"]


def served(relay, entry):
    with urllib.request.urlopen(f"{relay.url}/v1/files/{entry['file']}?user=bo") as answer:
        return answer.read()


def sent(browser, folder):
    """A file with a caption reaches another person, who answers it; its caption is edited, and it is deleted."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    ada = opened(browser, relay, "ada", "general")
    bo = opened(browser, relay, "bo", "general")
    drop(ada, "a\u202etable/of.csv", 3000, "text/csv")
    ada.wait(f"{CHOSEN} === 1")
    ada.evaluate("document.querySelector('relay-composer textarea').focus()")
    write(ada, "the numbers")
    wait_for_text(bo, "the numbers", ":not(.own)")
    entry, = files(relay)
    check(entry["name"] == "atable_of.csv" and entry["size"] == 3000, entry)
    check(served(relay, entry) == content(3000), "another content")
    check(bo.evaluate("document.querySelector('.row .file').textContent") == "atable_of.csv3.0 KB", "its name and size")
    label = bo.evaluate("document.querySelector('.row').getAttribute('aria-label')")
    check(label.startswith("ada: atable_of.csv: the numbers, "), label)
    check(ada.evaluate(CHOSEN) == 0, "it is not chosen any more")
    # An answer quotes it by its name; the caption is edited by keys.
    bo.press("ArrowUp", shift=True)
    bo.wait("document.activeElement.classList.contains('row')")
    bo.press("r")
    bo.wait("document.activeElement.tagName === 'TEXTAREA' && !document.querySelector('.banner').hidden")
    write(bo, "thanks")
    ada.wait("document.querySelector('.quotation span')?.textContent === 'atable_of.csv: the numbers'")
    ada.wait("document.activeElement.tagName === 'TEXTAREA'")
    ada.press("ArrowUp")
    ada.wait("document.querySelector('relay-composer textarea').value === 'the numbers'")
    write(ada, " of May")
    wait_for_text(bo, "the numbers of May")
    check(bo.evaluate("document.querySelector('.row .file') !== null"), "the file stays")
    check_accessible(ada, "files")
    relay.send("ada", "general", {"kind": "delete", "target": entry["seq"]})
    wait_for_text(bo, "Message deleted")
    check(bo.evaluate("document.querySelector('.row .file') === null"), "the file has gone")
    quiet(ada)
    quiet(bo)
    relay.stop()


def killed(browser, folder):
    """An upload goes on after the relay was killed and the page was loaded again; texts keep their place after it."""
    relay = Relay(RELAY, folder, SLOW)
    page = opened(browser, relay, "ada", "general")
    drop(page, "large.bin", 900_000, "")
    page.wait(f"{CHOSEN} === 1")
    page.evaluate("document.querySelector('relay-composer textarea').focus()")
    page.press("Enter")
    page.wait("document.querySelector('.row progress')?.value > 0")
    write(page, "after it")
    page.wait("document.querySelectorAll('.row.waiting').length === 2")
    page.wait(IS_KEPT)
    relay.kill()
    page.evaluate("window.isOld = true")
    page.call("Page.reload")
    page.wait("!window.isOld && document.querySelectorAll('.row.waiting').length === 2")
    relay.start()
    page.wait(f"{ONLINE}")
    page.wait("document.querySelector('.row progress')?.value > 0")
    page.wait("document.querySelectorAll('.row.own .mark.stored').length === 2")
    until(lambda: len(relay.history("general")) == 2, "both are sent")
    kinds = [entry["kind"] for entry in relay.history("general")]
    check(kinds == ["file", "text"], kinds)
    entry, = files(relay)
    check(hashlib.sha256(served(relay, entry)).digest() == hashlib.sha256(content(900_000)).digest(), "another content")
    relay.stop()


def ogg_page(packets, flags=0):
    """A page of Ogg with packets of fewer than 255 bytes."""
    return (b"OggS\0" + bytes([flags, *range(8), *b"1234", *range(8), len(packets), *map(len, packets)])
            + b"".join(packets))


def heard(browser, folder):
    """Sound shows its waveform and how long it lasts, and is played by a pointer and by keys."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)

    def say(name, sound):
        request = urllib.request.Request(f"{relay.url}/v1/files?user=bo", sound, {
            "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Length": str(len(sound))})
        with urllib.request.urlopen(request) as answer:
            file = answer.headers["Location"].rsplit("/", 1)[1]
        relay.send("bo", "general", {"kind": "file", "file": file, "name": name})

    say("Voice message.webm", (pathlib.Path(__file__).parents[2] / "MediaTests/Samples/recorded.webm").read_bytes())
    ada = opened(browser, relay, "ada", "general")
    # Nothing is decoded before a person plays it: a small file can be hours long.
    heights = "document.querySelector('.voice .played')?.getAttribute('d').match(/(?<=v)[0-9]+/g).map(Number)"
    ada.wait(f"{heights}?.every(height => height === 2)")
    time = "document.querySelector('.voice .time').textContent"
    check(ada.evaluate(time) == "0:01", ada.evaluate(time))
    height = ada.evaluate("document.querySelector('.voice').offsetHeight")
    check(height == 44, height)
    check_accessible(ada, "files")
    position = "Number(document.querySelector('.voice input').value)"
    ada.click(".voice button")
    ada.wait("document.querySelector('.voice button').title === 'Pause Voice message.webm'")
    ada.wait(f"{position} > 0")
    # A sine sounds all the time.
    ada.wait(f"Math.max(...{heights}) === 28 && Math.min(...{heights}.slice(2, -2)) > 14")
    # At its end it is as it was.
    ada.wait("document.querySelector('.voice button').title === 'Play Voice message.webm'")
    ada.wait(f"{position} === 0")
    ada.evaluate("document.querySelector('.voice input').focus()")
    ada.press("End")
    ada.wait("document.querySelector('.voice audio').currentTime > 1")
    text = ada.evaluate("document.querySelector('.voice input').getAttribute('aria-valuetext')")
    check(text.endswith(" of 0:01"), text)
    # 60 KB that take more than 1 GB when they are decoded are not.
    say("Long.ogg", ogg_page([b"OpusHead\1\1" + bytes(9)], 2) + ogg_page([b"\x19"] * 255) * 110)
    ada.wait("document.querySelectorAll('.voice').length === 2")
    ada.evaluate("""
      const { prototype } = OfflineAudioContext, { decodeAudioData } = prototype;
      window.decoded = 0;
      prototype.decodeAudioData = function (...bytes) { window.decoded += 1; return decodeAudioData.apply(this, bytes); };
      document.querySelectorAll('.voice svg').forEach(svg => svg.classList.add('old'));
      [...document.querySelectorAll('.voice')].at(-1).querySelector('audio').dispatchEvent(new Event('play'))""")
    ada.wait("![...document.querySelectorAll('.voice')].at(-1).querySelector('.wave .old')")
    check(ada.evaluate("window.decoded") == 0, "it was decoded")
    quiet(ada)
    relay.stop()


def mosaic(columns, rows, side=8):
    """A picture with some detail."""
    def row():
        return b"\0" + b"".join(os.urandom(3) * side for _ in range(columns))

    size = (columns * side).to_bytes(4, "big") + (rows * side).to_bytes(4, "big")
    pixels = b"".join(row() * side for _ in range(rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size + bytes([8, 2, 0, 0, 0]))
            + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b""))


# Notes the time of each frame, and in which of them the newest row is how far from where it was at first.
WATCH = """window.frames = []; window.moved = []; window.tasks = [];
  new PerformanceObserver(list => tasks.push(...list.getEntries().map(entry => Math.round(entry.duration)))).observe({ type: 'longtask' });
  (() => { let last, place; const frame = now => {
    if (last) frames.push(now - last);
    last = now;
    const newest = [...document.querySelectorAll('.row')].at(-1);
    if (newest?.textContent.includes('the newest') && !window.scrolls) {
      const { top } = newest.getBoundingClientRect();
      place ??= top;
      moved.push(Math.abs(top - place));
    }
    requestAnimationFrame(frame); }; requestAnimationFrame(frame); })()"""
# Whether each picture that is in view is drawn.
DRAWN = f"""({IN_VIEW}).length > 0 && ({IN_VIEW}).every(frame => frame.querySelector('img').complete
  && frame.querySelector('img').naturalWidth > 0)"""
P95 = "frames.sort((a, b) => a - b)[Math.floor(frames.length * 0.95)]"


@in_whole_browser
def album(browser, folder):
    """A room with 100 pictures keeps its frames as it is opened and as one scrolls over them, and what one reads does not move."""
    relay = Relay(RELAY, folder, f"{WITHOUT_LIMITS}\nrooms: {{ listed: [] }}")
    files = Files(relay, "bo")
    for number in range(100):
        file = files.upload(mosaic(100, 75)).rsplit("/", 1)[1]
        relay.send("bo", "general", {"kind": "file", "file": file, "name": f"{number}.png", "text": f"picture {number}"})
    relay.send("ada", "other", "it makes ada a member")
    relay.send("ada", "general", "the newest")  # ... who has read all
    page = browser.page(f"{relay.url}/?user=ada&room=other")
    page.wait(f"{ONLINE} && document.querySelectorAll('.conversation').length === 2")
    page.evaluate(WATCH)
    page.press("ArrowDown", alt=True)
    page.wait(DRAWN)
    opened, moved = page.evaluate(P95), page.evaluate("Math.max(...moved)")
    page.evaluate("scrolls = true; frames.length = 0")
    page.evaluate("""(async () => { const scroller = document.querySelector('.scroller');
      while (document.querySelector('.row').message.seq > 1) { scroller.scrollTop -= 100; await new Promise(requestAnimationFrame); } })()""")
    scrolled, longest = page.evaluate(P95), page.evaluate("Math.max(0, ...tasks)")
    page.wait(DRAWN)
    figures = (f"p95 of frames {opened:.1f} ms opening, {scrolled:.1f} ms scrolling; longest task {longest} ms;"
               f" the newest row moved by {moved:.1f} px")
    print(figures, file=sys.stderr)
    check(opened <= 17 and scrolled <= 17 and moved <= 1, figures)
    relay.stop()


def wav(seconds, rate=8000):
    """Noise of 16 bits at this rate."""
    data = b"".join(struct.pack("<h", (index * 997 % 16384) - 8192) for index in range(rate)) * seconds
    head = struct.pack("<HHIIHH", 1, 1, rate, 2 * rate, 2, 16)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", len(head)) + head
            + b"data" + struct.pack("<I", len(data)) + data)


def shared(person, name, content):
    """Uploads a file as a user with a token, and shows it."""
    request = urllib.request.Request(f"{person.relay.url}/v1/files", content, {
        "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Length": str(len(content)),
        "Authorization": f"Bearer {person.token}"})
    with urllib.request.urlopen(request) as answer:
        file = answer.headers["Location"].rsplit("/", 1)[1]
    answer = person.post("/v1/rooms/general/messages", {
        "id": secrets.token_hex(12), "kind": "file", "file": file, "name": name})
    check(answer.status in (200, 201), answer)


def of_files(page, method):
    """The parameters of events about addresses of files."""
    events = [event["params"] for event in list(page.events.queue) if event["method"] == method]
    return [event for event in events if "/v1/files/" in event.get("request", event.get("response", {})).get("url", "")]


def hosted(browser, folder):
    """Every byte of a file comes from its own host, without a cookie; of many pictures those that are near are loaded;
    a picture is saved, and sound goes on after its address has expired."""
    count = 40
    relay = Relay(RELAY, folder, f"{ACCOUNTS}\nlimits: {{ sends_per_s: 0, burst: 0 }}\nfiles: {{ host: localhost }}\n"
                  "rooms: { listed: [{ room: general, title: General }] }")
    ada = first(relay)
    shared(ada, "long.wav", wav(900))
    for index in range(count):
        shared(ada, f"{index}.png", png(300, 200 + index))
    joined = Person(relay).post(f"/v1/invites/{ada.invite()}", {"user": "bo"})
    name, value = joined.cookies[0].split(";")[0].split("=")
    page = browser.page()
    page.call("Network.setCookie", url=relay.url, name=name, value=value, httpOnly=True, sameSite="Lax", path="/")
    page.go(f"{relay.url}/?room=general")
    page.wait(ONLINE)
    loaded = f"({IN_VIEW}).length > 1 && ({IN_VIEW}).every(frame => frame.querySelector('img').naturalWidth > 0)"
    page.wait(loaded)
    asked = {event["request"]["url"] for event in of_files(page, "Network.requestWillBeSent") if relay.url in event["request"]["url"]}
    check(1 < len(asked) < 20, f"{len(asked)} pictures are asked for")
    # All of them are seen on the way up: none is refused for good.
    page.evaluate("document.querySelector('relay-timeline').focus()")
    first_shown = "document.querySelector('.picture img[alt=\"0.png\"]')"
    while not page.evaluate(f"{first_shown}?.naturalWidth > 0"):
        page.wheel("relay-timeline", -600)
        page.wait(loaded)
    check(page.evaluate("document.querySelectorAll('.picture.missing').length") == 0, "a picture is missing")
    answers = of_files(page, "Network.responseReceived")
    check({event["response"]["status"] for event in answers} <= {200, 429}, [event["response"]["status"] for event in answers])
    check(all(event["response"]["url"].startswith(f"http://localhost:{relay.port}/") for event in answers
              if event["response"]["status"] == 200), "bytes of the page's host")
    sent = {event["requestId"] for event in answers}
    extra = [event["params"] for event in list(page.events.queue) if event["method"] == "Network.requestWillBeSentExtraInfo"]
    there = [event["headers"] for event in extra if event["requestId"] in sent and any(
        name.lower() == "host" and text.startswith("localhost") for name, text in event["headers"].items())]
    check(len(there) > 1 and not any("cookie" in map(str.lower, headers) for headers in there), f"{there[:1]}")
    # In full size, and saved under its name.
    saved = pathlib.Path(folder) / "saved"
    saved.mkdir()
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(saved))
    page.evaluate(f"{first_shown}.closest('button').click()")
    page.wait("document.querySelector('.viewer .stage img')?.naturalWidth === 300")
    # Also when the user has just made as many requests as one may.
    page.evaluate("Promise.all(Array.from({ length: 120 }, () => fetch('/v1/rooms'))).then(() => true)")
    page.evaluate("document.querySelector('.viewer [aria-label=Download]').click()")
    until(lambda: (saved / "0.png").exists() and (saved / "0.png").read_bytes()[8:12] == b"WEBP", "it is not saved")
    check(page.evaluate("location.pathname") == "/", "the page has gone")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null")
    # A minute later the address of a sound is worth nothing, as with another key.
    play_button = "document.querySelector('.voice button')"
    page.wait(play_button)
    page.evaluate(f"{play_button}.scrollIntoView()")
    page.evaluate(f"{play_button}.click()")
    audio = "document.querySelector('.voice audio')"
    page.wait(f"{audio}.currentTime > 0")
    relay.stop()
    next(relay.data.rglob("link.key")).unlink()
    relay.start()
    page.wait(ONLINE)
    page.evaluate("(real => { performance.now = () => real() + 60_000; })(performance.now.bind(performance))")
    page.evaluate(f"{audio}.currentTime = 890")
    page.wait(f"{audio}.error === null && {audio}.readyState > 2 && {audio}.currentTime > 890")
    quiet(page)
    relay.stop()


if __name__ == "__main__":
    play({"sent": sent, "killed": killed, "heard": heard, "hosted": hosted, "album": album})
