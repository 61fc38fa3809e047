"""evening.py CASE RELAY: plays an evening with the relay itself, behind TLS: from nothing to four devices that chat, of
which one is a terminal, and one is lost. Prints "good".

evening    on any machine, however long it takes
in_time    on an idle machine, and the devices chat soon
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from chromium import Browser, trust
from terminal import Terminal
from web_accounts import GENERAL, WRITES, choose, elsewhere, press, shown
from web_support import ONLINE, Failure, Relay, check, quiet, wait_for_text, write

# Without the time in which people read and type: a minute and a half of two minutes.
LIMIT_S = 30
PHONE = ("Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile"
         " Safari/537.36")
QR = "document.querySelector('.qr')?.getAttribute('aria-label').replace('QR code of ', '')"


def certificate(folder, host):
    """A certificate that only itself has signed, and its key."""
    names = "IP:127.0.0.1" if host is None else f"DNS:{host}"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=An evening", "-addext", f"subjectAltName={names}", "-keyout", f"{folder}/chat.key",
         "-out", f"{folder}/chat.pem"], check=True, capture_output=True)
    return f"{folder}/chat.pem", f"{folder}/chat.key"


def shell(program, folder, authority):
    """A terminal with a shell that finds wschat, which trusts the authority."""
    (folder / "config/wschat").mkdir(parents=True)
    (folder / "config/wschat/config.yaml").write_text(f"ca: {authority}\n")
    # tmux gives a shell the PATH of its client.
    (folder / "shell").write_text(
        f"PS1='$ '\nPATH='{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}'\n")
    return Terminal(folder, 80, 30, ["sh"], {
        "HOME": f"{folder}", "XDG_CONFIG_HOME": f"{folder}/config", "XDG_STATE_HOME": f"{folder}/state",
        "ENV": f"{folder}/shell", "COLORTERM": "truecolor", "LC_ALL": "C.UTF-8", "TZ": "UTC"})


def conversation(page, url):
    page.go(f"{url}/?room=general")
    page.wait(f"{ONLINE} && {WRITES}")


def evening(program, look=lambda name, screen: None, host=None, port=0):
    """Calls `look` with the name of each screen, and the page or terminal that shows it. At a `host` the relay is found
    by a name, which leads to this machine. Returns how many seconds there were between nothing and four devices."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        pem, key = certificate(folder, host)
        browser = stack.enter_context(Browser(trust(pem)))
        terminal = shell(program, folder, pem)
        stack.callback(terminal.close)

        began = time.monotonic()
        public = "" if host is None else f", public_url: 'https://{host}'"
        relay = Relay(program, folder, f"tls: {{ certificate: {pem}, key: {key} }}\n"
                      f"auth: {{ mode: accounts{public} }}\n{GENERAL}", port=port)
        link = re.search(r"https://\S+/join/\S+", (relay.folder / "relay.log").read_text())[0]
        url = link.partition("/join/")[0]
        # The first link, for the operator.
        ada = elsewhere(browser, link, width=960, height=640)
        ada.wait("document.activeElement?.id === 'join-name'")
        ada.type("Ada Lovelace")
        look("first-link", ada)
        ada.press("Enter")
        ada.wait(ONLINE)
        # An invitation.
        choose(ada, "Invite people…")
        ada.wait("document.activeElement?.id === 'invite-name'")
        ada.type("Mina Okafor")
        ada.press("Tab")
        ada.type("general")
        ada.press("Enter")
        ada.wait(f"document.querySelector('.address') && {QR}")
        look("invite", ada)
        mina = elsewhere(browser, ada.evaluate("document.querySelector('.address').value"), width=960, height=640)
        mina.wait("document.querySelector('h1')?.textContent === 'Ada Lovelace invites you'")
        mina.wait("document.activeElement?.id === 'join-name'")
        look("invitation", mina)
        mina.press("Enter")
        mina.wait(f"{ONLINE} && location.search === '?room=general' && {WRITES}")
        # A phone opens what its camera sees beside "Add a device", and shows a code.
        choose(mina, "Add a device…")
        mina.wait(f"document.activeElement?.id === 'device-code' && {QR}")
        look("add-a-device", mina)
        phone = elsewhere(browser, width=390, height=844)
        phone.call("Emulation.setUserAgentOverride", userAgent=PHONE, platform="Linux armv81")
        phone.go(mina.evaluate(QR))
        phone.wait("document.querySelector('.ways')")
        look("sign-in", phone)
        press(phone, "Sign in with another device")
        phone.wait(f"document.querySelector('p.code') && {QR}")
        look("code", phone)
        mina.type(phone.evaluate("document.querySelector('p.code').textContent"))
        mina.press("Enter")
        mina.wait("document.activeElement?.textContent === 'Sign in “Chrome on Android”?'")
        look("question", mina)
        press(mina, "Allow")
        press(mina, "Done")
        phone.wait(ONLINE)
        check(phone.evaluate("fetch('/v1/me').then(answer => answer.json()).then(({ user }) => user)") == "mina-okafor", "the phone")
        # The terminal shows a link, which a browser opens.
        terminal.wait("$")
        terminal.type(f"wschat login {url}")
        terminal.press("Enter")
        terminal.wait("Allow it there", "▀", "Waiting.")
        look("login", terminal)
        found = re.search(r"https://\S+/sign-in/device\?code=\S+", terminal.screen())
        ada.press("Escape")
        ada.go(found[0])
        ada.wait("document.querySelector('.facts')")
        look("link-of-a-code", ada)
        press(ada, "Allow")
        press(ada, "Done")
        terminal.wait("Ada Lovelace", "Ctrl+K")
        terminal.press("C-k")
        terminal.wait("Go to")
        terminal.type("general")
        terminal.press("Enter")
        terminal.wait("# General")
        # Each writes, and all four have it.
        conversation(ada, url)
        conversation(phone, url)
        write(ada, "Welcome! This is our own relay.")
        wait_for_text(mina, "Welcome! This is our own relay.")
        mina.evaluate("document.querySelector('textarea').focus()")
        write(mina, "Thank you for the link. My phone is here, too.")
        wait_for_text(phone, "Thank you for the link. My phone is here, too.")
        write(phone, "Hello from the train.")
        terminal.wait("Hello from the train.")
        terminal.type("And I am in a terminal.")
        terminal.wait("And I am in a terminal.")
        terminal.press("Enter")
        said = ["Welcome! This is our own relay.", "Thank you for the link. My phone is here, too.",
                "Hello from the train.", "And I am in a terminal."]
        for page in ada, mina, phone:
            for text in said:
                wait_for_text(page, text)
        terminal.wait(*said)
        took = time.monotonic() - began
        print(f"from nothing to four devices: {took:.1f} s", file=sys.stderr)
        for page in mina, phone:
            page.wait("document.querySelectorAll('.row.own .mark.read').length === 2")
        look("chat", phone)
        look("terminal", terminal)
        # The phone is lost: its page is signed out, and the other device stays.
        choose(mina, "Devices…")
        mina.wait("document.querySelectorAll('.devices li').length === 2")
        look("devices", mina)
        press(mina, "End Chrome on Android")
        mina.wait("document.querySelector('dialog.question')")
        mina.press("Enter")
        shown(phone, "signed out")
        mina.wait(f"{ONLINE} && document.querySelectorAll('.devices li').length === 1")
        for page in ada, mina:
            quiet(page)
        relay.stop(signal.SIGTERM)
        return took


def in_time(program):
    took = evening(program)
    check(took < LIMIT_S, f"it took {took:.0f} s")


if __name__ == "__main__":
    try:
        {"evening": evening, "in_time": in_time}[sys.argv[1]](sys.argv[2])
    except (Failure, TimeoutError) as failure:
        sys.exit(f"{sys.argv[1]}: {failure}")
    print("good")
