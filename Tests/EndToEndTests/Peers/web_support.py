"""What the cases of the web page share: a relay, and questions to the page. `PROGRAM CASE RELAY` plays one case."""
import json
import sys
import tempfile

from chromium import Browser, Failure
from relay import WITHOUT_LIMITS, Relay, wait  # noqa: F401

RELAY = sys.argv[2]
ECHO = "bots: [{ user: echo, name: Echo, behaviour: echo, reply_delay_s: [0.05, 0.1] }]"
ONLINE = "document.querySelector('.health')?.dataset.state === 'online'"
# All files of the page are kept: it opens without the relay from now on. (The page itself may still do without its worker.)
IS_KEPT = "navigator.serviceWorker.ready.then(worker => worker.active.state === 'activated')"
PATIENCE_S = 60


def check(condition, text):
    if not condition:
        raise Failure(text)


def until(condition, text):
    try:
        wait(condition, text, PATIENCE_S)
    except TimeoutError as late:
        raise Failure(late) from None


def rows(page):
    return page.evaluate("[...document.querySelectorAll('.row')].map(row => row.querySelector('.text').textContent)")


def wait_for_text(page, text, kind=""):
    page.wait(f"[...document.querySelectorAll('.row{kind} .text')].some(text => text.textContent === {json.dumps(text)})")


def quiet(page):
    problems = [problem for problem in page.problems() if "ERR_CONNECTION_REFUSED" not in problem
                and "WebSocket connection to" not in problem and "establish a connection" not in problem and "Failed to load resource" not in problem]
    check(not problems, f"the page has reported: {problems}")


FIELD = "(document.activeElement?.shadowRoot?.activeElement ?? document.activeElement)"


def write(page, text):
    """Writes where the caret is, once it is somewhere, and presses Enter once the text is there."""
    page.wait(f"{FIELD}?.matches('input, textarea')")
    page.type(text)
    page.wait(f"{FIELD}.value?.includes({json.dumps(text)})")
    page.press("Enter")


def in_whole_browser(case):
    """Marks a case that needs more than the engine of Chromium."""
    case.needs_whole_browser = True
    return case


def play(cases):
    """Plays the case that the command line names, and prints "good"."""
    case = sys.argv[1]
    is_whole = hasattr(cases[case], "needs_whole_browser")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, \
            Browser("--enable-precise-memory-info", is_whole=is_whole) as browser:
        try:
            cases[case](browser, folder)
        except Failure as failure:
            sys.exit(f"{case}: {failure}")
    print("good")
