"""What the cases of the web page share: a relay, and questions to the page. `PROGRAM CASE RELAY` plays one case."""
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import relay
from chromium import Browser, Failure
from relay import wait

Relay, WITHOUT_LIMITS = relay.Relay, relay.WITHOUT_LIMITS
RELAY = sys.argv[2]
ECHO = "bots: [{ user: echo, name: Echo, behaviour: echo, reply_delay_s: [0.05, 0.1] }]"
ONLINE = "document.querySelector('.health')?.dataset.state === 'online'"
# All files of the page are kept: it opens without the relay from now on. (The page itself may still do without its worker.)
IS_KEPT = "navigator.serviceWorker.ready.then(worker => worker.active.state === 'activated')"
# What the page's databases have: a promise of names, stores and their values.
DATABASES = """(async () => {
  const result = request => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
  const kept = [];
  for (const { name } of await indexedDB.databases()) {
    const database = await result(indexedDB.open(name));
    for (const store of database.objectStoreNames) kept.push(name, store, await result(database.transaction(store).objectStore(store).getAll()));
    database.close();
  }
  return kept;
})()"""
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


@functools.cache
def axe():
    """The script of axe-core, from PyPI; nothing, and a complaint, if it could not be installed."""
    tool = pathlib.Path(__file__).resolve().parents[3] / "config" / "tool"
    run = subprocess.run([tool, "axe-core-python", "0.1.0"], stdout=subprocess.PIPE, text=True)
    if run.returncode == 2:
        return print("axe-core COULD NOT BE INSTALLED from PyPI; ACCESSIBILITY WAS NOT CHECKED", file=sys.stderr)
    check(run.returncode == 0, f"{tool}: {run.returncode}")
    return next(pathlib.Path(run.stdout.strip()).rglob("axe.min.js")).read_text()


def check_accessible(page, screen):
    """axe-core finds nothing on the page as it is, and nothing is wider than the window."""
    check(page.evaluate("""document.documentElement.scrollWidth <= innerWidth
        && [...document.querySelectorAll('dialog')].every(dialog => dialog.scrollWidth <= dialog.clientWidth)"""), f"{screen}: wider than the window")
    script = axe()
    if script is None:
        return
    if page.evaluate("window.axe === undefined"):
        page.evaluate(f"{script}; 0")
    rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate(f"""axe.run(document, {{ runOnly: {rules} }}).then(result => result.violations.map(
        violation => violation.id + ': ' + violation.nodes.map(node => node.html.slice(0, 200) + ' ' + node.failureSummary).join('; ')))""")
    check(not found, f"{screen}: {found}")


def looks(page, *more):
    """The page wide and on phones, in every colour scheme and contrast: yields what each look is, and sets it before."""
    for width, height, features in (
            (1280, 800, {"prefers_color_scheme": "light"}), (390, 844, {"prefers_color_scheme": "dark"}),
            (320, 568, {"prefers_color_scheme": "light", "prefers_contrast": "more"}), *more):
        page.size(width, height)
        page.media(prefers_reduced_motion="reduce", **features)
        page.wait(f"innerWidth === {width}")
        yield f"{width}, {features}"
    page.size(1280, 800)
    page.media()
    page.wait("innerWidth === 1280")


def check_reachable(page, screen):
    """Tab comes to everything, and the focus is seen."""
    stops = page.evaluate("""[...([...document.querySelectorAll('dialog[open]')].at(-1) ?? document).querySelectorAll('button, input, a')]
        .filter(one => one.checkVisibility()).length""")
    focused = set()
    for _ in range(stops + 5):  # the body and what scrolls are stops too
        page.press("Tab")
        seen = page.evaluate("""(() => { const element = document.activeElement; if (element === document.body) return 0;
            window.stopIds ??= new Map();
            const { outlineStyle, outlineWidth } = getComputedStyle(element);
            return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 ? stopIds.get(element) ?? stopIds.set(element, stopIds.size + 1).get(element) : { unseen: element.outerHTML }; })()""")
        check(not isinstance(seen, dict), f"{screen}: the focus is not seen: {seen}")
        focused.add(seen)
    check(len(focused - {0}) >= stops, f"{screen}: Tab comes to {len(focused - {0})} of {stops}")


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
