"""web_files.py CASE RELAY: plays a case of the web page with files, and prints "good"."""
import hashlib
import json
import os
import pathlib
import sys
import urllib.request
import zlib

from files import Files, chunk
from web_blocks import accessible
from web_rooms import opened
from web_support import (ONLINE, RELAY, WITHOUT_LIMITS, Relay, check, in_whole_browser, play, quiet, until, wait_for_text,
                         write)

CHOSEN = "document.querySelectorAll('.attachments li').length"
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
    accessible(ada)
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


def heard(browser, folder):
    """Sound shows its waveform and how long it lasts, and is played by a pointer and by keys."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    sound = (pathlib.Path(__file__).parents[2] / "MediaTests/Samples/recorded.webm").read_bytes()
    request = urllib.request.Request(f"{relay.url}/v1/files?user=bo", sound, {
        "Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", "Upload-Length": str(len(sound))})
    with urllib.request.urlopen(request) as answer:
        file = answer.headers["Location"].rsplit("/", 1)[1]
    relay.send("bo", "general", {"kind": "file", "file": file, "name": "Voice message.webm"})
    ada = opened(browser, relay, "ada", "general")
    ada.wait("document.querySelector('.voice .played') !== null")
    # A sine sounds all the time.
    heights = ada.evaluate("document.querySelector('.voice .played').getAttribute('d').match(/(?<=v)[0-9]+/g).map(Number)")
    check(max(heights) == 28 and min(heights[2:-2]) > 14, heights)
    time = "document.querySelector('.voice .time').textContent"
    check(ada.evaluate(time) == "0:01", ada.evaluate(time))
    height = ada.evaluate("document.querySelector('.voice').offsetHeight")
    check(height == 44, height)
    accessible(ada)
    position = "Number(document.querySelector('.voice input').value)"
    ada.click(".voice button")
    ada.wait("document.querySelector('.voice button').title === 'Pause Voice message.webm'")
    ada.wait(f"{position} > 0")
    # At its end it is as it was.
    ada.wait("document.querySelector('.voice button').title === 'Play Voice message.webm'")
    ada.wait(f"{position} === 0")
    ada.evaluate("document.querySelector('.voice input').focus()")
    ada.press("End")
    ada.wait("document.querySelector('.voice audio').currentTime > 1")
    text = ada.evaluate("document.querySelector('.voice input').getAttribute('aria-valuetext')")
    check(text.endswith(" of 0:01"), text)
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
DRAWN = """(() => {
  const pictures = [...document.querySelectorAll('.row .picture')].filter(frame => {
    const { top, bottom } = frame.getBoundingClientRect();
    return bottom > 0 && top < innerHeight; });
  return pictures.length > 0 && pictures.every(frame => frame.querySelector('img').complete
    && frame.querySelector('img').naturalWidth > 0); })()"""
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


if __name__ == "__main__":
    play({"sent": sent, "killed": killed, "heard": heard, "album": album})
