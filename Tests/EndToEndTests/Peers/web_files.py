"""web_files.py CASE RELAY: plays a case of the web page with files, and prints "good"."""
import hashlib
import json
import pathlib
import urllib.request

from web_blocks import accessible
from web_rooms import opened
from web_support import ONLINE, RELAY, WITHOUT_LIMITS, Relay, check, play, quiet, until, wait_for_text, write

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


if __name__ == "__main__":
    play({"sent": sent, "killed": killed, "heard": heard})
