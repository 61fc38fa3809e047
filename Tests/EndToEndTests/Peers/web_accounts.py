"""web_accounts.py CASE RELAY: plays a case of the web page where people sign in with accounts, and prints "good"."""
import json
import re
import signal
import sys
import time

from accounts_relay import AccountsRelay
from web_support import (DATABASES, IS_KEPT, ONLINE, RELAY, Relay, check, check_accessible, check_reachable, looks, play, quiet,
                         until, wait_for_text, write)

GENERAL = "rooms: { listed: [{ room: general, title: General }] }"
# All files of the page are kept, and serve it.
OPENS_ALONE = f"{IS_KEPT}.then(isKept => isKept && navigator.serviceWorker.controller !== null)"
WRITES = "document.activeElement?.tagName === 'TEXTAREA'"


def elsewhere(browser, address="about:blank", **size):
    """A page of another browser: with cookies and a storage of its own."""
    return browser.page(address, context=browser.call("Target.createBrowserContext")["browserContextId"], **size)


def take_cookie(page, relay, cookie):
    name, value = cookie
    page.call("Network.setCookie", url=relay.url, name=name, value=value, httpOnly=True, sameSite="Lax", path="/")


def signed_in(browser, relay, user, path="/", device="another browser", **more):
    page = elsewhere(browser)
    take_cookie(page, relay, relay.sign_in(user, device, **more))
    page.go(f"{relay.url}{path}")
    page.wait(ONLINE)
    return page


def choose(page, label):
    """An entry of the menu, by the keyboard, once the account may do it: that is known some time after a connection."""
    index = f"[...document.querySelectorAll('.menu button')].findIndex(one => one.textContent === {json.dumps(label)})"

    def has():
        page.wait("document.querySelector('dialog, .menu') === null")
        page.evaluate("document.querySelector('.menu-button').focus()")
        page.press("Enter")
        page.wait("document.activeElement?.getAttribute('role') === 'menuitem'")
        found = page.evaluate(index) >= 0
        if not found:
            page.press("Escape")
        return found

    until(has, f"no {label}")
    for _ in range(page.evaluate(index)):
        page.press("ArrowDown")
    check(page.evaluate("document.activeElement.textContent") == label, f"no {label}")
    page.press("Enter")
    page.wait("document.querySelector('dialog:not(.loading)')")


def press(page, label):
    """The button or link with a text."""
    found = f"""[...document.querySelectorAll('dialog[open]:last-of-type button, main button, main a')].find(
        one => one.checkVisibility() && (one.getAttribute('aria-label') ?? one.textContent) === {json.dumps(label)})"""
    page.wait(found)
    page.evaluate(f"{found}.focus()")
    page.press("Enter")


def shown(page, text):
    page.wait(f"document.body?.innerText.includes({json.dumps(text)})")


def readable(page):
    """All that a script can read of what the page keeps."""
    return page.evaluate(f"""(async databases => {{
      const kept = [{{ ...localStorage }}, {{ ...sessionStorage }}, document.cookie, history.state, name, location.href, document.documentElement.outerHTML];
      kept.push(...await databases);
      for (const name of await caches.keys()) for (const {{ url }} of await (await caches.open(name)).keys()) kept.push(url);
      return JSON.stringify(kept);
    }})({DATABASES})""")


def joining(browser, folder):
    """From the first link to a conversation with one field and one button; the code and the token are nowhere afterwards."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    page = browser.page(relay.first_link)
    page.wait("document.activeElement?.id === 'join-name'")
    page.press("Enter")
    page.wait("document.querySelector('#join-problem').textContent === 'Write your name.'")
    page.type("Ada Lovelace")
    page.wait("document.querySelector('.aside b').textContent === '@ada-lovelace'")
    page.press("Enter")
    page.wait(ONLINE)
    check(page.evaluate("location.href") == f"{relay.url}/", page.evaluate("location.href"))
    check(page.evaluate("fetch('/v1/me').then(answer => answer.json()).then(({ user, name }) => `${user} ${name}`)") == "ada-lovelace Ada Lovelace", "who")
    page.go(f"{relay.url}/?room=general")
    page.wait(f"{ONLINE} && {WRITES}")
    write(page, "hello")
    page.wait("document.querySelector('.row.own .mark.stored, .row.own .mark.received')")
    page.wait(OPENS_ALONE)
    cookie, = page.call("Network.getCookies")["cookies"]
    check(cookie["httpOnly"] and cookie["sameSite"] == "Lax" and cookie["path"] == "/", cookie)
    code = relay.first_link.rsplit("/", 1)[1]
    kept = readable(page)
    check(cookie["value"] not in kept and code not in kept, "a credential can be read")
    check("/v1/" not in " ".join(page.evaluate("caches.keys().then(async names => (await Promise.all(names.map(async name => (await (await caches.open(name)).keys()).map(({ url }) => url)))).flat())")), "an answer is cached")
    # No address leaves the relay's origin, and none is told to anyone.
    sent = [event["params"]["request"] for event in list(page.events.queue) if event["method"] == "Network.requestWillBeSent"]
    check(len(sent) > 8 and all(one["url"].startswith((relay.url, relay.url.replace("http", "ws"), "data:", "blob:")) for one in sent), [one["url"] for one in sent])
    told = [one["url"] for one in sent if code in one["headers"].get("Referer", "")]
    check(not told, f"the code is told to {told}")
    quiet(page)
    # The link works once; who is signed in learns that too.
    page.go(relay.first_link)
    shown(page, "This invitation is not valid")
    press(page, "Continue as Ada Lovelace")
    page.wait(f"{ONLINE} && location.href === '{relay.url}/'")
    other = elsewhere(browser, relay.first_link)
    shown(other, "This invitation is not valid")
    check(other.evaluate("document.querySelector('.ways') !== null && location.pathname === '/'"), "the ways to sign in")
    relay.close()


def inviting(browser, folder):
    """An operator makes a link; its page names the operator, and leads to its room; the operator sees which account has used it."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    page = signed_in(browser, relay, "ada", operator=True)
    choose(page, "Invite people…")
    page.wait("document.activeElement?.id === 'invite-name'")
    page.type("Bo Diddley")
    page.press("Tab")
    page.type("general, #Team Lunch!")
    page.press("Enter")
    page.wait("document.querySelector('#invite-problem').textContent.includes('“lunch!” is not the name of a room')")
    page.evaluate("document.activeElement.select()")
    page.type("#secret")
    page.press("Enter")
    page.wait("document.querySelector('#invite-problem').textContent === 'You do not own #secret.'")
    page.evaluate("document.querySelector('#invite-rooms').select()")
    page.type("general, #Team general")
    page.press("Enter")
    page.wait("document.querySelector('.address') && document.activeElement.textContent === 'Copy'")
    link = page.evaluate("document.querySelector('.address').value")
    browser.call("Browser.grantPermissions", origin=relay.url, permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    page.press("Enter")
    page.wait("document.querySelector('.copied button').textContent === 'Copied' || document.activeElement.matches('.address')")
    # The picture is what the relay has made, with its quiet zone, dark on light, as a camera would see it.
    for theme in "light", "dark":
        page.media(prefers_color_scheme=theme)
        rows = page.evaluate("""(async () => { const qr = document.querySelector('dialog .qr'), size = qr.viewBox.baseVal.width;
            const url = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(qr)], { type: 'image/svg+xml' }));
            const image = new Image(); image.src = url; await image.decode();
            const canvas = document.createElement('canvas'); canvas.width = canvas.height = size * 4;
            const context = canvas.getContext('2d', { willReadFrequently: true }); context.drawImage(image, 0, 0, size * 4, size * 4);
            const at = (x, y) => context.getImageData(x * 4 + 2, y * 4 + 2, 1, 1).data[0] < 128 ? '1' : '0';
            return Array.from({ length: size }, (_, y) => Array.from({ length: size }, (_, x) => at(x, y)).join('')); })()""")
        inner = [row[4:-4] for row in rows[4:-4]]
        edge = "".join(rows[:4] + rows[-4:] + [row[:4] + row[-4:] for row in rows])
        check(set(edge) == {"0"} and inner == made(relay, link), "another picture")
        check(page.evaluate("document.querySelector('dialog .qr').getAttribute('aria-label')") == f"QR code of {link}", "a text")
    page.wait("document.querySelector('.devices b')?.textContent === 'Not used yet'")
    other = elsewhere(browser, link)
    other.wait("document.querySelector('h1')?.textContent === 'Ada invites you'")
    shown(other, "Join #general and #team on 127.0.0.1")
    check(other.evaluate("document.querySelector('#join-name').value") == "Bo Diddley", "the name of the invitation")
    other.press("Enter")
    other.wait(f"{ONLINE} && location.search === '?room=general' && {WRITES}")
    press(page, "Close")
    choose(page, "Invite people…")
    page.wait("document.querySelector('.devices b')?.textContent === 'Used by bo-diddley (@bo-diddley)'")
    check(page.evaluate("document.querySelector('.devices button') === null"), "a used one cannot be withdrawn")
    # Another one is withdrawn.
    press(page, "Make a link")
    page.wait("document.querySelectorAll('.devices li').length === 2")
    link = page.evaluate("document.querySelector('.address').value")
    page.evaluate("[...document.querySelectorAll('.devices button')].find(one => one.textContent === 'Withdraw').click()")
    page.wait("document.querySelectorAll('.devices li').length === 1")
    third = elsewhere(browser, link)
    shown(third, "This invitation is not valid")
    # Who may not invite is not asked to.
    other.evaluate("document.querySelector('.menu-button').click()")
    other.wait("document.querySelector('.menu')")
    check("Invite people…" not in other.evaluate("document.querySelector('.menu').innerText"), "may invite")
    quiet(page)
    quiet(other)
    relay.close()


def made(relay, link):
    from accounts_relay import picture
    return picture(link)


def names(browser, folder):
    """A name that is taken, or has no Latin letters, leads to a second field; the display name can be changed."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    relay.sign_in("ada")
    page = browser.page(relay.first_link)
    page.wait("document.activeElement?.id === 'join-name'")
    page.type("日本")
    check(page.evaluate("document.querySelector('.aside').checkVisibility()") is False, "there is no user name yet")
    page.press("Enter")
    page.wait("document.activeElement?.id === 'join-user'")
    shown(page, "Choose a user name")
    page.type("@Ada")
    page.press("Enter")
    page.wait("document.querySelector('#join-problem').textContent === '@ada is taken. Choose another user name.'")
    page.wait("document.activeElement?.id === 'join-user'")
    page.evaluate("document.activeElement.value = ''")
    page.type("nihon")
    page.press("Enter")
    page.wait(ONLINE)
    check(page.evaluate("fetch('/v1/me').then(answer => answer.json()).then(({ user, name }) => `${user} ${name}`)") == "nihon 日本", "who")
    choose(page, "Change your name…")
    page.wait("document.activeElement?.id === 'your-name' && document.activeElement.value === '日本'")
    page.type("  ")
    page.press("Enter")
    page.wait("document.querySelector('#your-name-problem').textContent === 'Write a name.'")
    page.type("Nihon no Ada")
    page.press("Enter")
    page.wait("document.querySelector('dialog') === null && document.querySelector('.account b').textContent === 'Nihon no Ada'")
    check(page.evaluate("fetch('/v1/me').then(answer => answer.json()).then(({ name }) => name)") == "Nihon no Ada", "the relay knows")
    quiet(page)
    relay.close()


def devices(browser, folder):
    """Devices are listed, this one marked; one that is ended is out at once and keeps nothing that was read; then all others."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    relay.send("bo", "general", "for ada only")
    page = signed_in(browser, relay, "ada", device="Firefox on \u202eLinux")
    lost = signed_in(browser, relay, "ada", "/?room=general", device="A lost phone")
    tab = lost.browser.page(f"{relay.url}/?room=general", context=lost.browser.call("Target.getTargetInfo", targetId=lost.target)["targetInfo"]["browserContextId"])
    for one in lost, tab:
        wait_for_text(one, "for ada only")
    lost.wait("localStorage.getItem('relay.list:account/ada')?.includes('for ada only')")
    for number in range(2):
        relay.sign_in("ada", f"wschat {number}")
    relay.sign_in("bo", "a device of bo")
    choose(page, "Devices…")
    page.wait("document.querySelectorAll('.devices li').length === 4")
    found = page.evaluate("[...document.querySelectorAll('.devices b')].map(name => name.textContent)")
    check(found[0] == "Firefox on Linux" and sorted(found[1:]) == ["A lost phone", "wschat 0", "wschat 1"], found)
    check(page.evaluate("document.querySelector('.devices li').innerText.includes('This device') && document.querySelector('.devices li:first-child button') === null"), "this one")
    press(page, "End A lost phone")
    page.wait("document.querySelector('dialog.question')")
    page.press("Escape")
    page.wait("document.querySelector('dialog.question') === null")
    check(page.evaluate("document.querySelectorAll('.devices li').length") == 4, "ended without a yes")
    press(page, "End A lost phone")
    page.wait("document.querySelector('dialog.question')")
    page.press("Enter")
    began = time.monotonic()
    for one in lost, tab:
        shown(one, "This device was signed out.")
        one.wait("document.querySelector('.ways')")
    print(f"signed out after {time.monotonic() - began:.2f} s", file=sys.stderr)
    check("for ada only" not in readable(lost), "what was read is kept")
    check(lost.evaluate("indexedDB.databases().then(({ length }) => length)") == 0, "a database")
    check(lost.evaluate("localStorage.getItem('relay.account')") is None, "who was here")
    page.wait("document.querySelectorAll('.devices li').length === 3")
    press(page, "End all others")
    page.wait("document.querySelector('dialog.question')")
    page.press("Enter")
    page.wait("document.querySelectorAll('.devices li').length === 1")
    check(page.evaluate("[...document.querySelectorAll('dialog button')].every(button => !button.checkVisibility() || button.getAttribute('aria-label') === 'Close')"), "nothing to end")
    check(page.evaluate("fetch('/v1/me').then(({ status }) => status)") == 200, "this one stays")
    # A reload of an ended one does not come back, with or without a relay.
    lost.wait(OPENS_ALONE)
    lost.go(f"{relay.url}/?room=general")
    lost.wait("document.querySelector('.ways')")
    relay.stop()
    lost.go(f"{relay.url}/?room=general")
    lost.wait("document.querySelector('main')")
    check("for ada only" not in lost.evaluate("document.body.innerText"), "shown without a session")
    relay.start()
    # An account that is disabled.
    page.wait(ONLINE)
    relay.disable("ada")
    shown(page, "You cannot use this relay now: The account is disabled.")
    page.wait("document.querySelector('.ways')")
    relay.close()


def another_device(browser, folder):
    """A new device shows a code; one that is signed in asks whether it may; a wrong code, a refusal and an end are told."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    page = signed_in(browser, relay, "ada")
    phone = elsewhere(browser, f"{relay.url}/?room=general", width=390, height=844)

    def code():
        phone.wait("document.querySelector('p.code')")
        return phone.evaluate("document.querySelector('p.code').textContent")

    def enter(text):
        choose(page, "Add a device…")
        page.wait("document.activeElement?.id === 'device-code' && document.querySelector('dialog .qr')")
        page.type(text)
        page.press("Enter")

    press(phone, "Sign in with another device")
    first = code()
    check(phone.evaluate("document.querySelector('.qr').getAttribute('aria-label')") == f"QR code of {relay.url}/sign-in/device?code={first}", "the picture")
    press(phone, "Back")
    press(phone, "Sign in with another device")
    enter("bcd fgh")
    page.wait("document.querySelector('#device-code-problem').textContent === 'A code has eight letters, as WDJB-MJHT.'")
    page.evaluate("document.activeElement.value = ''")
    page.type("zzzz zzzz")
    page.press("Enter")
    page.wait("document.querySelector('#device-code-problem').textContent.startsWith('No device shows this code now.')")
    check(page.evaluate("document.activeElement.value") == "ZZZZ-ZZZZ", "as the relay writes it")
    page.press("Escape")
    enter(code().lower().replace("-", " "))
    page.wait("document.activeElement?.textContent === 'Sign in “Chrome on Linux”?'")
    for text in "127.0.0.1", code(), "Ada (@ada)":
        shown(page, text)
    press(page, "Deny")
    shown(page, "“Chrome on Linux” was not signed in.")
    page.press("Enter")
    shown(phone, "The other device has refused.")
    press(phone, "New code")
    relay.code_life_s = 0.1
    shown(phone, "Waiting for the other device…")
    press(phone, "Back")
    press(phone, "Sign in with another device")
    shown(phone, "The code has expired.")
    relay.code_life_s = 600
    press(phone, "New code")
    enter(code())
    press(page, "Allow")
    shown(page, "“Chrome on Linux” is signed in.")
    check(page.evaluate("document.activeElement.textContent") == "Done", "the focus")
    page.press("Enter")
    phone.wait(f"{ONLINE} && location.search === '?room=general' && {WRITES}")
    cookie, = phone.call("Network.getCookies")["cookies"]
    check(cookie["httpOnly"] and cookie["value"] not in readable(phone), "the cookie, and nothing else")
    # Six wrong codes in a minute are too many.
    choose(page, "Add a device…")
    for number in range(6):
        page.wait("document.activeElement?.id === 'device-code'")
        page.evaluate(f"document.activeElement.value = 'BBBB-BBB{number}'; document.querySelector('#device-code-problem').textContent = ''")
        page.press("Enter")
        page.wait("document.querySelector('#device-code-problem').textContent !== ''")
    check(page.evaluate("document.querySelector('#device-code-problem').textContent") == "Too many attempts. Try again in 42 s.", "a pause")
    quiet(page)
    quiet(phone)
    relay.close()


def device_links(browser, folder):
    """The link of a code asks at once, and never allows by itself; who is not signed in signs in first and comes back to it."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    page = signed_in(browser, relay, "ada")
    phone = elsewhere(browser, f"{relay.url}/")
    press(phone, "Sign in with another device")
    phone.wait("document.querySelector('p.code')")
    code = phone.evaluate("document.querySelector('p.code').textContent")
    page.go(f"{relay.url}/sign-in/device?code={code}")
    page.wait("document.activeElement?.textContent === 'Sign in “Chrome on Linux”?'")
    check(page.evaluate("document.activeElement.tagName") == "H2", "Enter allows nothing")
    page.press("Enter")
    check(phone.evaluate("document.querySelector('p.code') !== null"), "allowed by itself")
    press(page, "Allow")
    press(page, "Done")
    page.wait(f"{ONLINE} && location.href === '{relay.url}/'")
    phone.wait(ONLINE)
    page.go(f"{relay.url}/sign-in/device?code=nonsense%3Cb%3E")
    shown(page, "A code has eight letters")
    press(page, "Not now")
    page.wait(f"{ONLINE} && location.href === '{relay.url}/'")
    other = elsewhere(browser, f"{relay.url}/sign-in/device?code=BCDF-GHJK")
    shown(other, "Sign in on this device first.")
    press(other, "Continue with GitHub")
    other.wait("document.querySelector('#device-code')?.value === 'BCDF-GHJK' && document.querySelector('#device-code-problem').textContent !== ''")
    quiet(page)
    relay.close()


def providers(browser, folder):
    """A provider is a link of the relay, which comes back to the same address; each failure is a sentence, once."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    relay.methods = [{"method": "github", "title": "GitHub"}, {"method": "oidc", "title": "Company <b>"}]
    page = browser.page(f"{relay.url}/?room=general")
    page.wait("document.querySelectorAll('.way').length === 3")
    found = page.evaluate("[...document.querySelectorAll('.way')].map(way => way.textContent)")
    check(found == ["Continue with GitHub", "Continue with Company <b>", "Sign in with another device"], found)
    check("Invited?" not in page.evaluate("document.body.innerText"), "no invitations here")
    sentences = {"access_denied": "was canceled there", "expired": "took too long", "provider_unavailable": "does not answer now",
                 "provider_refused": "refused the relay", "not_a_member": "not a member", "account_disabled": "is disabled",
                 "state_mismatch": "another browser or tab", "constructor": "The sign-in failed.", "<b>x": "The sign-in failed."}
    for code, sentence in sentences.items():
        relay.provider_failure = code
        press(page, "Continue with GitHub")
        page.wait(f"document.querySelector('.why')?.textContent.includes({json.dumps(sentence)})")
        check(page.evaluate("location.search") == "", page.evaluate("location.search"))
    page.go(f"{relay.url}/?room=general")
    page.wait("document.querySelector('.way') && document.querySelector('.why') === null")
    relay.provider_failure = None
    press(page, "Continue with GitHub")
    page.wait(f"{ONLINE} && location.search === '?room=general' && {WRITES}")
    quiet(page)
    # An address cannot sign this browser in: neither with a name nor with the token of a session.
    _, token = relay.sign_in("eve")
    for address in f"/?user=eve#token={token}", f"/#token={token}":
        page.go(f"{relay.url}{address}")
        page.wait(ONLINE)
        who = page.evaluate("document.querySelector('.account b').textContent + ' ' + localStorage.getItem('relay.account') + location.search")
        check(who == "octo octo", f"signed in by an address: {who}")
    fresh = elsewhere(browser, f"{relay.url}/#token={token}")
    fresh.wait("document.querySelector('.ways')")
    check(token not in readable(fresh), "the token is kept")
    relay.close()


def signing_out(browser, folder):
    """Signing out asks before something unsent is lost, needs the relay, and leaves nothing for the next account."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    relay.send("bo", "general", "read by ada")
    page = signed_in(browser, relay, "ada", "/?room=general", operator=True)
    wait_for_text(page, "read by ada")
    page.wait(OPENS_ALONE)
    relay.stop()
    page.wait("!document.querySelector('.notice').hidden")
    write(page, "not sent yet")
    page.wait("document.querySelectorAll('.row.waiting').length === 1")
    for answer in "Escape", "Enter":
        choose(page, "Sign out")
        shown(page, "Some messages are not sent yet. They are lost if you sign out now.")
        page.press(answer)
        page.wait("document.querySelector('dialog') === null")
    shown(page, "You are still signed in: The relay cannot be reached.")
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    page.wait("document.querySelectorAll('.row.waiting').length === 0 && document.querySelector('.row.own .mark.stored')")
    check(relay.texts("general") == ["read by ada", "not sent yet"], relay.texts("general"))
    page.type("a draft of ada")
    page.wait("JSON.stringify({ ...localStorage }).includes('a draft of ada')")
    link = page.evaluate("fetch('/v1/invites', { method: 'POST', body: '{}' }).then(answer => answer.json()).then(({ url }) => url)")
    choose(page, "Sign out")
    shown(page, "What is stored on this device is removed.")
    page.press("Enter")
    page.wait("document.querySelector('.ways')")
    check(page.evaluate("fetch('/v1/me').then(({ status }) => status)") == 401, "the session has ended")
    kept = readable(page)
    # A word: the page's version is random letters.
    check(not re.search(r"\bada\b", kept), f"something of ada is kept: {kept[:2000]}")
    page.go(link)
    page.wait("document.activeElement?.id === 'join-name'")
    page.type("Bo Two")
    page.press("Enter")
    page.wait(ONLINE)
    check("a draft of ada" not in readable(page), "the draft of another account")
    page.go(f"{relay.url}/?room=general")
    wait_for_text(page, "read by ada")
    check(page.evaluate("document.querySelector('textarea').value") == "", "the composer")
    quiet(page)
    relay.close()


def other_account(browser, folder):
    """Another account that signs in on the same browser neither sees nor sends what was written before; its account sends it once."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    page = signed_in(browser, relay, "ada", "/?room=general")
    ada, = page.call("Network.getCookies")["cookies"]
    write(page, "sent by ada")
    page.wait("document.querySelector('.row.own .mark.stored')")
    page.wait(IS_KEPT)
    relay.stop()
    page.wait("!document.querySelector('.notice').hidden")
    write(page, "unsent by ada")
    page.wait("document.querySelectorAll('.row.waiting').length === 1")
    page.type("a draft of ada")
    page.wait("JSON.stringify({ ...localStorage }).includes('a draft of ada')")
    take_cookie(page, relay, relay.sign_in("bo"))
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    shown(page, "Another account is signed in on this browser now.")
    press(page, "Continue as Bo")
    page.wait(ONLINE)
    page.go(f"{relay.url}/?room=general")
    page.wait(f"{ONLINE} && {WRITES}")
    wait_for_text(page, "sent by ada", ":not(.own)")
    check(page.evaluate("document.querySelectorAll('.row').length") == 1, "more than was sent")
    check(page.evaluate("document.querySelector('textarea').value") == "", "the draft")
    write(page, "sent by bo")
    page.wait("document.querySelector('.row.own .mark')")
    until(lambda: relay.texts("general") == ["sent by ada", "sent by bo"], "both")
    # The session of ada goes on, and has what ada wrote.
    take_cookie(page, relay, (ada["name"], ada["value"]))
    page.go(f"{relay.url}/?room=general")
    until(lambda: relay.texts("general") == ["sent by ada", "sent by bo", "unsent by ada"], lambda: f"{relay.texts('general')}")
    page.wait("document.querySelector('textarea').value === 'a draft of ada'")
    # A session that ended while the device was away keeps what was not sent, for its account.
    relay.stop()
    page.wait("!document.querySelector('.notice').hidden")
    page.evaluate("document.querySelector('textarea').select()")
    write(page, "unsent again")
    page.wait("document.querySelectorAll('.row.waiting').length === 1")
    take_cookie(page, relay, (ada["name"], "gone"))
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    shown(page, "This device was signed out. What you have not sent is kept on it for @ada.")
    take_cookie(page, relay, (ada["name"], ada["value"]))
    page.go(f"{relay.url}/?room=general")
    until(lambda: relay.texts("general")[-1] == "unsent again", "sent later")
    page.wait("document.querySelectorAll('.row.waiting').length === 0")
    check(relay.texts("general").count("unsent again") == 1, "once")
    relay.close()


def away(browser, folder):
    """Without a relay the page opens with what was seen last, and an invitation says that it needs a connection."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    relay.send("bo", "general", *[f"message {number}" for number in range(30)])
    page = signed_in(browser, relay, "ada", "/?room=general", operator=True)
    page.wait("document.querySelectorAll('.row').length === 30")
    page.wait(OPENS_ALONE)
    relay.stop()
    page.go(f"{relay.url}/?room=general")
    page.wait("document.querySelectorAll('.row').length === 30")
    for path in "/join/abcdef", "/sign-in/device?code=BCDF-GHJK":
        page.go(f"{relay.url}{path}")
        shown(page, "The relay cannot be reached.")
        check(page.evaluate("document.activeElement.textContent") == "Try again", "the button")
        check(page.evaluate("location.pathname + location.search") == path, "the address stays")
    page.go(f"{relay.url}/?room=general")
    page.wait(f"document.querySelectorAll('.row').length === 30 && {WRITES}")
    write(page, "written meanwhile")
    relay.start()
    page.evaluate("document.querySelector('.notice .link')?.click()")
    until(lambda: relay.texts("general")[-1] == "written meanwhile", "sent later")
    # What the account may is known once there is a connection.
    page.wait(ONLINE)
    choose(page, "Invite people…")
    # A relay that answers late is not waited for.
    relay.delay_s = 15
    began = time.monotonic()
    page.go(f"{relay.url}/?room=general")
    page.wait("document.querySelectorAll('.row').length === 31")
    check(time.monotonic() - began < 14, "it waited")
    relay.delay_s = 0
    relay.close()


def screens(browser, folder):
    """Every screen: no findings of axe-core, dark or light; nothing wider than a phone; the focus is seen, and Tab goes round."""
    relay = AccountsRelay(RELAY, folder, GENERAL)
    cut = """[...document.querySelectorAll('button, input, a, h1, h2, p, .qr, dd, small')].filter(element => {
        const box = element.getBoundingClientRect();
        return box.width > 0 && element.checkVisibility({ visibilityProperty: true }) && !element.matches('.hidden-text')
          && (box.left < -1 || box.right > innerWidth + 1); }).map(element => element.outerHTML.slice(0, 120))"""

    def clean(page, screen):
        for look in looks(page, (640, 400, {"forced_colors": "active"})):
            check_accessible(page, f"{screen}, {look}")
            found = page.evaluate(cut)
            check(not found, f"{screen}, {look}: cut: {found}")
        check_reachable(page, screen)

    page = browser.page(f"{relay.url}/?sign_in_error=not_a_member")
    page.wait("document.querySelector('.ways')")
    clean(page, "the ways to sign in")
    press(page, "Sign in with another device")
    page.wait("document.querySelector('p.code')")
    clean(page, "a new code")
    code = page.evaluate("document.querySelector('p.code').textContent")
    page.go(relay.first_link)
    page.wait("document.activeElement?.id === 'join-name'")
    page.type("Ada Lovelace")
    page.wait("document.querySelector('.aside b').textContent !== '@'")
    clean(page, "an invitation")
    page.evaluate("document.querySelector('#join-name').value = ''; document.querySelector('#join-name').focus()")
    page.type("ada")
    relay.sign_in("ada")
    page.press("Enter")
    page.wait("document.activeElement?.id === 'join-user'")
    clean(page, "a name that is taken")
    page.evaluate("document.querySelector('#join-user').select()")
    page.type("a" * 64)
    page.evaluate("document.querySelector('#join-user').focus()")
    page.press("Enter")
    page.wait(ONLINE)
    for _ in range(2):
        relay.sign_in("a" * 64, "W" * 64)
    relay.send("ada", "general", "a message")
    page.go(f"{relay.url}/?room=general")
    page.wait(f"{ONLINE} && {WRITES}")
    for label, ready in (("Invite people…", "document.querySelector('#invite-name')"),
                         ("Devices…", "document.querySelectorAll('.devices li').length === 3"),
                         ("Add a device…", "document.querySelector('dialog .qr')"),
                         ("Change your name…", "document.querySelector('#your-name')")):
        choose(page, label)
        page.wait(ready)
        page.wait("document.querySelector('relay-timeline .row')")
        clean(page, label)
        if label.startswith("Invite"):
            press(page, "Make a link")
            page.wait("document.querySelector('dialog .qr') && document.querySelector('.devices li')")
            clean(page, "a link")
        page.press("Escape")
    page.go(f"{relay.url}/sign-in/device?code={code}")
    page.wait("document.querySelector('#device-code-problem')?.textContent || document.querySelector('.facts')")
    clean(page, "a link of a code")
    phone = elsewhere(browser, f"{relay.url}/")
    press(phone, "Sign in with another device")
    phone.wait("document.querySelector('p.code')")
    page.go(f"{relay.url}/sign-in/device?code={phone.evaluate('document.querySelector(`p.code`).textContent')}")
    page.wait("document.querySelector('.facts')")
    clean(page, "a question")
    relay.close()


def left_over(browser, folder):
    """A browser that had an account on this address opens a relay without accounts as ever."""
    relay = Relay(RELAY, folder, GENERAL)
    page = browser.page(f"{relay.url}/")
    page.evaluate("localStorage.setItem('relay.account', 'ada')")
    page.go(f"{relay.url}/?user=bo&room=general")
    page.wait(f"{ONLINE} && {WRITES} && location.search === '?user=bo&room=general'")
    page.evaluate("localStorage.setItem('relay.account', 'ada')")
    page.go(f"{relay.url}/")
    page.wait("document.querySelector('#sign-in-name')?.type === 'text'")
    check(page.evaluate("localStorage.getItem('relay.account')") is None, "forgotten")
    relay.stop(signal.SIGTERM)


if __name__ == "__main__":
    play(globals())
