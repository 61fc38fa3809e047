#!/usr/bin/python3
"""Takes the pictures of the web page that the documents show: a relay with people, and the page in
headless Chromium. web_pictures.py BUILT FOLDER [talk | members]"""
import json
import pathlib
import secrets
import sys
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "EndToEndTests/Peers"))
from chromium import Browser  # noqa: E402
from pictures import relay_with_people  # noqa: E402

ONLINE = "document.querySelector('.health')?.dataset.state === 'online'"
SIZES = [(1280, 800), (390, 844)]
BUILT, FOLDER = sys.argv[1:3]


class Room:
    def __init__(self, url, name):
        self.url, self.name = url, name

    def send(self, sender, text=None, **fields):
        fields = {"id": secrets.token_hex(12), **({"text": text} if text else {}), **fields}
        request = urllib.request.Request(
            f"{self.url}/v1/rooms/{self.name}/messages?user={sender}", json.dumps(fields).encode(),
            {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)["seq"]


def talk(url):
    launch = Room(url, "launch")
    launch.send("mina", "Good morning! The last dry run is at eleven.")
    checklist = launch.send("jules", "I went through the checklist once more: https://example.org/launch/checklist\nTwo points are open.")
    launch.send("hanako", "一つは私が今確認しています。")
    launch.send("tomas", "The other one is mine:\n```\nrelay verify --data /var/lib/relay\n412 rooms, 1,904,233 entries, all in order\n```\nDone.")
    launch.send("ada", "Thank you. Then nothing is open.", reply_to=checklist)
    for user, emoji in ("mina", "🎉"), ("jules", "🎉"), ("priya", "🎉"), ("hanako", "👍"), ("ada", "👍"):
        launch.send(user, kind="react", target=checklist, emoji=emoji, on=True)
    launch.send("priya", "@ada, will you write the announcement?")
    launch.send("ada", "It is written already; I send it when the first hundred have updated.")
    Room(url, "general").send("olek", "Lunch at half past twelve?")
    Room(url, "dm:ada:mina").send("mina", "Do you have five minutes before the dry run?")
    Room(url, "dm:ada:hanako").send("hanako", "ありがとう!")
    Room(url, "dm:ada:jules").send("ada", "See you at eleven.")


def take(page, name):
    page.evaluate("document.fonts.ready.then(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))")
    page.screenshot(f"{FOLDER}/web-{name}.png")


def take_talk(url, browser):
    """A conversation, in two sizes, dark and light."""
    talk(url)
    others = [browser.page(f"{url}/?user={user}&room=launch") for user in ("mina", "jules")]
    for page in others:
        page.wait("document.querySelectorAll('.row').length === 7")
    for theme in "dark", "light":
        for width, height in SIZES:
            page = browser.page(width=width, height=height)
            page.media(prefers_color_scheme=theme)
            page.go(f"{url}/?user=ada&room=launch")
            page.wait(f"{ONLINE} && document.querySelectorAll('.row').length === 7"
                      " && document.querySelectorAll('.conversation').length > 8")
            page.wait("document.querySelector('relay-timeline').toNewest() || document.querySelector('relay-timeline').isAtEnd")
            take(page, f"{width}x{height}-{theme}")
            page.close()


def take_members(url, browser):
    """The members of a private room, and its settings, as its owner sees them."""
    choir = Room(url, "harbour-choir")
    choir.send("ada", kind="settings", title="Harbour choir", topic="Rehearsals on Thursday at seven", access="private", slow_s=10)
    for user, role in ("mina", "moderator"), ("hanako", "member"), ("jules", "member"), ("olek", "member"):
        choir.send("ada", kind="member", user=user, role=role)
    choir.send("mina", kind="member", user="olek", role="muted", reason="noise")
    others = [browser.page(f"{url}/?user={user}&room=harbour-choir") for user in ("mina", "jules")]
    for page in others:
        page.wait(ONLINE)
    page = browser.page(width=560, height=620)
    page.go(f"{url}/?user=ada&room=harbour-choir")
    page.wait(f"{ONLINE} && document.querySelector('.members')?.textContent === '5 members'")
    page.evaluate("document.querySelector('.members').click()")
    page.wait("document.querySelectorAll('.room-members li').length === 5")
    page.wait("[...document.querySelectorAll('.room-members small')].filter(one => one.textContent.includes('online')).length === 2")
    take(page, "members")
    page.press("Escape")
    page.evaluate("document.querySelector('.head [aria-label=\"About this conversation\"]').click()")
    page.evaluate("[...document.querySelectorAll('.menu button')].find(one => one.textContent === 'Settings…').click()")
    page.wait("document.activeElement?.id === 'room-title'")
    page.size(560, 790)
    take(page, "room-settings")


PARTS = {"talk": take_talk, "members": take_members}
for part in sys.argv[3:] or PARTS:
    with relay_with_people(BUILT) as relay, Browser() as browser:
        PARTS[part](relay.url, browser)
