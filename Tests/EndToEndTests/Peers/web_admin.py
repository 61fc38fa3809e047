"""web_admin.py CASE RELAY: plays a case of the page for operators, and prints "good"."""
import json
import urllib.request

from accounts_support import ACCOUNTS, Person, first
from web_support import RELAY, WITHOUT_LIMITS, Relay, check, check_accessible, check_reachable, looks, play, quiet, until

TOKEN = "t" * 32
ADMIN = f"admin: {{ token: {TOKEN} }}"
SECTIONS = ["Now", "Rooms", "Connections", "Users and sessions", "Reports", "Audit", "Invitations"]
MAIN = "document.querySelector('main')?.innerText ?? ''"


def shown(page, text):
    page.wait(f"({MAIN}).includes({json.dumps(text)})")


def entered(browser, relay, section="now"):
    """The page with the token, by the keyboard."""
    page = browser.page(f"{relay.url}/admin#{section}")
    page.wait("document.activeElement?.id === 'admin-token'")
    page.type(TOKEN)
    page.press("Enter")
    page.wait("document.querySelector('.administration main .section')")
    return page


def go(page, section):
    """To another section, by its link."""
    page.evaluate(f"[...document.querySelectorAll('nav a')].find(link => link.textContent === {json.dumps(section)}).focus()")
    page.press("Enter")
    page.wait(f"document.activeElement?.textContent === {json.dumps(section)} && document.activeElement.tagName === 'H2'")
    page.wait("document.querySelector('main table, main .plot, main p:not(.problem), main .problem:not(:empty)')")


def press(page, label):
    """A button, by its name for those who do not see it."""
    found = f"""[...document.querySelectorAll('dialog[open] button, main button')].find(
        one => one.checkVisibility() && (one.getAttribute('aria-label') ?? one.textContent) === {json.dumps(label)})"""
    page.wait(found)
    page.evaluate(f"{found}.focus()")
    page.press("Enter")


def confirm(page, label):
    page.wait("document.querySelector('dialog.question[open]')")
    press(page, label)
    page.wait("!document.querySelector('dialog[open]')")


def asked(relay, *messages):
    """What the relay answers to an administrator."""
    request = urllib.request.Request(
        f"{relay.url}/v1/requests", json.dumps(messages).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def acts(relay):
    [audit] = asked(relay, {"type": "history", "room": "sys:audit", "limit": 500})
    return [tuple(value for key, value in entry["data"].items() if key != "session") for entry in audit["entries"]]


def refused(browser, folder):
    """Without an operator's credentials there is a field for a token, and nothing else; the token is kept nowhere."""
    relay = Relay(RELAY, folder, f"{ADMIN}\nmetrics: {{ token: only-for-the-metrics }}")
    page = browser.page(f"{relay.url}/admin")
    for wrong in "x", "only-for-the-metrics":
        page.wait("document.activeElement?.id === 'admin-token'")
        page.type(wrong)
        page.press("Enter")
        page.wait("document.querySelector('#admin-problem').textContent.includes('admin.token')")
        page.wait("document.activeElement?.value === ''")
    check(page.evaluate("document.querySelectorAll('nav, table, svg').length") == 0, "what is shown")
    page.type(TOKEN)
    page.press("Enter")
    page.wait("document.querySelector('.administration')")
    kept = page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])")
    check(TOKEN not in kept, kept)
    page.go(f"{relay.url}/admin")
    page.wait("document.activeElement?.id === 'admin-token'")
    relay.stop()


def now(browser, folder):
    """The plots of the last hour, which go on by themselves."""
    relay = Relay(RELAY, folder, f"{ADMIN}\n{WITHOUT_LIMITS}")
    page = entered(browser, relay)
    relay.send("bo", "general", *[f"text {number}" for number in range(20)])
    page.wait("document.querySelectorAll('.plot svg').length === 7")
    for title in ["Entries per second", "Connections", "Time until a message is acknowledged",
                  "Processor by thread, of one core: the busiest", "Memory", "Free on the disk of the store", "Files that users have uploaded"]:
        page.wait(f"[...document.querySelectorAll('figcaption')].some(one => one.textContent === {json.dumps(title)})")
    points = "(document.querySelector('path.line').getAttribute('d').match(/[ML]/g) ?? []).length"
    page.wait(f"{points} >= 2")
    # Threads that do nothing may stand there until others have.
    until(lambda: relay.send("bo", "general", *[f"text {number}" for number in range(100)]) and "loop-" in page.evaluate(
        "document.querySelectorAll('.plot svg')[3].getAttribute('aria-label')"), "no thread of connections")
    check(page.evaluate("document.querySelectorAll('.plot svg')[4].getAttribute('aria-label')").count("MiB") >= 1, "memory")
    quiet(page)
    # A relay that is away is said, and its plots go on when it is back.
    relay.stop()
    page.wait("document.querySelector('.problem').textContent.includes('cannot be reached')")
    relay.start()
    page.wait("document.querySelector('.problem').textContent === ''")
    relay.stop()


def rooms(browser, folder):
    """A room is made read-only and writable, and deleted after a question."""
    relay = Relay(RELAY, folder, ADMIN)
    relay.send("bo", "general", "one")
    page = entered(browser, relay, "rooms")
    press(page, "Read-only: general")
    confirm(page, "Make read-only")
    until(lambda: ("sys", "settings", "general") in acts(relay), "it is not read-only")
    try:
        relay.send("bo", "general", "no")
    except AssertionError as refusal:
        check("Only moderators may post in general" in str(refusal), refusal)
    else:
        check(False, "bo wrote to it")
    page.wait("document.activeElement?.getAttribute('aria-label') === 'Read-only: general'")
    page.evaluate("document.querySelector('.named input').focus()")
    page.type("general")
    press(page, "Writable")
    until(lambda: acts(relay).count(("sys", "settings", "general")) == 2, "it is not writable")
    relay.send("bo", "general", "yes")
    press(page, "Delete…")
    page.wait("document.querySelector('dialog.question[open]')")
    page.press("Escape")
    page.wait("!document.querySelector('dialog[open]')")
    check(("sys", "delete_room", "general") not in acts(relay), "it was deleted without a yes")
    press(page, "Delete…")
    confirm(page, "Delete the room")
    until(lambda: ("sys", "delete_room", "general") in acts(relay), "it is not deleted")
    page.evaluate("document.querySelector('.named input').value = 'Not a room'")
    press(page, "Writable")
    page.wait("document.querySelector('.problem').textContent.includes('is not the name of a room')")
    page.evaluate("document.querySelector('.named input').value = 'nowhere'")
    press(page, "Delete…")
    confirm(page, "Delete the room")
    page.wait("document.querySelector('.problem').textContent.includes('There is no room nowhere')")
    quiet(page)
    relay.stop()


def connections(browser, folder):
    """A connection is ended, after a question."""
    relay = Relay(RELAY, folder, f"{ADMIN}\nbots: [{{ user: echo, behaviour: echo }}]")
    other = browser.page(f"{relay.url}/?user=bo&room=general")
    other.wait("document.querySelector('.health')?.dataset.state === 'online'")
    page = entered(browser, relay, "connections")

    def counted(text):  # a bot connects when it wants to
        until(lambda: press(page, "Refresh") or page.evaluate(f"({MAIN}).includes({json.dumps(text)})"), text)

    counted("2 connections to this relay.")
    check(page.evaluate("document.querySelectorAll('td button').length") == 1, "a bot cannot be ended")
    page.evaluate("document.querySelector('td button').focus()")
    page.evaluate("window.old = document.querySelector('td button')")
    page.evaluate("[...document.querySelectorAll('main button')].find(one => one.textContent === 'Refresh').click()")
    page.wait("!window.old.isConnected")
    check(page.evaluate("document.activeElement.getAttribute('aria-label')") == "End…: bo", "the focus is lost with the old list")
    press(page, "End…: bo")
    confirm(page, "End")
    until(lambda: ("sys", "end_connection", "bo") in acts(relay), "it has not ended")
    page.wait("document.activeElement?.textContent === 'Refresh'")
    counted("1 connection to this relay.")
    other.wait("document.querySelector('.health')?.dataset.state !== 'online'")
    quiet(page)
    relay.stop()


def people(browser, folder):
    """By the cookie of an operator: accounts, devices and invitations."""
    relay = Relay(RELAY, folder, f"{ACCOUNTS}\n{ADMIN}")
    ada = first(relay)
    bo = ada.open(ada.invite(), "bo")[0]
    cookie = Person(relay).post(f"/v1/invites/{ada.invite(user='ada')}", {"user": "ada"}).cookies[0].split(";")[0].split("=")
    page = browser.page()
    page.call("Network.setCookie", url=relay.url, name=cookie[0], value=cookie[1], httpOnly=True, sameSite="Lax", path="/")
    page.go(f"{relay.url}/admin#users")
    shown(page, "bo")
    press(page, "End…: bo, unnamed device")
    confirm(page, "Sign out")
    until(lambda: bo.get("/v1/me").status == 401, "bo is signed in")
    press(page, "Disable…: bo")
    confirm(page, "Disable")
    shown(page, "disabled")
    press(page, "Enable: bo")
    page.wait(f"!({MAIN}).includes('disabled')")
    press(page, "Make operator…: bo")
    confirm(page, "Make operator")
    press(page, "No operator: bo")
    page.wait("[...document.querySelectorAll('td')].filter(cell => cell.textContent === 'operator').length === 1")
    press(page, "No operator: ada")
    page.wait("document.querySelector('.problem').textContent.includes('last operator')")
    check(acts(relay) == [("ada", "end_session", "bo"), ("ada", "disable", "bo"), ("ada", "enable", "bo"),
                          ("ada", "operator", "bo"), ("ada", "no_operator", "bo")], acts(relay))
    go(page, "Audit")
    shown(page, "no_operator")
    go(page, "Invitations")
    press(page, "Make a link for one person")
    page.wait("document.querySelector('input[aria-label=\"The new link\"]')?.value.includes('/join/')")
    link = page.evaluate("document.querySelector('input[aria-label=\"The new link\"]').value")
    check(Person(relay).get(f"/v1/invites/{link.split('/')[-1]}").status == 200, link)
    press(page, next(label for label in page.evaluate("[...document.querySelectorAll('td button')].map(one => one.ariaLabel)") if label.startswith("Withdraw")))
    confirm(page, "Withdraw")
    until(lambda: Person(relay).get(f"/v1/invites/{link.split('/')[-1]}").status == 404, "it is not withdrawn")
    quiet(page)
    # Who is no operator is asked for a token.
    cy = Person(relay).post(f"/v1/invites/{ada.invite()}", {"user": "cy"}).cookies[0].split(";")[0].split("=")
    page.call("Network.setCookie", url=relay.url, name=cy[0], value=cy[1], httpOnly=True, sameSite="Lax", path="/")
    page.go(f"{relay.url}/admin")
    page.wait("document.querySelector('#admin-problem')?.textContent.includes('Only operators')")
    relay.stop()


def reports(browser, folder):
    """What was reported is deleted, after a question; the audit has it."""
    relay = Relay(RELAY, folder, ADMIN)
    number, = relay.send("bo", "general", "cheap <b>watches</b>")
    relay.request("ada", [{"type": "report", "room": "general", "seq": number, "reason": "spam"}])
    page = entered(browser, relay, "reports")
    shown(page, "cheap <b>watches</b>")
    press(page, f"Delete…: general {number}")
    confirm(page, "Delete")
    shown(page, "was deleted")
    [history] = asked(relay, {"type": "history", "room": "general", "fold": True})
    check(history["entries"] == [] or history["entries"][0].get("deleted_by"), history)
    go(page, "Audit")
    shown(page, "delete")
    quiet(page)
    relay.stop()


def screens(browser, folder):
    """Every section: no findings of axe-core, dark or light; nothing wider than a phone; Tab comes to everything, and is seen."""
    relay = Relay(RELAY, folder, f"{ACCOUNTS}\n{ADMIN}\nbots: [{{ user: echo, behaviour: echo }}]")
    ada = first(relay)
    Person(relay, token=TOKEN).invite(rooms=["general"])
    for number in range(3):
        check(ada.post("/v1/rooms/general/messages", {"id": f"{number}", "text": "words"}).status == 201, "a message")
    bo = ada.open(ada.invite(), "bo")[0]
    bo.post("/v1/requests", [{"type": "report", "room": "general", "seq": 1, "reason": "spam"}])
    asked(relay, {"type": "ban", "user": "mallory", "on": True})

    def clean(screen):
        for look in looks(page):
            check_accessible(page, f"{screen}, {look}")
        check_reachable(page, screen)

    page = browser.page(f"{relay.url}/admin")
    page.wait("document.activeElement?.id === 'admin-token'")
    clean("the field for a token")
    page = entered(browser, relay, "audit")
    for section in SECTIONS:
        go(page, section)
        if section == "Now":
            page.wait("document.querySelectorAll('.plot svg').length === 7")
        else:
            page.wait("document.querySelector('main table')")
        clean(section)
    press(page, next(label for label in page.evaluate("[...document.querySelectorAll('td button')].map(one => one.ariaLabel)") if label.startswith("Withdraw")))
    page.wait("document.querySelector('dialog.question[open]')")
    clean("a question")
    relay.stop()


if __name__ == "__main__":
    play(globals())
