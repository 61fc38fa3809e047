"""web_rooms.py CASE RELAY: plays a case of the web page with rooms that have settings and members, and prints "good"."""
import itertools
import json

from accounts_support import ACCOUNTS, first_code
from web_accounts import WRITES, choose, elsewhere, press, shown
from web_support import (ONLINE, RELAY, WITHOUT_LIMITS, Relay, check, check_accessible, looks, play, quiet, until, wait_for_text,
                         write)

ids = itertools.count(1)


def send(relay, sender, room, kind, **fields):
    """Sends an entry without the page; returns its room."""
    answer, = relay.request(sender, [{"type": "send", "room": room, "id": f"{sender}-{next(ids)}", "kind": kind, **fields}])
    check(answer["type"] == "ack", answer)
    return answer["room"]


def team(relay, **settings):
    """A private room of ada, with bo as moderator and cy as member."""
    room = send(relay, "ada", "", "settings", **{"title": "Team", "access": "private", **settings})
    send(relay, "ada", room, "member", user="bo", role="moderator")
    send(relay, "ada", room, "member", user="cy", role="member")
    return room


def opened(browser, relay, user, room, **size):
    page = browser.page(f"{relay.url}/?user={user}&room={room}", **size)
    page.wait(f"{ONLINE} && {WRITES}")
    return page


def notices(page):
    return page.evaluate("[...document.querySelectorAll('.row.change .text')].map(text => text.textContent)")


def wait_for_notice(page, text):
    page.wait(f"[...document.querySelectorAll('.row.change .text')].some(one => one.textContent === {json.dumps(text)})")


def title_is(page, title):
    page.wait(f"document.querySelector('relay-conversation h1')?.textContent === {json.dumps(title)}")


def members(page):
    return page.evaluate("""[...document.querySelectorAll('.room-members li')].map(
        one => `${one.querySelector('b').textContent} ${one.querySelector('.role')?.textContent ?? ''}`.trim())""")


def open_menu(page, selector, menu=".menu"):
    page.wait(f"document.querySelector({json.dumps(selector)})")
    page.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
    page.press("Enter")
    page.wait(f"document.querySelector('{menu}') && document.activeElement.getAttribute('role')?.startsWith('menuitem')")
    return page.evaluate(f"[...document.querySelectorAll('{menu} button')].map(one => one.textContent)")


def pick(page, label):
    """An entry of the menu that is open, by the keyboard."""
    labels = page.evaluate("[...document.querySelectorAll('.menu button')].map(one => one.textContent)")
    check(label in labels, f"no {label}: {labels}")
    for _ in range(labels.index(label)):
        page.press("ArrowDown")
    check(page.evaluate("document.activeElement.textContent") == label, f"the focus is not on {label}")
    page.press("Enter")


def actions(page, user):
    return open_menu(page, f".room-members button[data-user='{user}']")


def command(page, text):
    page.wait(f"{WRITES}")
    page.evaluate("document.querySelector('relay-composer textarea').focus()")
    write(page, text)


def commanded(browser, folder):
    """What the dialogs do, by commands; those that one's role does not allow are not offered."""
    relay = Relay(RELAY, folder, "")
    room = team(relay)
    ada, cy = opened(browser, relay, "ada", room), opened(browser, relay, "cy", room)
    command(ada, "/topic Lunch at noon")
    wait_for_notice(cy, "Ada set the topic “Lunch at noon”")
    command(ada, "/title The team")
    title_is(cy, "The team")
    command(ada, "/members")
    ada.wait("document.querySelectorAll('.room-members li').length === 3")
    ada.press("Escape")
    ada.wait("document.querySelector('dialog') === null")
    command(ada, "/invite @dee")
    wait_for_notice(cy, "Ada made dee a member")
    command(ada, "/mute cy 2h too loud")
    cy.wait("[...document.querySelectorAll('.row.change .text')].some(one => /^You were muted by ada until .*: too loud$/.test(one.textContent))")
    command(ada, "/unmute cy")
    cy.wait("[...document.querySelectorAll('.row.change .text')].filter(one => one.textContent === 'Ada made you a member').length === 2")
    command(ada, "/op dee")
    wait_for_notice(cy, "Ada made dee a moderator")
    note = "document.querySelector('relay-composer .note:not([hidden])')?.textContent"
    command(ada, "/op dee")
    ada.wait(f"{note} === 'dee is a moderator.'")
    ada.evaluate("document.querySelector('relay-composer textarea').select()")
    # What the relay refuses is said.
    command(cy, "/kick bo")
    cy.wait(f"/^[/]kick was refused: Only owners and moderators of .* may do this.$/.test({note})")
    offers = "[...document.querySelectorAll('.offers b')].map(one => one.textContent)"
    for page, offered in (cy, []), (ada, ["/kick USER [REASON]"]):
        page.evaluate("document.querySelector('relay-composer textarea').select()")
        page.type("/k")
        if offered:
            page.wait(f"{offers}.length > 0")
        check(page.evaluate(offers) == offered, page.evaluate(offers))
    ada.evaluate("document.querySelector('relay-composer textarea').select()")
    command(ada, "/ban cy 10 spam")
    cy.wait("/banned|removed/.test(document.querySelector('.notice:not([hidden])')?.textContent)")
    command(ada, "/create Tea")
    title_is(ada, "Tea")
    quiet(ada)
    relay.stop()


def of_conversation(page):
    return open_menu(page, ".head .icon-button[aria-label='About this conversation']")


def told(browser, folder):
    """Notices are quiet lines, without a bubble, unread or notification; the head has title and topic."""
    relay = Relay(RELAY, folder, "")
    room = team(relay, topic="Lunch at noon")
    send(relay, "ada", room, "text", text="hello")
    page = opened(browser, relay, "bo", room)
    title_is(page, "Team")
    page.wait("document.querySelector('.topic').textContent === 'Lunch at noon' && document.querySelector('.members').textContent === '3 members'")
    wait_for_text(page, "hello")
    first = ["Ada created the private room “Team” and set the topic “Lunch at noon”", "Ada made you a moderator", "Ada made cy a member"]
    until(lambda: notices(page) == first, "the notices")
    # Elsewhere, nothing is unread, and the list tells of none.
    relay.send("ada", "general", "elsewhere")
    page.go(f"{relay.url}/?user=bo&room=general")
    page.wait(f"{ONLINE} && {WRITES}")
    page.wait("[...document.querySelectorAll('.conversation .title')].some(one => one.textContent === 'Team')")
    send(relay, "ada", room, "settings", title="Kitchen", post="moderators", slow_s=30)
    send(relay, "ada", room, "member", user="cy", role="muted", reason="noise")
    page.wait("[...document.querySelectorAll('.conversation .title')].some(one => one.textContent === 'Kitchen')")
    row = "[...document.querySelectorAll('.conversation')].find(one => one.innerText.includes('Kitchen'))"
    check(page.evaluate(f"{row}.querySelector('.unread') === null && {row}.querySelector('.last').textContent === 'ada: hello'"), "a notice is unread")
    check(not page.evaluate("document.title").startswith("("), page.evaluate("document.title"))
    page.evaluate(f"{row}.click()")
    title_is(page, "Kitchen")
    wait_for_notice(page, "Ada named the room “Kitchen”, let only moderators write and set a pause of 30 s between messages")
    wait_for_notice(page, "Cy was muted by ada: noise")
    check(page.evaluate("document.querySelector('.unread-line') === null && document.querySelector('.row.change .bubble, .row.change .mark') === null"), "a bubble")
    # While it is open, too; and no menu is for a notice.
    send(relay, "ada", room, "settings", topic="", access="open")
    wait_for_notice(page, "Ada made the room open and removed the topic")
    page.wait("document.querySelector('.topic').hidden")
    page.evaluate("document.querySelector('relay-timeline').enter()")
    page.wait("document.activeElement.matches('.row.change') && document.activeElement.getAttribute('aria-label').startsWith('Ada made the room open')")
    page.press("Enter")
    page.press("r")
    check(page.evaluate("document.querySelector('.menu') === null && document.querySelector('.banner').hidden"), "a menu")
    quiet(page)
    relay.stop()


def removed(browser, folder):
    """A member who was removed sees why, keeps what was read, and cannot write; after another invitation it goes on."""
    relay = Relay(RELAY, folder, "")
    room = team(relay)
    send(relay, "ada", room, "text", text="for members only")
    page = opened(browser, relay, "cy", room)
    wait_for_text(page, "for members only")
    page.type("a draft")
    send(relay, "bo", room, "member", user="cy", role="none", reason="spam")
    page.wait("document.querySelector('relay-conversation > .notice').textContent === 'You were removed by bo: spam'")
    wait_for_notice(page, "You were removed by bo: spam")
    wait_for_text(page, "for members only")
    page.wait("document.querySelector('[aria-live=polite]').textContent === 'You were removed by bo: spam'")
    field = "document.querySelector('relay-composer textarea')"
    check(page.evaluate(f"{field}.readOnly && {field}.placeholder === 'You were removed by bo: spam' && {field}.value === 'a draft'"), "it takes texts")
    page.press("Enter")
    page.type("more")
    check(page.evaluate(f"{field}.value") == "a draft", "it was sent, or written")
    page.wait("[...document.querySelectorAll('.conversation .title')].every(one => one.textContent !== 'Team')")
    page.evaluate("document.querySelector('relay-timeline').enter()")
    page.press("ArrowUp")
    page.press("Enter")
    page.wait("document.querySelector('.menu')")
    labels = page.evaluate("[...document.querySelectorAll('.menu button')].map(one => one.textContent)")
    check("Reply" not in labels and "Copy text" in labels, labels)
    page.press("Escape")
    # What was read is there after a reload.
    page.go(f"{relay.url}/?user=cy&room={room}")
    wait_for_text(page, "for members only")
    page.wait("document.querySelector('relay-conversation > .notice').textContent.startsWith('This conversation cannot be opened')")
    send(relay, "ada", room, "member", user="cy", role="member")
    row = "[...document.querySelectorAll('.conversation')].find(one => one.querySelector('.title').textContent === 'Team')"
    page.wait(row)
    page.evaluate(f"{row}.click()")
    page.wait(f"!{field}.readOnly && document.querySelector('relay-conversation > .notice').hidden && {WRITES}")
    wait_for_notice(page, "Ada made you a member")
    page.press("Enter")
    wait_for_text(page, "a draft", ".own")
    page.wait("document.querySelector('.row.own .mark.stored, .row.own .mark.received')")
    quiet(page)
    relay.stop()


def making(browser, folder):
    """A new room by the keyboard, with an invitation that reaches its user; names of people are taken, too."""
    people = f"{folder}/people.yaml"
    with open(people, "w") as file:
        file.write("- { user: bo, name: Bo Diddley }\n- { user: cy, name: Cy }\n")
    relay = Relay(RELAY, folder, f"directory: {{ kind: local, file: {people} }}")
    guest = browser.page(f"{relay.url}/?user=bo")
    guest.wait(ONLINE)
    page = browser.page(f"{relay.url}/?user=ada")
    page.wait(f"{ONLINE} && [...document.querySelectorAll('.conversation .title')].some(one => one.textContent === 'Bo Diddley')")
    choose(page, "New room…")
    page.wait("document.activeElement?.id === 'new-room-title'")
    page.press("Enter")
    page.wait("document.querySelector('dialog .problem').textContent === 'Write a title.'")
    page.type("Team")
    page.press("Tab")
    page.type("Lunch")
    page.press("Tab")
    check(page.evaluate("document.activeElement.value") == "private", "the default")
    page.press("Tab")
    page.type("not a name!")
    page.press("Enter")
    page.wait("document.querySelector('dialog .problem').textContent === '“not a name!” is no user\\u2019s name.'.replace('\\u2019', \"'\")")
    page.evaluate("document.activeElement.select()")
    page.type("bo diddley, @cy")
    page.press("Enter")
    title_is(page, "Team")
    page.wait(f"document.querySelector('dialog') === null && {WRITES}")
    page.wait("document.querySelector('.members').textContent === '3 members' && document.querySelector('.topic').textContent === 'Lunch'")
    write(page, "welcome")
    page.wait("document.querySelector('.row.own .mark.stored, .row.own .mark.received')")
    row = "[...document.querySelectorAll('.conversation')].find(one => one.querySelector('.title').textContent === 'Team')"
    guest.wait(row)
    guest.evaluate(f"{row}.click()")
    wait_for_text(guest, "welcome")
    wait_for_notice(guest, "Ada made you a member")
    address = page.evaluate("location.search")
    check("room=r-" in address, address)
    quiet(page)
    quiet(guest)
    relay.stop()


def team_pages(browser, relay):
    """The room of `team`, as its owner, its moderator and its member have it open."""
    room = team(relay)
    pages = [opened(browser, relay, user, room) for user in ("ada", "bo", "cy")]
    for page in pages:
        title_is(page, "Team")
        page.wait("document.querySelector('.members').textContent === '3 members'")
    return pages


def managing(browser, folder):
    """The list of members: what one's own role allows is offered, and nothing else; each page shows what has become of it."""
    relay = Relay(RELAY, folder, "")
    owner, moderator, member = team_pages(browser, relay)
    for page in owner, moderator, member:
        page.evaluate("document.querySelector('.members').focus()")
        page.press("Enter")
        page.wait("document.querySelectorAll('.room-members li').length === 3")
        check(members(page) == ["ada Owner", "bo Moderator", "cy"], members(page))
        page.wait("document.querySelector('.room-members').innerText.includes('@bo · ')")
    check(member.evaluate("!document.querySelector('#invited').checkVisibility()"), "a member may not invite")
    found = actions(member, "bo")
    check(found == ["Write to bo"], found)
    member.press("Escape")
    member.wait("document.querySelector('dialog .menu') === null && document.querySelector('dialog')")
    found = actions(moderator, "ada")
    check(found == ["Write to ada"], found)
    moderator.press("Escape")
    found = actions(moderator, "cy")
    check(found == ["Write to cy", "Mute…", "Remove…", "Ban…"], found)
    pick(moderator, "Mute…")
    moderator.wait("document.activeElement?.id === 'reason' && document.querySelector('#how-long').selectedOptions[0].textContent === 'An hour'")
    moderator.press("Enter")
    moderator.wait("[...document.querySelectorAll('.row.change .text')].at(-1).textContent.startsWith('Cy was muted by you until ')")
    for page in owner, moderator, member:
        until(lambda page=page: members(page) == ["ada Owner", "bo Moderator", "cy Muted"], "cy is muted")
    member.press("Escape")
    member.wait("document.querySelector('textarea').placeholder === 'You are muted in Team'")
    found = actions(moderator, "cy")
    check(found == ["Write to cy", "Unmute", "Remove…", "Ban…"], found)
    pick(moderator, "Unmute")
    until(lambda: members(owner) == ["ada Owner", "bo Moderator", "cy"], "cy is not muted")
    member.wait("document.querySelector('textarea').placeholder === 'Message Team'")
    found = actions(owner, "bo")
    check(found == ["Write to bo", "Make an owner", "Make a member", "Remove…", "Ban…"], found)
    pick(owner, "Make a member")
    until(lambda: members(moderator) == ["ada Owner", "bo", "cy"], "bo is a member")
    check(moderator.evaluate("!document.querySelector('#invited').checkVisibility()"), "a member may not invite")
    # An invitation, one that is refused, and a removal with a reason.
    owner.evaluate("document.querySelector('#invited').focus()")
    owner.type("dee")
    owner.press("Enter")
    until(lambda: members(owner) == ["ada Owner", "bo", "cy", "dee"], "dee is a member")
    check(owner.evaluate("document.activeElement.id === 'invited' && document.activeElement.value === ''"), "another one")
    owner.type("no one!")
    owner.press("Enter")
    owner.wait("document.querySelector('dialog .problem').textContent !== ''")
    actions(owner, "cy")
    pick(owner, "Remove…")
    owner.wait("document.activeElement?.id === 'reason'")
    write(owner, "moved")
    until(lambda: members(owner) == ["ada Owner", "bo", "dee"], "cy is removed")
    member.wait("document.querySelector('relay-conversation > .notice').textContent === 'You were removed by ada: moved'")
    for page in owner, moderator:
        wait_for_notice(page, "Cy was removed by ada: moved" if page is moderator else "Cy was removed by you: moved")
        quiet(page)
    quiet(member)
    relay.stop()


def large(browser, folder):
    """A room of more than 50 members lists those that messages name; others are invited and banned by their names, for a time."""
    relay = Relay(RELAY, folder, WITHOUT_LIMITS)
    room = team(relay)
    for number in range(60):
        send(relay, "ada", room, "member", user=f"u{number:02}", role="member")
    page = opened(browser, relay, "bo", room)
    title_is(page, "Team")
    check(page.evaluate("document.querySelector('.members').hidden"), "the number is not known")
    of_conversation(page)
    pick(page, "Members…")
    page.wait("document.querySelectorAll('.room-members li').length > 50")
    shown(page, "A room of more than 50 members does not list them.")
    check(members(page)[0] == "bo Moderator" and "u59" in members(page), members(page))
    page.wait("document.activeElement?.id === 'invited'")
    page.type("dee")
    page.press("Enter")
    until(lambda: "dee" in members(page), "dee is a member")
    page.type("u07")
    press(page, "Ban…")
    page.wait("document.activeElement?.id === 'reason' && document.querySelector('#how-long').selectedOptions[0].textContent === 'For good'")
    page.evaluate("document.querySelector('#how-long').value = '86400000'")
    write(page, "spam")
    until(lambda: "u07" not in members(page), "u07 is banned")
    page.wait("/^U07 was banned by you until .*: spam$/.test([...document.querySelectorAll('.row.change .text')].at(-1).textContent)")
    quiet(page)
    relay.stop()


def operators(browser, folder):
    """An operator with an account does in a room what its owners do, without a role of their own; and invites by a link."""
    relay = Relay(RELAY, folder, f"{ACCOUNTS}\nrooms: {{ listed: [{{ room: general, title: General }}] }}")
    page = elsewhere(browser, f"{relay.url}/join/{first_code(relay)}")
    page.wait("document.activeElement?.id === 'join-name'")
    page.type("ada")
    page.press("Enter")
    page.wait(ONLINE)
    page.go(f"{relay.url}/?room=general")
    page.wait(f"{ONLINE} && {WRITES}")
    until(lambda: "Settings…" in of_conversation(page) or page.press("Escape"), "the page knows that ada is an operator")
    pick(page, "Settings…")
    page.wait("document.activeElement?.id === 'room-title' && document.querySelector('#room-access')")
    page.press("Tab")
    page.type("Be kind")
    page.press("Enter")
    page.wait("document.querySelector('dialog') === null && document.querySelector('.topic').textContent === 'Be kind'")
    of_conversation(page)
    pick(page, "Members…")
    page.wait("document.activeElement?.id === 'invited'")
    page.type("bo")
    page.press("Enter")
    until(lambda: "bo" in members(page), "bo is a member")
    found = actions(page, "bo")
    check(found == ["Write to bo", "Make an owner", "Make a moderator", "Mute…", "Remove…", "Ban…"], found)
    page.press("Escape")
    press(page, "Invite by a link…")
    page.wait("document.querySelector('.address') && document.activeElement.textContent === 'Copy'")
    other = elsewhere(browser, page.evaluate("document.querySelector('.address').value"))
    shown(other, "Join #general on 127.0.0.1")
    quiet(page)
    relay.stop()


def settings(browser, folder):
    """Owners change settings, moderators some of them, and members none."""
    relay = Relay(RELAY, folder, "")
    owner, moderator, member = team_pages(browser, relay)
    check("Settings…" not in of_conversation(member), "a member may change settings")
    member.press("Escape")
    of_conversation(moderator)
    pick(moderator, "Settings…")
    moderator.wait("document.activeElement?.id === 'room-title' && document.activeElement.value === 'Team'")
    check(moderator.evaluate("document.querySelector('#room-access, #room-history') === null"), "who may enter")
    moderator.evaluate("document.activeElement.select()")
    moderator.type("Kitchen")
    moderator.press("Tab")
    moderator.type("What to cook")
    moderator.press("Enter")
    moderator.wait("document.querySelector('dialog') === null")
    for page in owner, moderator, member:
        title_is(page, "Kitchen")
        page.wait("document.querySelector('.topic').textContent === 'What to cook'")
    owner.wait("document.title === 'Kitchen · relay'")
    of_conversation(owner)
    pick(owner, "Settings…")
    owner.wait("document.activeElement?.id === 'room-title'")
    chosen = owner.evaluate("['access', 'history', 'post', 'slow'].map(name => document.querySelector(`#room-${name}`).value)")
    check(chosen == ["private", "all", "everyone", "0"], chosen)
    owner.evaluate("document.querySelector('#room-post').value = 'moderators'")
    press(owner, "Save")
    owner.wait("document.querySelector('dialog') === null")
    wait_for_notice(member, "Ada let only moderators write")
    member.wait("document.querySelector('textarea').placeholder === 'Only moderators write in Kitchen'")
    check(owner.evaluate("document.querySelector('textarea').placeholder") == "Message Kitchen", "an owner writes")
    for page in owner, moderator, member:
        quiet(page)
    relay.stop()


def leaving(browser, folder):
    """A member leaves; the last owner is asked who follows; and the only member is told to invite one first."""
    relay = Relay(RELAY, folder, "")
    room = team(relay)
    owner, member = opened(browser, relay, "ada", room), opened(browser, relay, "cy", room)
    for page in owner, member:
        title_is(page, "Team")
        page.wait("document.querySelector('.members').textContent === '3 members'")
    of_conversation(member)
    pick(member, "Leave this room…")
    member.wait("document.querySelector('dialog.question') && document.activeElement.textContent === 'Leave'")
    member.press("Enter")
    member.wait("document.querySelector('relay-conversation').hidden && [...document.querySelectorAll('.conversation .title')].every(one => one.textContent !== 'Team')")
    wait_for_notice(owner, "Cy left")
    of_conversation(owner)
    pick(owner, "Leave this room…")
    owner.wait("document.activeElement?.placeholder === 'Who owns the room when you have left?'")
    check(owner.evaluate("[...document.querySelectorAll('.choice')].map(one => one.innerText.replace(/\\s+/g, ' '))") == ["bo @bo"], "who follows")
    owner.press("Enter")
    owner.wait("document.querySelector('dialog.question')")
    owner.press("Enter")
    owner.wait("document.querySelector('relay-conversation').hidden")
    page = opened(browser, relay, "bo", room)
    wait_for_notice(page, "Ada made you an owner")
    wait_for_notice(page, "Ada left")
    page.wait("document.querySelector('.members').textContent === '1 member'")
    of_conversation(page)
    pick(page, "Leave this room…")
    shown(page, "You are the only member of Team")
    for one in owner, member, page:
        quiet(one)
    relay.stop()


def deleting(browser, folder):
    """Moderators delete what those below them wrote, and all see which of them it was."""
    relay = Relay(RELAY, folder, "")
    room = team(relay)
    send(relay, "ada", room, "text", text="of an owner")
    send(relay, "cy", room, "text", text="of a member")
    page, other = opened(browser, relay, "bo", room), opened(browser, relay, "cy", room)
    for one in page, other:
        wait_for_text(one, "of a member")
        one.wait("document.querySelector('.members').textContent === '3 members'")
        one.evaluate("document.querySelector('relay-timeline').enter()")
    other.press("ArrowUp")
    other.press("Enter")
    other.wait("document.querySelector('.menu')")
    check("Delete…" not in other.evaluate("document.querySelector('.menu').innerText"), "a member may delete")
    page.press("ArrowUp")
    page.press("Enter")
    page.wait("document.querySelector('.menu')")
    check("Delete…" not in page.evaluate("document.querySelector('.menu').innerText"), "of an owner")
    page.press("Escape")
    page.press("ArrowDown")
    page.press("Delete")
    page.wait("document.querySelector('dialog.question')")
    page.press("Enter")
    wait_for_text(other, "Deleted by bo")
    wait_for_text(page, "Deleted by bo")
    page.go(f"{relay.url}/?user=bo&room={room}")
    wait_for_text(page, "Deleted by bo")
    quiet(page)
    relay.stop()


def accessible(browser, folder):
    """axe-core finds nothing on any screen, dark or light, wide or on a phone, and nothing is wider than that."""
    relay = Relay(RELAY, folder, "")
    room = team(relay, title="W" * 60, topic="w" * 900)
    send(relay, "ada", room, "member", user="x" * 64, role="muted", reason="y" * 400)
    page = browser.page()

    def clean(screen):
        for look in looks(page):
            check_accessible(page, f"{screen}, {look}")

    page.go(f"{relay.url}/?user=ada&room={room}")
    page.wait(f"{ONLINE} && {WRITES} && document.querySelector('.members').textContent === '4 members' && document.querySelectorAll('.row.change').length === 4")
    clean("a conversation")
    choose(page, "New room…")
    page.wait("document.activeElement?.id === 'new-room-title'")
    page.press("Enter")
    page.wait("document.querySelector('dialog .problem').textContent !== ''")
    clean("a new room")
    page.press("Escape")
    of_conversation(page)
    pick(page, "Members…")
    page.wait("document.querySelectorAll('.room-members li').length === 4")
    clean("the members")
    actions(page, "bo")
    clean("what one may do")
    pick(page, "Ban…")
    page.wait("document.activeElement?.id === 'reason'")
    clean("a reason")
    page.press("Escape")
    page.press("Escape")
    page.wait("document.querySelector('dialog') === null")
    of_conversation(page)
    pick(page, "Settings…")
    page.wait("document.activeElement?.id === 'room-title'")
    clean("the settings")
    page.press("Escape")
    page.go(f"{relay.url}/?user=cy&room={room}")
    page.wait(f"{ONLINE} && document.querySelector('.members').textContent === '4 members'")
    send(relay, "ada", room, "member", user="cy", role="banned", reason="spam")
    page.wait("document.querySelector('relay-conversation > .notice').textContent === 'You were banned by ada: spam'")
    clean("a member who was banned")
    relay.stop()


if __name__ == "__main__":
    play(globals())
