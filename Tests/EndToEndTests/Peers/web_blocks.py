"""web_blocks.py CASE RELAY: plays a case of the web page with blocked users, requests and reports, and prints "good"."""
import json

from web_accounts import elsewhere
from web_rooms import of_conversation, opened, pick, send, team, wait_for_notice
from web_support import RELAY, WITHOUT_LIMITS, Relay, check, check_accessible, play, quiet, until, wait_for_text, write

# Of a relay that believes names, too.
REQUESTS = "rooms: { requests: true }"


def row_menu(page):
    """The menu of the message that has the focus."""
    page.press("Enter")
    page.wait("document.querySelector('.menu') && document.activeElement.getAttribute('role') === 'menuitem'")
    return page.evaluate("[...document.querySelectorAll('.menu button')].map(one => one.textContent)")


def blocked(browser, folder):
    """A blocked person's messages are one quiet line in the direct conversation, wherever one looks; and come back."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    direct = "dm:ada:bo"
    relay.send("bo", direct, "before")
    relay.send("ada", direct, "an answer")
    page = opened(browser, relay, "ada", direct)
    wait_for_text(page, "an answer")
    check("Block bo…" in of_conversation(page), "no way to block")
    pick(page, "Block bo…")
    page.wait("document.querySelector('dialog.question')?.innerText.includes('bo is not told')")
    page.press("Enter")
    page.wait("document.querySelector('.head .subtitle').textContent === '@bo · blocked'")
    relay.send("bo", direct, "one")
    wait_for_notice(page, "A message of a blocked person is hidden")
    relay.send("bo", direct, "two", "three")
    wait_for_notice(page, "3 messages of a blocked person are hidden")
    until(lambda: page.evaluate("document.querySelectorAll('.row').length") == 3, "one line for all of them")
    page.evaluate("document.querySelector('textarea').focus()")
    write(page, "in between")
    until(lambda: "in between" in relay.texts(direct, "bo"), "it is stored")
    relay.send("bo", direct, *[f"many {number}" for number in range(150)])
    wait_for_notice(page, "150 messages of a blocked person are hidden")
    page.evaluate("document.querySelector('relay-timeline').enter()")
    page.press("Enter")
    check(page.evaluate("document.querySelector('.menu') === null"), "a menu")
    # After a reload, from the store and from pages of the relay.
    for again in browser.page(), elsewhere(browser):
        again.go(f"{relay.url}/?user=ada&room={direct}")
        wait_for_text(again, "in between", ".own")
        wait_for_notice(again, "150 messages of a blocked person are hidden")
        wait_for_text(again, "an answer", ".own")
        wait_for_text(again, "before")
        quiet(again)
        again.close()
    check("Unblock bo" in of_conversation(page), "no way back")
    pick(page, "Unblock bo")
    page.wait("document.querySelector('.head .subtitle').textContent !== '@bo · blocked'")
    relay.send("bo", direct, "here again")
    wait_for_text(page, "here again")
    wait_for_notice(page, "150 messages of a blocked person are hidden")
    check(relay.texts(direct, "bo")[2:6] == ["one", "two", "three", "in between"], "what the blocked one sees")
    quiet(page)
    relay.stop()


def closed(browser, folder):
    """In a room, messages of a blocked person are closed until one opens them, and nothing tells what they say."""
    relay = Relay(RELAY, folder, "")
    room = team(relay)
    send(relay, "cy", room, "text", text="something rude")
    page = opened(browser, relay, "ada", room)
    wait_for_text(page, "something rude")
    page.evaluate("document.querySelector('relay-timeline').enter()")
    found = row_menu(page)
    check("Report…" in found and "Block cy…" in found, found)
    pick(page, "Block cy…")
    page.wait("document.querySelector('dialog.question')")
    page.press("Enter")
    wait_for_notice(page, "You have blocked cy: show this message")
    send(relay, "cy", room, "text", text="something worse")
    page.wait("[...document.querySelectorAll('.row.change .text')].filter(one => one.textContent.startsWith('You have blocked cy')).length === 2")
    check("something" not in page.evaluate("document.body.innerText"), "it is shown")
    page.evaluate("document.querySelector('relay-timeline').enter()")
    page.press("Enter")
    wait_for_text(page, "something rude")
    check("something worse" not in page.evaluate("document.body.innerText"), "both were opened")
    page.evaluate("[...document.querySelectorAll('.row.change button')].at(-1).click()")
    wait_for_text(page, "something worse")
    page.evaluate("document.querySelector('relay-timeline').enter()")
    check("Unblock cy" in row_menu(page), "no way back")
    quiet(page)
    relay.stop()


def requests(browser, folder):
    """A stranger's conversation is a request, which one accepts, ignores or ends by blocking; it counts and notifies nowhere."""
    relay = Relay(RELAY, folder, REQUESTS)
    for user in "bo", "cy", "dee":
        relay.send(user, f"dm:ada:{user}", f"hello from {user}")
    relay.send("ada", "dm:ada:eve", "who is there?")
    relay.send("eve", "dm:ada:eve", "known")
    relay.send("ada", "general", "something")
    page = opened(browser, relay, "ada", "general")
    page.wait("document.querySelectorAll('.requests li').length === 3")
    check(page.evaluate("document.querySelector('.requests').textContent.includes('hello from bo')"), "what is said")
    check("hello from bo" not in page.evaluate("document.querySelector('relay-list > .conversations').textContent"), "in the list")
    page.wait("document.title.startsWith('(1)')")
    check_accessible(page, "a request")

    def act(label):
        page.evaluate(f"document.querySelector('.requests [aria-label={json.dumps(label)}]').click()")

    act("Accept bo")
    page.wait("document.querySelectorAll('.requests li').length === 2")
    page.wait("document.querySelector('relay-list > .conversations').textContent.includes('hello from bo')")
    act("Ignore cy")
    page.wait("document.querySelectorAll('.requests li').length === 1")
    act("Block dee")
    page.wait("document.querySelector('dialog.question')")
    page.press("Enter")
    page.wait("document.querySelector('.requests').hidden")
    def known():
        blocks, rooms = relay.request("ada", [{"type": "blocks"}, {"type": "rooms"}])
        return blocks["users"], sorted(row["room"] for row in rooms["rooms"] if row.get("request"))

    check(known() == (["dee"], ["dm:ada:cy", "dm:ada:dee"]), known())
    # Another one while the page is open, which another device accepts; one that is open there, too.
    relay.send("fay", "dm:ada:fay", "hello from fay")
    page.wait("document.querySelectorAll('.requests li').length === 1")
    relay.send("fay", "dm:ada:fay", "hello again from fay")
    page.wait("document.querySelector('.requests').textContent.includes('hello again from fay')")
    check(page.evaluate("document.title").startswith("(2)"), "a request counts, or bo does not")
    relay.request("ada", [{"type": "accept", "room": "dm:ada:fay"}])
    page.wait("document.querySelector('.requests').hidden")
    page.wait("document.querySelector('relay-list > .conversations').textContent.includes('hello again from fay')")
    relay.send("gil", "dm:ada:gil", "hello from gil")
    page.wait("document.querySelectorAll('.requests li').length === 1")
    page.evaluate("document.querySelector('.requests .conversation').click()")
    wait_for_text(page, "hello from gil")
    relay.request("ada", [{"type": "accept", "room": "dm:ada:gil"}])
    page.wait("document.querySelector('.requests').hidden")
    page.wait("document.querySelector('relay-list > .conversations').textContent.includes('hello from gil')")
    # An ignored one stays ignored, and is found by name.
    again = opened(browser, relay, "ada", "general")
    again.wait("document.querySelector('relay-list > .conversations').textContent.includes('hello from bo')")
    check(again.evaluate("(document.querySelector('.requests')?.hidden ?? true) && !document.querySelector('relay-list').textContent.includes('hello from cy')"), "it is shown")
    again.evaluate("document.querySelector('relay-list input').focus()")
    again.type("cy")
    again.press("Enter")
    wait_for_text(again, "hello from cy")
    check("Accept the request" in of_conversation(again), "no way to accept")
    pick(again, "Accept the request")
    again.wait("document.querySelector('relay-list > .conversations').textContent.includes('hello from cy')")
    for one in page, again:
        quiet(one)
    relay.stop()


def reports(browser, folder):
    """A member reports a message with a reason; moderators find it in the settings of the room, and go to it."""
    relay = Relay(RELAY, folder, "")
    room = team(relay)
    send(relay, "cy", room, "text", text="buy my things")
    page = opened(browser, relay, "bo", room)
    wait_for_text(page, "buy my things")
    page.evaluate("document.querySelector('relay-timeline').enter()")
    row_menu(page)
    pick(page, "Report…")
    page.wait("document.activeElement?.id === 'report-reason'")
    page.press("Enter")
    page.wait("document.querySelector('dialog .problem').textContent === 'Write what is wrong with the message.'")
    write(page, "an advertisement")
    page.wait("document.querySelector('.toast')?.textContent.includes('It was reported to the moderators of this room.')")
    # Another one, of which only the report is left.
    seq, = relay.send("cy", room, "buy them now")
    relay.request("ada", [{"type": "report", "room": room, "seq": seq, "reason": "again"}])
    send(relay, "cy", room, "delete", target=seq)
    found, = relay.request("bo", [{"type": "reports", "room": room}])
    check([(one["seq"], one["by"], one["reason"], one.get("copy", {}).get("text")) for one in found["reports"]]
          == [(5, "ada", "again", None), (4, "bo", "an advertisement", "buy my things")], found)
    of_conversation(page)
    pick(page, "Settings…")
    page.wait("document.activeElement?.id === 'room-title'")
    page.evaluate("[...document.querySelectorAll('dialog button')].find(one => one.textContent === 'Reports…').click()")
    page.wait("document.querySelectorAll('[aria-label=Reports] li').length === 2")
    text = page.evaluate("document.querySelector('[aria-label=Reports]').innerText")
    check("cy: buy my things" in text and "an advertisement" in text and "The message is not kept any more" in text, text)
    check_accessible(page, "reports")
    page.evaluate("[...document.querySelectorAll('[aria-label=Reports] button')].at(-1).click()")
    page.wait("document.querySelector('dialog') === null && document.activeElement.matches('.row') && document.activeElement.textContent.includes('buy my things')")
    quiet(page)
    relay.stop()


if __name__ == "__main__":
    play(globals())
