"""web_browsers.py CASE RELAY BROWSER: plays a case of the web page in Firefox or WebKit, and prints "good".
Exits with 2 if the browser is not installed."""
import sys
import tempfile

import web
import web_conversations
import webdriver
from web_support import ECHO, ONLINE, RELAY, Failure, Relay, check, quiet, until, wait_for_text, write


def composing(browser, folder):
    """Enter sends, but not the one that ends a composition; a paste keeps its lines."""
    relay = Relay(RELAY, folder, ECHO)
    page = browser.page(f"{relay.url}/?user=ada&room=general")
    page.wait(f"{ONLINE} && document.activeElement?.tagName === 'TEXTAREA'")
    page.type("half")
    for keys in "{ key: 'Enter', isComposing: true }", "{ key: 'Enter', keyCode: 229 }":
        page.evaluate(f"document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {{ bubbles: true, cancelable: true, ...{keys} }}))")
    check(page.evaluate("document.querySelectorAll('.row').length") == 0, "a composition was sent")
    write(page, " done")
    wait_for_text(page, "half done", ".own")
    page.evaluate("document.execCommand('insertText', false, 'one\\ntwo\\n\\nthree')")
    check(page.evaluate("document.querySelectorAll('.row').length") == 1, "a paste was sent")
    check(page.evaluate("document.querySelector('textarea').clientHeight") > 60, "the composer does not grow")
    page.press("Enter")
    until(lambda: "one\ntwo\n\nthree" in relay.texts("general"), "the lines")
    page.type("a")
    page.press("Enter", shift=True)
    page.type("b")
    page.press("Enter")
    until(lambda: "a\nb" in relay.texts("general"), "Shift+Enter")
    quiet(page)
    relay.stop()


CASES = {"composing": composing, "drift": web_conversations.drift, **{name: getattr(web, name) for name in (
    "first_chat", "restart", "offline", "two_tabs", "attacks")}}

if __name__ == "__main__":
    case, browser = sys.argv[1], sys.argv[3]
    if package := webdriver.missing(browser):
        print(f"{browser.upper()} IS NOT INSTALLED ({package}): {case} WAS NOT PLAYED", file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, webdriver.BROWSERS[browser]() as driver:
        try:
            CASES[case](driver, folder)
        except Failure as failure:
            sys.exit(f"{case} in {browser} {driver.version}: {failure}")
        print(f"{browser} {driver.version}", file=sys.stderr)
    print("good")
